import Foundation
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

import ScriptedDisk

/// Uses three archives of one file on a disk that may fail at any call. Compares every result with
/// the expected one, and checks that every error is clear.
final class FaultScenario {
    enum Name: String, CaseIterable { case main, safe, small }

    /// The limit of entries of the archive `small`.
    private static let room = 6

    let folder: FastFolder
    let script: DiskScript
    /// Descriptions of what was wrong.
    private(set) var problems: [String] = []
    /// How many calls threw.
    private(set) var thrown = 0
    private(set) var codes: Set<VellumError.Code> = []
    private(set) var neededReopening = false

    private let clock = ManualClock()
    private let isLong: Bool
    private var file: DatabaseFile?
    private var stores: [Name: Store<Item>] = [:]
    private var expected: [Name: Expectation] = [.main: Expectation(), .safe: Expectation()]
    /// The keys of `small`, least recently used first, and how many writes to it failed.
    private var small: [(key: String, value: Item)] = []
    private var failedInSmall = 0
    private var number = 0

    /// - Parameter isLong: Whether enough is recorded to restart the log.
    init(isLong: Bool) throws {
        folder = try FastFolder()
        script = DiskScript(folder: folder.url)
        self.isLong = isLong
    }

    deinit { script.remove() }

    private func problem(_ words: String) { problems.append(words) }

    // MARK: Parts

    func run() {
        open()
        fill()
        if isLong { fillLog() }
        change()
        readEverything("while it is open")
        evict()
        query()
        attempt("flush") { () throws(VellumError) in try self.stores[.safe]?.flush() }
        close()
        open()
        readEverything("after closing and opening")
        record(.main, "last", length: 300)
        query()
    }

    /// Checks the contents once the disk works again.
    func checkRecovery() {
        // A read in the background that fails now, and is looked into when the disk works again,
        // would look like damage until the next opening.
        file?.waitForMaintenance()
        script.heal()
        let before = thrown
        let whileOpen = problems.count
        if file == nil { open() }
        readEverything("healed, still open")
        record(.main, "healed", length: 200)
        record(.safe, "healed", length: 200)
        record(.small, "healed", length: 200)
        query()
        if thrown > before, problems.count == whileOpen { neededReopening = true }
        reopen()
        let thrownBefore = thrown
        readEverything("healed, opened again")
        for name in Name.allCases { record(name, "again", length: 200) }
        query()
        verify()
        if thrown > thrownBefore { problem("something failed on a disk that works: \(codes)") }
        attempt("close") { () throws(VellumError) in try self.file?.close() }
    }

    /// Whether the file was reported as damaged.
    func marksOfDamage() throws -> [String] { try folder.names().filter { $0.contains("damaged") } }

    private func open() {
        for _ in 0..<2 where stores.count < 3 {
            attempt("open") { () throws(VellumError) in
                let file = try DatabaseFile.open(
                    at: self.folder.file("Archives.sqlite"),
                    clock: self.clock.wallClock
                )
                self.file = file
                for name in Name.allCases where self.stores[name] == nil {
                    self.stores[name] = try file.store(
                        named: name.rawValue,
                        codec: JSONCodec<Item>(),
                        memory: Capacity(name == .main ? 2.kiloByte : 1.byte),
                        disk: Capacity(50.megaByte, entries: name == .small ? Self.room : nil),
                        caching: .values,
                        indexing: name == .main ? Item.catalog : nil,
                        durability: name == .safe ? .powerSafe : .crashSafe
                    )
                }
            }
        }
    }

    private func fill() {
        for index in 0..<6 {
            record(.main, "m\(index)", length: [20, 300, 3000, 9000, 100, 40][index])
        }
        for index in 0..<3 { record(.safe, "s\(index)", length: 500 * index) }
    }

    private func fillLog() {
        for round in 0..<3 {
            for index in 0..<4 { record(.main, "long\(index)", length: 200_000 + round) }
            file?.waitForMaintenance()
        }
    }

    private func change() {
        record(.main, "m1", length: 5000)
        record(.main, "m3", length: 10)
        remove(.main, "m2")
        record(.safe, "s1", length: 50)
        remove(.safe, "s0")
        transaction()
    }

    private func evict() {
        for index in 0..<Self.room + 3 { record(.small, "e\(index)", length: 100 * index) }
    }

    private func close() {
        attempt("close") { () throws(VellumError) in try self.file?.close() }
        release()
    }

    private func release() {
        stores = [:]
        file = nil
    }

    /// Releases everything, even if closing fails, and reopens the file.
    private func reopen() {
        attempt("close") { () throws(VellumError) in try self.file?.close() }
        release()
        open()
        guard stores.count == 3 else {
            return problem("it does not open on a disk that works: \(codes)")
        }
        do {
            for name in [Name.main, .safe] {
                let wrong =
                    try expected[name]?.reopen {
                        try self.stores[name]?.value(forKey: EntryKey($0))
                    } ?? []
                if !wrong.isEmpty {
                    problem("opened again, \(name) holds something else under \(wrong)")
                }
            }
            try reopenSmall()
        } catch {
            problem("opened again, it cannot be read: \(error)")
        }
    }

