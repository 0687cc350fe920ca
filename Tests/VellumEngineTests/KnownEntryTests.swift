import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
@testable import VellumEngine
import VellumTestSupport

/// A write need not look for the entry that memory knows under its key. What memory knows may be
/// outdated, whatever it says.
@Suite(.ownThreads)
struct KnownEntryTests {
    private let setup: Setup
    private let driver: ArchiveHarness

    init() throws {
        setup = try Setup()
        driver = ArchiveHarness(
            try setup.open().archive(named: "a", capacity: try Capacity(10_000.byte))
        )
    }

    private func expect(
        _ sizes: [EntryKey: Int],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        for (key, size) in sizes {
            #expect(try driver.bytes(key)?.count == size, sourceLocation: location)
        }
        let totals = try driver.archive.totals()
        #expect(
            totals.entries == sizes.count && totals.bytes == sizes.values.reduce(0, +),
            sourceLocation: location
        )
    }

    /// With another size it was overwritten by another process, or memory has it in the form of
    /// another version.
    @Test(arguments: [100, 99])
    func whatIsKnownIsOverwritten(size: Int) throws {
        let id = try driver.store(count: 100, "k").entryID
        let outcome = try driver.store(count: 200, "k", inPlaceOf: KnownEntry(id: id, size: size))
        #expect(outcome.entryID == id && outcome.wasPresent)
        try expect(["k": 200])
    }

    /// Nothing that is gone comes back.
    @Test(arguments: [true, false])
    func anEntryThatWasRemovedIsInsertedAgain(withAllOthers: Bool) throws {
        let id = try driver.store(count: 100, "k").entryID
        try driver.write("k", withAllOthers ? .removeAll : .remove)
        let outcome = try driver.store(count: 200, "k", inPlaceOf: KnownEntry(id: id, size: 100))
        #expect(outcome.entryID != id && !outcome.wasPresent)
        try expect(["k": 200])
    }

    @Test func theEntryOfAnotherArchiveIsNotOverwritten() throws {
        let other = ArchiveHarness(
            try setup.open().archive(named: "b", capacity: try Capacity(10_000.byte))
        )
        let id = try other.store(count: 100, "k").entryID
        _ = try driver.store(count: 200, "k", inPlaceOf: KnownEntry(id: id, size: 100))
        try expect(["k": 200])
        #expect(try other.bytes("k")?.count == 100)
    }

    @Test func theEntryOfAnotherKeyIsNotOverwritten() throws {
        let id = try driver.store(count: 100, "other").entryID
        _ = try driver.store(count: 200, "k", inPlaceOf: KnownEntry(id: id, size: 100))
        try expect(["other": 100, "k": 200])
    }

    @Test func whatIsTooLargeForTheDiskRemovesTheOldEntry() throws {
        let id = try driver.store(count: 100, "k").entryID
        #expect(
            try driver.store(count: 20_000, "k", inPlaceOf: KnownEntry(id: id, size: 100)).entryID
                == 0
        )
        try expect([:])
    }

    @Test func overwritingKeepsTheLimit() throws {
        for number in 0..<10 { try driver.store(count: 1000, EntryKey("\(number)")) }
        let id = try #require(try driver.archive.entry(forKey: "9")).id
        _ = try driver.store(count: 2500, "9", inPlaceOf: KnownEntry(id: id, size: 1000))
        #expect(driver.removed == ["0", "1"])
        #expect(try driver.archive.totals().bytes == 9500)
    }

    /// The store says what its memory knows, and the totals stay true whatever happens to entries
    /// in between.
    @Test(arguments: UInt64(0)..<4)
    func theTotalsAreTrueAfterRandomWrites(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try setup.store(memory: 2000.byte, disk: 6000.byte)
        for _ in 0..<LongRun.number(1500, usually: 500) {
            let key = EntryKey("\(Int.random(in: 0..<40, using: &random))")
            switch Int.random(in: 0..<20, using: &random) {
            case 0: try store.remove(key)
            case 1: _ = try store.value(forKey: key)
            case 2 where Bool.random(using: &random): try store.removeAll()
            default:
                try store.record(Data(count: .random(in: 0..<400, using: &random)), forKey: key)
            }
        }
        let kept = try store.disk.totals()
        try setup.close()
        // Counted anew from the rows.
        let bytes = try RawDatabase(setup.url).int(
            """
            SELECT (SELECT coalesce(sum(length(bytes)), 0) FROM entries WHERE id > a.cleared + \
            (a.id << 40)) FROM archives a ORDER BY id DESC
            """
        )
        #expect(kept.bytes == bytes, "seed \(seed)")
    }
}
