import Foundation
import ScriptedDisk
import VellumCore
import VellumEngine
import VellumTestSupport

/// A recorded use of a few archives: every operation on their files, every state, and when each
/// state was guaranteed.
final class RecordedDay {
    enum Name: String, CaseIterable { case main, other, safe, small }

    /// The contents of all archives: by name, then by key.
    typealias Contents = [String: [String: Item]]

    /// From which size on values get files of their own.

    /// The limit of entries of the archive `small`.
    private static let room = 5

    /// Every state in order; each write leads to the next.
    private(set) var states: [Contents] = [[:]]
    private(set) var operations: [DiskOperation] = []
    /// The meaning of the marks among the operations.
    private(set) var promises: [Promise] = []

    struct Promise {
        /// The last state that may exist.
        var newest: Int
        /// The first state that may exist: power safety was guaranteed for it.
        var oldest: Int
    }

    private let folder: FastFolder
    private let script: DiskScript
    private let clock = ManualClock()
    private var file: DatabaseFile?
    private var stores: [Name: Store<Item>] = [:]
    private var values: Contents = [:]
    private var number = 0

    init() throws {
        folder = try FastFolder()
        script = DiskScript(folder: folder.url, recording: true)
        promise(oldest: 0, newest: 0)
        try run()
        operations = script.operations
        script.remove()
    }

    static func open(_ name: Name, in file: DatabaseFile) throws -> Store<Item> {
        try file.store(
            named: name.rawValue,
            codec: JSONCodec<Item>(),
            memory: Capacity(name == .main ? 2.kiloByte : 1.byte),
            disk: Capacity(50.megaByte, entries: name == .small ? room : nil),
            caching: .values,
            indexing: name == .main ? Item.catalog : nil,
            durability: name == .safe ? .powerSafe : .crashSafe
        )
    }

    // MARK: The recorded operations

    private func run() throws {
        try open()
        for index in 0..<8 {
            try record(.main, "m\(index)", length: [20, 300, 3000, 9000, 100, 40, 15000, 1][index])
        }
        try record(.safe, "s0", length: 100)
        for index in 0..<4 { try record(.other, "o\(index)", length: 700 * index) }
        try transaction(with: .other)
        try remove(.main, "m2")
        try record(.main, "m1", length: 6000)
        for index in 0..<8 { try record(.small, "e\(index)", length: 150 * index) }
        try read()
        try transaction(with: .safe)
        try move("m4", from: .main, to: .safe)
        try update(.main, "m3")
        try record(.main, "m3", length: 10)
        try flush()
        try record(.other, "o1", length: 20)
        try close()
        try open()
        try record(.main, "m4", length: 5000)
        try fillLog()
        try record(.safe, "s1", length: 4000)
        try transaction(with: .other)
        try fillLog()
        try remove(.safe, "s0")
        try write(.crashSafe) {
            try stores[.other]?.removeAll()
        } model: {
            values["other"] = [:]
        }
        try record(.other, "o9", length: 2500)
        try record(.small, "e9", length: 2500)
        try close()
        try open()
        try transaction(with: .other)
        try record(.main, "m0", length: 800)
    }

    /// Writes enough for the log to be copied into the database and restarted.
    private func fillLog() throws {
        for round in 0..<3 {
            for index in 0..<4 { try record(.main, "long\(index)", length: 190_000 + round) }
            file?.waitForMaintenance()
        }
    }

    private func open() throws {
        let file = try DatabaseFile.open(at: folder.file("Archives.sqlite"), clock: clock.wallClock)
        for name in Name.allCases { stores[name] = try Self.open(name, in: file) }
        self.file = file
    }

    private func close() throws {
        try file?.close()
        (file, stores) = (nil, [:])
        promise(oldest: states.count - 1, newest: states.count - 1)
    }

    private func flush() throws {
        try stores[.other]?.flush()
        promise(oldest: states.count - 1, newest: states.count - 1)
    }