    /// A failed write may have been applied after all, and may have evicted the least recently used
    /// entry.
    private func reopenSmall() throws {
        var kept: [(key: String, value: Item)] = []
        for (index, entry) in small.enumerated() {
            let found = try stores[.small]?.value(forKey: EntryKey(entry.key))
            if found == entry.value {
                kept.append(entry)
            } else if found != nil || index >= failedInSmall {
                problem("lost \(entry.key)")
            }
        }
        // Unacknowledged writes may exist: continue from the actual contents.
        if failedInSmall > 0, let store = stores[.small] {
            kept = try store.keys().reversed().compactMap { key in
                try store.value(forKey: key).map { (key.normalized, $0) }
            }
        }
        (small, failedInSmall) = (kept, 0)
    }
}

// MARK: Steps

extension FaultScenario {
    /// Runs a call and returns whether it succeeded.
    @discardableResult
    private func attempt(_ name: String, _ body: () throws(VellumError) -> Void) -> Bool {
        do throws(VellumError) {
            try body()
            return true
        } catch {
            thrown += 1
            codes.insert(error.code)
            return false
        }
    }

    private func record(_ name: Name, _ key: String, length: Int) {
        guard let store = stores[name] else { return }
        number += 1
        let value = Item(number, length: length)
        let succeeded = attempt("record") { () throws(VellumError) in
            try store.record(value, forKey: EntryKey(key))
        }
        note(name, key, value, succeeded)
    }

    private func remove(_ name: Name, _ key: String) {
        guard let store = stores[name] else { return }
        let succeeded = attempt("remove") { () throws(VellumError) in
            try store.remove(EntryKey(key))
        }
        note(name, key, nil, succeeded)
    }

    private func note(
        _ name: Name,
        _ key: String,
        _ value: Item?,
        _ succeeded: Bool,
        isPowerSafe: Bool = false
    ) {
        guard name == .small else {
            if succeeded {
                expected[name]?.acknowledged(key, value)
            } else {
                // Only a failed sync leaves everything applied.
                expected[name]?.failed(key, value, isInDoubt: name == .safe || isPowerSafe)
            }
            return
        }
        guard succeeded else {
            failedInSmall += 1
            return
        }
        small.removeAll { $0.key == key }
        if let value { small.append((key, value)) }
        if small.count > Self.room { small.removeFirst() }
    }

    /// Three writes in two archives: all of them are applied, or none.
    private func transaction() {
        guard let main = stores[.main], let safe = stores[.safe] else { return }
        number += 3
        let values = [
            Item(number, length: 700), Item(number - 1, length: 4100), Item(number - 2, length: 30),
        ]
        let succeeded = attempt("commit") { () throws(VellumError) in
            var transaction = StoreTransaction()
            try transaction.record(values[0], forKey: "both", in: main)
            try transaction.record(values[1], forKey: "both", in: safe)
            try transaction.record(values[2], forKey: "m4", in: main)
            transaction.remove("s2", in: safe)
            try transaction.commit()
        }
        note(.main, "both", values[0], succeeded, isPowerSafe: true)
        note(.safe, "both", values[1], succeeded)
        note(.main, "m4", values[2], succeeded, isPowerSafe: true)
        note(.safe, "s2", nil, succeeded)
    }

    private func readEverything(_ moment: String) {
        for name in [Name.main, .safe] {
            guard let store = stores[name] else { continue }
            for key in expected[name]?.keys ?? [] {
                attempt("access") { () throws(VellumError) in
                    let found = try store.value(forKey: EntryKey(key))
                    if !(self.expected[name]?.allows(key, found) ?? false) {
                        self.problem(
                            """
                            \(moment), \(name) answers \
                            \(found.map { "\($0.text.prefix(8))…" } ?? "nothing") for \(key)
                            """
                        )
                    }
                }
            }
        }
        guard let store = stores[.small] else { return }
        for (index, entry) in small.enumerated() {
            attempt("access") { () throws(VellumError) in
                let found = try store.peek(EntryKey(entry.key))
                if found != entry.value, index >= self.failedInSmall || found != nil {
                    self.problem("\(moment), small lacks \(entry.key)")
                }
            }
        }
    }

    private func query() {
        guard let store = stores[.main], let certain = expected[.main]?.certain else { return }
        for group in ["g0", "g1", "g2"] {
            attempt("fetch") { () throws(VellumError) in
                let found = try store.fetch(Item.inGroup(group)).map(\.text).sorted()
                let right = certain.values.filter { $0.group == group }.map(\.text).sorted()
                if found != right {
                    self.problem(
                        "the index answers \(found.count) in \(group) instead of \(right.count)"
                    )
                }
            }
        }
        attempt("count") { () throws(VellumError) in
            let count = try store.count(Item.tagged("all"))
            if count != certain.count {
                self.problem("the index counts \(count) instead of \(certain.count)")
            }
            let total = try store.count()
            if total != certain.count {
                self.problem("the totals count \(total) instead of \(certain.count)")
            }
        }
        attempt("keys") { () throws(VellumError) in
            let keys = try store.keys().map(\.normalized).sorted()
            if keys != certain.keys.sorted() { self.problem("the keys are \(keys)") }
        }
    }

    private func verify() {
        attempt("verify") { () throws(VellumError) in
            guard let report = try self.file?.verify() else { return }
            if !report.isIntact { self.problem("not sound: \(report)") }
        }
    }
}
