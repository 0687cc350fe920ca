import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
@testable import VellumEngine
import VellumTestSupport

/// C2: the size of the files is bounded.
@Suite(.ownThreads)
struct FileSizeTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    private var logSize: Int { setup.folder.size(of: "Archives.sqlite-wal") }

    /// P12, P51: with a reader in a loop, one writer, and large values.
    @Test func theLogStaysWithinEightMegabytes() throws {
        let store = try setup.store(memory: 1)
        try store.record(Data(0, count: 100), forKey: "0")
        let (done, ended, reads) = (Flag(), Flag(), Counter())
        let log = store.disk.file.log
        let reading = OnThread {
            defer { ended.set() }
            return code {
                while !done.isSet {
                    _ = try store.value(forKey: "0")
                    reads.increment()
                }
            }
        }
        var largest = 0
        do {
            defer { done.set() }
            for number in 0..<LongRun.number(6000, usually: 3000) {
                try store.record(
                    Data(number, count: number % 10 == 0 ? 40_000 : 1000),
                    forKey: EntryKey("\(number % 1500)")
                )
                guard number % 20 == 0 else { continue }
                largest = max(largest, logSize)
                // No read lasts for longer than a few writes, however slowly its thread runs. What
                // one kept for long is tried again after a pause.
                let before = reads.value
                blockUntil("another read is over, and the log may be restarted") {
                    reads.value > before + 1 && !log.isBlocked || ended.isSet
                }
            }
        }
        #expect(reading.result() == nil)
        #expect(largest > 0)
        #expect(largest <= 8 * 1024 * 1024)
    }

    @Test func freePagesAreReturnedToTheFileSystemAutomatically() throws {
        do {
            let store = try setup.store()
            for number in 0..<400 {
                try store.record(Data(number, count: 100_000), forKey: EntryKey("\(number)"))
            }
            for number in 0..<390 { try store.remove(EntryKey("\(number)")) }
            let file = try setup.open()
            file.waitForMaintenance()
            #expect(file.fileSize.bytes <= 2 * 1_000_000 + 4 * 1024 * 1024)
        }
        #expect(setup.folder.size(of: "Archives.sqlite") <= 2 * 1_000_000 + 4 * 1024 * 1024)
    }

    /// R5: whether the process before closed the file, or left it as it was.
    @Test(arguments: [true, false])
    func spaceThatAnEarlierProcessLeftIsReturnedAfterOpening(isClosed: Bool) throws {
        let count = LongRun.number(600, usually: 150)
        let copy = setup.folder.file("Copy.sqlite")
        do {
            let store = try setup.store()
            for number in 0..<count {
                try store.record(Data(number, count: 100_000), forKey: EntryKey("\(number)"))
            }
            withExtendedLifetime(store) {}
        }
        try setup.close()
        do {
            // As `removeAll` leaves it, before any entry is deleted.
            var other: RawDatabase? = try RawDatabase(setup.url)
            try other?.execute(
                """
                UPDATE archives SET next = \(count + 1), cleared = \(count),
                    cleared_check = -\(count + 1), low_water = \(count), entries = 0, bytes = 0
                WHERE entries > 0
                """
            )
            if isClosed { other = nil }
            for suffix in ["", "-wal"]
            where FileManager.default.fileExists(atPath: setup.url.path + suffix) {
                try FileSystem.copy(setup.url.path + suffix, to: copy.path + suffix)
            }
            withExtendedLifetime(other) {}
        }
        #expect(setup.folder.size(of: "Copy.sqlite") > count * 50_000)
        let file = try DatabaseFile.open(at: copy)
        file.waitForMaintenance()
        #expect(file.fileSize.bytes <= 4 * 1024 * 1024)
    }

    /// R7: all archives share their tables.
    @Test func aThousandArchivesOfOneSmallEntryTakeLessThanAMegabyte() throws {
        let file = try setup.open()
        let before = file.fileSize.bytes
        for number in 0..<1000 { _ = try setup.store("archive \(number)") }
        file.waitForMaintenance()
        #expect(file.fileSize.bytes - before <= 1000 * 2048)
        for number in 0..<1000 {
            try setup.store("archive \(number)").record(Data(number, count: 100), forKey: "key")
        }
        file.waitForMaintenance()
        #expect(file.fileSize.bytes <= 1 << 20)
        #expect(try setup.store("archive 999").value(forKey: "key") == Data(999, count: 100))
    }

    @Test func aSuspendedFileDeletesTheRestOfAnEmptiedArchiveOnceItIsResumed() throws {
        let store = try setup.store()
        for number in 0..<1000 {
            try store.record(Data(number, count: 10), forKey: EntryKey("\(number)"))
        }
        let file = try setup.open()
        try file.withoutMaintenance {
            try store.removeAll()
            try file.suspend()
        }
        file.waitForMaintenance()
        #expect(try RawDatabase(setup.url).int("SELECT count(*) FROM entries") == 1000)
        try file.resume()
        file.waitForMaintenance()
        #expect(try RawDatabase(setup.url).int("SELECT count(*) FROM entries") == 0)
    }

    /// The entries' rows are deleted later, a few at a time.
    @Test func emptyingAnArchiveWritesAFewPages() throws {
        let store = try setup.store()
        for number in 0..<3000 {
            try store.record(Data(number, count: 1000), forKey: EntryKey("\(number)"))
        }
        let file = try setup.open()
        file.waitForMaintenance()
        let (before, after) = try file.withoutMaintenance {
            let before = file.withWriter { $0.connection.logFrames } ?? 0
            try store.removeAll()
            return (before, file.withWriter { $0.connection.logFrames } ?? 0)
        }
        #expect(after - before <= 4)
        #expect(try store.count() == 0)
        #expect(try store.keys().isEmpty)
        #expect(try store.values().isEmpty)
        #expect(try store.value(forKey: "7") == nil)
        try store.record(Data("new".utf8), forKey: "7")
        #expect(try store.statistics().disk == StorageUsage(entries: 1, bytes: 3))
        file.waitForMaintenance()
        #expect(try RawDatabase(setup.url).int("SELECT count(*) FROM entries") == 1)
        #expect(try store.value(forKey: "7") == Data("new".utf8))
        #expect(try file.verify().isIntact)
    }

    /// P12: over many overwrites and evictions, with values of every size.
    @Test(arguments: [100, 1000, 2100, 5000, 70_000])
    func theFileIsAtMostTwiceItsEntriesAndFourMegabytes(_ count: Int) throws {
        let store = try setup.store(memory: 1, disk: 4.megaByte)
        var random = SeededGenerator(seed: UInt64(count))
        for step in 0..<(7_000_000 / (count + 300)) {
            let size = count * Int.random(in: 50...150, using: &random) / 100
            try store.record(
                Data(step, count: size),
                forKey: EntryKey("\(Int.random(in: 0..<100_000, using: &random))")
            )
        }
        let live = try store.statistics().disk.bytes
        let file = try setup.open()
        file.waitForMaintenance()
        #expect(file.fileSize.bytes <= 2 * live + 4 * 1024 * 1024)
    }
}

