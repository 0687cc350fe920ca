import Foundation
import RawDatabase
import Testing
import VellumCore
@testable import VellumEngine
import VellumTestSupport

/// A large value has a file of its own, which comes and goes with its entry.
@Suite(.timeLimit(.minutes(1)))
struct ValueFilesTests {
    private let setup: Setup
    private static let large = 10_000

    init() throws { setup = try Setup(largeValue: Self.large) }

    private func makeStore(disk: DataSize = 100.megaByte, durability: Durability = .crashSafe) throws -> Store<Data> {
        try setup.store(memory: 1.byte, disk: disk, durability: durability)
    }

    private func value(_ number: Int) -> Data { Data(number, count: Self.large + number) }

    private var folder: String { setup.url.path + "-values" }

    private func files() throws -> [String] {
        FileManager.default.fileExists(atPath: folder) ? try FileManager.default.contentsOfDirectory(atPath: folder) : []
    }

    /// The files once nothing is left to do in the background.
    private func settledFiles(_ file: DatabaseFile) throws -> [String] {
        file.waitForMaintenance()
        // An idle reader keeps its snapshot for some milliseconds.
        try file.readers.withoutLeases { () throws(SQLiteError) in try file.checkpoint() }
        return try files()
    }

    @Test func aLargeValueHasAFileAndASmallOneHasNone() throws {
        let file = try setup.open()
        let store = try makeStore()
        try store.record(Data(1, count: Self.large - 1), forKey: "small")
        #expect(try files().isEmpty)
        try store.record(value(0), forKey: "large")
        #expect(try files().count == 1)
        #expect(try store.value(forKey: "large") == value(0))
        #expect(try store.value(forKey: "small") == Data(1, count: Self.large - 1))
        #expect(try store.statistics().disk == StorageUsage(entries: 2, bytes: 2 * Self.large - 1))
        #expect(try file.fileSize().bytes == setup.folder.size(of: "Archives.sqlite") + Self.large)
        #expect(try file.verify().isIntact)
    }

