import Foundation
import TestThreads
import Testing
import Vellum
import VellumTesting

@Suite(.ownThreads)
struct ArchiveStoreTests {
    let temporary = TemporaryArchives()
    let store: ArchiveStore<Parcel>

    init() throws {
        store = try temporary.factory.store()
    }

    // MARK: Recording and accessing

    @Test func aRecordedObjectIsAccessed() throws {
        try store.record(Parcel("a"))

        #expect(try store.access(archiveWithKey: "a") == Parcel("a"))
        #expect(try store.contains(archiveWithKey: "a"))
        #expect(try store.count() == 1)
    }

    @Test func aMissIsNil() throws {
        #expect(try store.access(archiveWithKey: "a") == nil)
        #expect(try !store.contains(archiveWithKey: "a"))
        #expect(try store.metadata(forKey: "a") == nil)
        #expect(try store.keys().isEmpty)
        #expect(try store.accessAll().isEmpty)
    }

    @Test func recordingManyIsAllOrNothing() throws {
        try store.record(Parcel("a", size: 10))

        let error = #expect(throws: VellumError.self) {
            try store.record(contentsOf: [Parcel("a", size: 20), Parcel("b"), Parcel.refusing("c")])
        }

        #expect(error?.code == .notEncodable)
        #expect(try store.accessAll() == [Parcel("a", size: 10)])
    }

    @Test func recordingNoObjectsHasNoEffect() throws {
        try store.record(contentsOf: [])

        #expect(try store.count() == 0)
        #expect(try store.delete(allKeys: []) == 0)
    }

    @Test func theLastObjectWithAKeyReplacesEarlierOnes() throws {
        try store.record(contentsOf: [Parcel("a", size: 10), Parcel("a", size: 20)])

        #expect(try store.accessAll() == [Parcel("a", size: 20)])
        #expect(try store.statistics().disk.bytes == 20)
        #expect(try store.statistics().memory.bytes == 20)
    }

    @Test(arguments: [(Int.min, 0), (-1, 0), (0, 0), (2, 2), (3, 3), (Int.max, 3)])
    func listsAreLimited(limit: Int, count: Int) throws {
        try store.record(contentsOf: ["a", "b", "c"].map { Parcel($0) })

        #expect(try store.accessAll(limit: limit).count == count)
        #expect(try store.keys(limit: limit) == Array(["c", "b", "a"].prefix(count)))
    }

    // MARK: Metadata

    @Test func metadataContainsSizeAndDates() throws {
        let written = temporary.clock.now
        try store.record(Parcel("a", size: 123), expiration: .after(.seconds(3600)))
        temporary.clock.advance(bySeconds: 60)
        _ = try store.access(archiveWithKey: "a")

        let metadata = try #require(try store.metadata(forKey: "a"))

        #expect(metadata.size == 123)
        #expect(metadata.written == written)
        #expect(metadata.lastUsed == written.addingTimeInterval(60))
        #expect(metadata.expires == written.addingTimeInterval(3600))
    }

    @Test func metadataHasNoExpirationDateForAnObjectThatNeverExpires() throws {
        try store.record(Parcel("a"))

        #expect(try store.metadata(forKey: "a")?.expires == nil)
    }

    // MARK: Deleting

    @Test func deletingReturnsWhetherThereWasAnObject() throws {
        try store.record(contentsOf: ["a", "b", "c"].map { Parcel($0) })

        #expect(try store.delete(archiveWithKey: "a"))
        #expect(try !store.delete(archiveWithKey: "a"))
        #expect(try store.delete(allKeys: ["a", "b", "b", "nothing"]) == 1)
        #expect(try store.keys() == ["c"])
    }

    @Test func deletingUnusedObjectsReturnsTheirNumber() throws {
        try store.record(contentsOf: ["a", "b", "c"].map { Parcel($0) })
        temporary.clock.advance(bySeconds: 60)
        _ = try store.access(archiveWithKey: "b")

        #expect(try store.deleteAll(lastUsedBefore: temporary.clock.now) == 2)
        #expect(try store.keys() == ["b"])
        #expect(try store.deleteAll(lastUsedBefore: .distantPast) == 0)
        #expect(try store.deleteAll(lastUsedBefore: .distantFuture) == 1)
    }

    @Test func deletingAllRemovesEveryObject() throws {
        try store.record(contentsOf: ["a", "b", "c"].map { Parcel($0) })

        try store.deleteAll()

        #expect(try store.count() == 0)
        #expect(try store.statistics().disk.bytes == 0)
        #expect(try store.statistics().memory.bytes == 0)
        #expect(try store.access(archiveWithKey: "a") == nil)
    }
}