    private func read() throws {
        for key in values["main", default: [:]].keys.sorted() {
            _ = try stores[.main]?.value(forKey: EntryKey(key))
        }
        _ = try stores[.main]?.fetch(Item.inGroup("g1"))
    }

    // MARK: Writing

    private func promise(oldest: Int? = nil, newest: Int) {
        promises.append(
            Promise(newest: newest, oldest: max(oldest ?? 0, promises.last?.oldest ?? 0))
        )
        script.mark(promises.count - 1)
    }

    /// One transaction: attempted, then acknowledged.
    private func write(
        _ durability: Durability,
        _ body: () throws -> Void,
        model: () -> Void
    ) throws {
        let next = states.count
        promise(newest: next)
        try body()
        model()
        // Evictions are read from the archives.
        var contents: Contents = [:]
        for (name, store) in stores {
            let keys = Set(try store.keys().map(\.normalized))
            contents[name.rawValue] = values[name.rawValue, default: [:]].filter {
                keys.contains($0.key)
            }
        }
        values = contents
        states.append(contents.filter { !$0.value.isEmpty })
        promise(oldest: durability == .powerSafe ? next : nil, newest: next)
    }

    private func item(_ length: Int) -> Item {
        number += 1
        return Item(number, length: length)
    }

    private func record(_ name: Name, _ key: String, length: Int) throws {
        let value = item(length)
        try write(name == .safe ? .powerSafe : .crashSafe) {
            try stores[name]?.record(value, forKey: EntryKey(key))
        } model: {
            values[name.rawValue, default: [:]][key] = value
        }
    }

    private func remove(_ name: Name, _ key: String) throws {
        try write(name == .safe ? .powerSafe : .crashSafe) {
            try stores[name]?.remove(EntryKey(key))
        } model: {
            values[name.rawValue]?[key] = nil
        }
    }

    /// Removes an item where it was read, and records another where it was not, in one transaction.
    private func move(_ key: String, from name: Name, to other: Name) throws {
        guard let source = stores[name], let target = stores[other], let file else { return }
        let new = item(values[name.rawValue]?[key] == nil ? 0 : 700)
        try write(other == .safe ? .powerSafe : .crashSafe) {
            try TransactionReads.retrying(on: file) { () throws -> Void? in
                var (reads, writes) = (TransactionReads(), StoreTransaction())
                guard try reads.value(forKey: EntryKey(key), in: source, after: writes) != nil,
                    try reads.value(forKey: EntryKey(key), in: target, after: writes) == nil
                else { return () }
                writes.remove(EntryKey(key), in: source)
                try writes.record(new, forKey: EntryKey(key), in: target)
                return try reads.commit(writes) ? () : nil
            }
        } model: {
            values[name.rawValue]?[key] = nil
            values[other.rawValue, default: [:]][key] = new
        }
    }

    private func update(_ name: Name, _ key: String) throws {
        let new = item(400)
        try write(.crashSafe) {
            try stores[name]?.update(EntryKey(key), AgeOfUpdated(nil, ofNew: nil)) { $0 = new }
        } model: {
            values[name.rawValue, default: [:]][key] = new
        }
    }

    /// Four writes in three archives: all of them are applied, or none.
    private func transaction(with name: Name) throws {
        guard let main = stores[.main], let second = stores[name], let small = stores[.small] else {
            return
        }
        let items = [item(5000), item(30), item(1000)]
        try write(name == .safe ? .powerSafe : .crashSafe) {
            var transaction = StoreTransaction()
            try transaction.record(items[0], forKey: "both", in: main)
            try transaction.record(items[1], forKey: "both", in: second)
            try transaction.record(items[2], forKey: EntryKey("t\(number)"), in: small)
            transaction.remove("m5", in: main)
            try transaction.commit()
        } model: {
            values["main", default: [:]]["both"] = items[0]
            values[name.rawValue, default: [:]]["both"] = items[1]
            values["small", default: [:]]["t\(number)"] = items[2]
            values["main"]?["m5"] = nil
        }
    }
}
