import Foundation
import TestThreads
import Testing
import Vellum

/// The contents of an archive after it was closed or released.
@Suite(.ownThreads)
struct ArchiveStoreReopeningTests {
    let temporary = TemporaryArchives()

    private func recordSome(in factory: ArchivesFactory) throws {
        let store = try factory.store(for: Parcel.self)
        try store.record(contentsOf: (0..<50).map { Parcel("\($0)", size: 10 + $0) })
        try store.record(Parcel("7", size: 500))
        try store.delete(archiveWithKey: "8")
    }

    @Test func objectsAndSizesAreCompleteAtTheFirstCallAfterReopening() throws {
        try recordSome(in: temporary.factory)
        let before = try temporary.factory.store(for: Parcel.self).statistics().disk
        try temporary.factory.close()

        let store = try temporary.factory.store(for: Parcel.self)
        #expect(try store.statistics().disk == before)
        #expect(try store.count() == 49)
        let all = try store.accessAll()
        #expect(all.map(\.size).reduce(0, +) == before.bytes)
        #expect(try store.access(archiveWithKey: "7") == Parcel("7", size: 500))
    }

    @Test func releasingEverythingWithoutClosingLosesNothing() throws {
        try recordSome(in: temporary.anotherFactory())

        let store = try temporary.anotherFactory().store(for: Parcel.self)
        #expect(try store.count() == 49)
        #expect(try store.access(archiveWithKey: "7") == Parcel("7", size: 500))
        #expect(try store.keys(limit: 1) == ["7"])
    }

    @Test func releasingLosesNothingWithAnyDurability() throws {
        for durability in Durability.allCases {
            try temporary.anotherFactory(durability: durability).store(for: User.self).record(
                User(name: "\(durability)")
            )
            let store = try temporary.anotherFactory(durability: durability).store(for: User.self)
            #expect(
                try store.access(archiveWithKey: "\(durability)") == User(name: "\(durability)")
            )
        }
    }

    @Test func flushingChangesNoResults() throws {
        try recordSome(in: temporary.factory)
        let store = try temporary.factory.store(for: Parcel.self)

        try store.flush()

        #expect(try store.count() == 49)
        #expect(try store.access(archiveWithKey: "9") == Parcel("9", size: 19))
    }

    @Test func anArchiveIsClosedAndReopenedWhileOthersStayOpen() throws {
        let users = try temporary.factory.store(for: User.self)
        try users.record(User(name: "ann"))
        let parcels = try temporary.factory.store(for: Parcel.self)
        try parcels.record(Parcel("a"))

        try parcels.close()

        #expect(try users.access(archiveWithKey: "ann") == User(name: "ann"))
        #expect(
            try temporary.factory.store(for: Parcel.self).access(archiveWithKey: "a") == Parcel("a")
        )
    }

    @Test func aSmallerLimitAppliesAsSoonAsTheArchiveIsReopened() throws {
        try temporary.factory.store(for: Parcel.self).record(
            contentsOf: ["a", "b", "c", "d"].map { Parcel($0) }
        )
        try temporary.factory.close()

        let store = try temporary.factory.store(for: Parcel.self, diskLimit: 250)

        #expect(try store.statistics().disk.bytes == 200)
        #expect(try store.keys() == ["d", "c"])
    }
}