/// The log after a transaction that was larger than it may be: its bytes are given back without
/// another write (FS4).
@Suite(.ownThreads)
struct LogAfterLargeWriteTests {
    enum Write: CaseIterable { case manyObjects, oneObject, manyDeletions, severalLarge }

    @Test(arguments: Write.allCases, [Durability.relaxed, .crashSafe, .powerSafe])
    func theLogIsShortAgain(_ write: Write, _ durability: Durability) throws {
        let setup = try Setup()
        let store = try setup.store(memory: 1.megaByte, disk: .unlimited, durability: durability)
        switch write {
        case .manyObjects:
            var transaction = StoreTransaction()
            for number in 0..<10_000 {
                try transaction.record(
                    Data(number, count: 1000),
                    forKey: EntryKey("\(number)"),
                    in: store
                )
            }
            try transaction.commit()
        case .oneObject: try store.record(Data(1, count: 20_000_000), forKey: "large")
        case .severalLarge:
            for number in 0..<4 {
                try store.record(Data(number, count: 12_000_000), forKey: EntryKey("\(number % 2)"))
            }
        case .manyDeletions:
            // Each has a page of its own, so that few of them make a large log.
            for start in stride(from: 0, to: 7000, by: 1000) {
                var transaction = StoreTransaction()
                for number in start..<start + 1000 {
                    let value = Data(number, count: 3000)
                    try transaction.record(value, forKey: EntryKey("\(number)"), in: store)
                }
                try transaction.commit()
            }
            var deletion = StoreTransaction()
            for number in 0..<7000 { deletion.remove(EntryKey("\(number)"), in: store) }
            try deletion.commit()
        }
        try store.flush()
        let file = try setup.open()
        file.waitForMaintenance()
        // A snapshot may have kept the log for a moment; then it is tried again.
        try blockUntil("the log is short") {
            if FileSystem.size(setup.url.path + "-wal") > 8 << 20 { try file.checkpoint() }
            return FileSystem.size(setup.url.path + "-wal") <= 8 << 20
        }
        // And the next write finds room.
        try store.record(Data(1, count: 10), forKey: "next")
        #expect(try setup.open().verify().isIntact)
    }
}