    @Test func largeValuesAreThereAfterReopening() throws {
        for number in 0..<5 { try makeStore().record(value(number), forKey: EntryKey("\(number)")) }
        try setup.close()
        #expect(!FileManager.default.fileExists(atPath: setup.url.path + "-wal"))
        let store = try makeStore()
        for number in 0..<5 { #expect(try store.value(forKey: EntryKey("\(number)")) == value(number)) }
        #expect(try store.values().count == 5)
        try setup.open().waitForMaintenance()
        #expect(try files().count == 5)
    }

    @Test func overwritingReplacesTheFile() throws {
        let file = try setup.open()
        let store = try makeStore()
        try store.record(value(0), forKey: "a")
        let first = try files()
        try store.record(value(1), forKey: "a")
        #expect(try store.value(forKey: "a") == value(1))
        let second = try settledFiles(file)
        #expect(second.count == 1)
        #expect(second != first)
        try store.record(Data(2, count: 10), forKey: "a")
        #expect(try store.value(forKey: "a") == Data(2, count: 10))
        #expect(try settledFiles(file).isEmpty)
        #expect(try store.statistics().disk == StorageUsage(entries: 1, bytes: 10))
    }

    enum Removal: CaseIterable { case remove, removeAll, evict, expire, transaction }

    @Test(arguments: Removal.allCases)
    func aRemovedEntryTakesItsFileWithIt(_ removal: Removal) throws {
        let file = try setup.open()
        let store = try makeStore()
        for number in 0..<3 { try store.record(value(number), forKey: EntryKey("\(number)"), expiration: Expiration(age: 60_000)) }
        switch removal {
        case .remove: for number in 0..<3 { try store.remove(EntryKey("\(number)")) }
        case .removeAll: try store.removeAll()
        case .evict: try store.reconfigure(memory: Capacity(1.byte), disk: Capacity(10.byte), caching: .values)
        case .expire:
            setup.clock.advance(by: .seconds(120))
            file.sweepEverything()
        case .transaction:
            var transaction = StoreTransaction()
            for number in 0..<3 { transaction.remove(EntryKey("\(number)"), in: store) }
            try transaction.commit()
        }
        #expect(try store.count() == 0)
        #expect(try settledFiles(file).isEmpty)
        #expect(try file.verify().isIntact)
    }

    /// The transaction that a reader began before must find the value.
    @Test func aReaderKeepsTheFilesOfItsSnapshot() throws {
        let file = try setup.open()
        let store = try makeStore()
        try store.record(value(0), forKey: "a")
        let name = try #require(try files().first)
        let reader = try RawDatabase(setup.url)
        try reader.execute("BEGIN")
        #expect(try reader.int("SELECT count(*) FROM entries") == 1)
        try store.remove("a")
        #expect(try settledFiles(file) == [name])
        try reader.execute("COMMIT")
        #expect(try settledFiles(file).isEmpty)
    }

    @Test func aValueThatIsNotStoredLeavesNoFile() throws {
        let store = try makeStore(disk: 15_000.byte)
        #expect(throws: VellumError.self) { try store.record(value(9000), forKey: "large") }
        var transaction = StoreTransaction()
        try transaction.record(value(0), forKey: "a", in: store)
        try transaction.record(value(1), forKey: "b", in: store)
        try store.close()
        #expect(throws: VellumError.self) { try transaction.commit() }
        #expect(try files().isEmpty)
    }

    @Test func theLimitCountsValuesInFiles() throws {
        let file = try setup.open()
        let store = try makeStore(disk: DataSize(bytes: 3 * Self.large + 100))
        for number in 0..<10 { try store.record(value(number), forKey: EntryKey("\(number)")) }
        #expect(try store.keys().map(\.normalized) == ["9", "8", "7"])
        #expect(try settledFiles(file).count == 3)
    }

    @Test func relaxedWritesOfLargeValuesAreRead() throws {
        let file = try setup.open()
        let store = try makeStore(durability: .relaxed)
        for number in 0..<20 { try store.record(value(number), forKey: EntryKey("\(number % 4)")) }
        for number in 16..<20 { #expect(try store.value(forKey: EntryKey("\(number % 4)")) == value(number)) }
        try store.flush()
        #expect(try settledFiles(file).count == 4)
    }

    // MARK: Damage

    enum Damage: CaseIterable { case missing, shorter, longer, changed, link, pipe }

    @Test(arguments: Damage.allCases)
    func aDamagedFileIsADamagedEntryAndHidesNoOther(_ damage: Damage) throws {
        do {
            let store = try makeStore()
            for number in 0..<3 { try store.record(value(0), forKey: EntryKey("\(number)")) }
        }
        try setup.close()
        let path = folder + "/" + (try #require(try files().first))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        switch damage {
        case .missing: try FileManager.default.removeItem(atPath: path)
        case .shorter: try bytes.dropLast().write(to: URL(fileURLWithPath: path))
        case .longer: try (bytes + [0]).write(to: URL(fileURLWithPath: path))
        case .changed: try (bytes.dropLast() + [bytes[0] ^ 1]).write(to: URL(fileURLWithPath: path))
        case .pipe:
            try FileManager.default.removeItem(atPath: path)
            #expect(mkfifo(path, 0o600) == 0)
        case .link:
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/hostname")
        }
        let store = try makeStore()
        let codes = (0..<3).map { number in
            code {
                let found = try store.value(forKey: EntryKey("\(number)"))
                #expect(found == value(0))
            }
        }
        #expect(codes.compactMap { $0 } == [.damagedEntry])
        #expect(try store.values().count == 2)
        #expect(try setup.open().verify().archives[0].damagedEntries.count == 1)
        for number in 0..<3 { try store.record(value(1), forKey: EntryKey("\(number)")) }
        for number in 0..<3 { #expect(try store.value(forKey: EntryKey("\(number)")) == value(1)) }
    }

    @Test func aLinkInPlaceOfTheFolderIsRefused() throws {
        try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: setup.folder.url.path)
        let store = try makeStore()
        #expect(code { try store.record(value(0), forKey: "a") } == .cannotOpen)
        try store.record(Data(0, count: 10), forKey: "a")
        #expect(try store.value(forKey: "a") == Data(0, count: 10))
    }

    @Test func salvageKeepsTheFilesOfTheEntriesThatItKeeps() throws {
        do {
            let store = try makeStore()
            for number in 0..<30 { try store.record(value(number), forKey: EntryKey("\(number)")) }
        }
        try setup.close()
        try RawDatabase(setup.url).execute("UPDATE archives SET entries = 9223372036854775807")
        #expect(throws: VellumError.self) { try makeStore().count() }
        try setup.close()
        let store = try makeStore()
        for number in 0..<30 { #expect(try store.value(forKey: EntryKey("\(number)")) == value(number)) }
        #expect(try settledFiles(setup.open()).count == 30)
        // The file that was set aside has its values, too.
        let aside = try #require(
            try FileManager.default.contentsOfDirectory(atPath: setup.folder.url.path).first {
                $0.hasSuffix("-values") && $0.contains("damaged")
            })
        #expect(try FileManager.default.contentsOfDirectory(atPath: setup.folder.file(aside).path).count == 30)
    }

    // MARK: Files that are left

    @Test func aFileThatAKilledProcessLeftIsRemovedAtTheNextOpening() throws {
        try makeStore().record(value(0), forKey: "a")
        try setup.close()
        let used = try files()
        let left = URL(fileURLWithPath: folder + "/0123456789abcdef")
        try Data(1, count: 20_000).write(to: left)
        let other = URL(fileURLWithPath: folder + "/notes.txt")
        try Data(1, count: 10).write(to: other)
        let file = try setup.open()
        #expect(try Set(settledFiles(file)) == Set(used + ["notes.txt"]))
    }

    @Test func aFileIsNotRemovedWhileItsEntryIsBeingWritten() throws {
        let file = try setup.open()
        let store = try makeStore()
        try store.record(value(0), forKey: "a")
        let number = try file.values.write(value(1)) { number in file.newValueFiles.withLock { _ = $0.insert(number) } }.file
        file.scheduleRemovingLeftValueFiles()
        #expect(try settledFiles(file).count == 2)
        file.newValueFiles.withLock { _ = $0.remove(number) }
        file.scheduleRemovingLeftValueFiles()
        #expect(try settledFiles(file).count == 1)
    }

    // MARK: A model

    @Test(arguments: UInt64(1)...4, [Durability.relaxed, .crashSafe, .powerSafe])
    func randomOperationsMatchADictionary(_ seed: UInt64, _ durability: Durability) throws {
        var random = SeededGenerator(seed: seed)
        var store: Store<Data>? = try makeStore(durability: durability)
        var model: [String: Data] = [:]
        for step in 0..<200 {
            let key = "key \(Int.random(in: 0..<12, using: &random))"
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<50:
                let value = Data(step, count: Bool.random(using: &random) ? step : Self.large + step * 100)
                try store?.record(value, forKey: EntryKey(key))
                model[key] = value
            case 50..<75: #expect(try store?.value(forKey: EntryKey(key)) == model[key], "seed \(seed), step \(step)")
            case 75..<85:
                #expect(try store?.remove(EntryKey(key)) == (model.removeValue(forKey: key) != nil), "seed \(seed), step \(step)")
            case 85..<88: try store?.flush()
            case 88..<90:
                try store?.removeAll()
                model = [:]
            case 90..<93:
                if Bool.random(using: &random) { try setup.close() }
                store = nil
                store = try makeStore(durability: durability)
            default: try setup.open().checkpoint()
            }
            let bytes = model.values.reduce(0) { $0 + $1.count }
            #expect(try store?.statistics().disk == StorageUsage(entries: model.count, bytes: bytes), "seed \(seed), step \(step)")
        }
        for (key, value) in model { #expect(try store?.value(forKey: EntryKey(key)) == value, "seed \(seed)") }
        try setup.close()
        store = nil
        let file = try setup.open()
        #expect(try settledFiles(file).count == model.values.count { $0.count >= Self.large }, "seed \(seed)")
        #expect(try file.verify().isIntact)
    }
}
