import Foundation
import TestThreads
import Testing
import VellumTestSupport
import Vellum

/// C2 and C3 when another process changes the limit of an open archive.
@Suite(.ownThreads)
struct SharedLimitTests {
    private struct Item: ArchiveCodable, Equatable {
        static var archiveName: String { "crash item" }
        var primaryKey: String { key }
        var key: String
        var text: String
        var tags: [String] = []
    }

    private let folder: TemporaryDirectory
    private let store: ArchiveStore<Item>
    private let factory: ArchivesFactory

    init() throws {
        folder = try TemporaryDirectory()
        factory = ArchivesFactory(directory: folder.url)
        store = try factory.store(for: Item.self, memoryLimit: 1.kiloByte, diskLimit: 20.kiloByte)
    }

    /// Another process opens the archive with a limit, and records.
    private func other(_ limit: Int, _ count: Int) throws {
        #expect(
            try Spawned(["limit", folder.url.path, "\(limit)", "0", "\(count)"]).end().end
                == .exited(0)
        )
    }

    private func large(_ length: Int) -> Item {
        Item(key: "large", text: String(repeating: "x", count: length))
    }

    @Test func aLimitBelowThatOfAnotherProcessIsRejected() throws {
        try other(10_000_000, 1000)
        let error = #expect(throws: VellumError.self) {
            _ = try factory.store(for: Item.self, diskLimit: 100.kiloByte)
        }
        #expect(error?.code == .contradiction)
        #expect(try store.count() == 1000)
        #expect(try factory.store(for: Item.self, diskLimit: 10_000_000).limits.disk == 10_000_000)
    }

    @Test func anEntryThatFitsALimitRaisedByAnotherProcessIsRecorded() throws {
        try other(10_000_000, 1)
        try store.record(large(50_000))
        #expect(try store.access(archiveWithKey: "large") == large(50_000))
    }

    @Test func openingWithTheOldLimitRaisesALimitThatAnotherProcessLowered() throws {
        try other(5000, 0)
        let error = #expect(throws: VellumError.self) {
            _ = try factory.store(for: Item.self, diskLimit: 4000)
        }
        #expect(error?.code == .contradiction)
        #expect(
            try factory.store(for: Item.self, diskLimit: 20.kiloByte).limits.disk == 20.kiloByte
        )
        try store.record(large(10_000))
        #expect(try store.contains(archiveWithKey: "large"))
    }

    @Test func anEntryThatNoLongerFitsIsRejectedAndTheOldValueStays() throws {
        try store.record(large(2000))
        try other(5000, 0)
        let error = #expect(throws: VellumError.self) { try store.record(large(10_000)) }
        #expect(error?.code == .tooLarge)
        #expect(try store.access(archiveWithKey: "large") == large(2000))
    }
}
