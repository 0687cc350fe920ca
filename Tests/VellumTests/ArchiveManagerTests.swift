import Foundation
import TestThreads
import Testing
import Vellum

@Suite(.ownThreads)
struct ArchiveManagerTests {
    let temporary = TemporaryArchives()

    @Test func aManagerAndItsStoreShareOneArchive() throws {
        let manager = try temporary.factory.archives(for: User.self)
        let store = try temporary.factory.store(for: User.self)

        manager.record(User(name: "ann"))

        #expect(try store.access(archiveWithKey: "ann") == User(name: "ann"))
        #expect(try [manager.store, store].map { try $0.statistics().memoryHits } == [1, 1])
    }

    @Test func aFailureIsReportedOnce() async throws {
        let manager = try temporary.factory.archives(for: Parcel.self)
        let failures = manager.failures

        manager.record(.refusing("a"))
        manager.insert(all: [Parcel("b"), .refusing("c")])
        manager.record(Parcel("d", size: 3 << 20))
        manager.deleteAllInvalidateArchives(invalidateTimeInterval: .nan)
        try manager.store.close()

        var codes: [VellumError.Code] = []
        for await failure in failures { codes.append(failure.code) }
        #expect(codes == [.notEncodable, .notEncodable, .tooLarge, .invalidDuration])
    }

    @Test func anObjectThatCannotBeDecodedIsReportedOnce() async throws {
        struct Lost: ArchiveCodable {
            static var archiveName: String { "Lost" }
            var primaryKey = "lost"
            func archive() throws -> Data { Data("no json".utf8) }
        }
        let manager = try temporary.factory.archives(for: Lost.self)
        manager.record(Lost())
        manager.store.trimMemory(to: .zero)
        let failures = manager.failures

        #expect(manager.access(archiveWithKey: "lost") == nil)
        try manager.store.close()

        var codes: [VellumError.Code] = []
        for await failure in failures { codes.append(failure.code) }
        #expect(codes == [.notDecodable])
    }

    @Test func successfulOperationsReportNoFailures() async throws {
        let manager = try temporary.factory.archives(
            for: Parcel.self,
            trySetMaxMemorySize: 100,
            trySetMaxDiskSize: 200
        )
        let failures = manager.failures

        manager.insert(all: ["a", "b", "c"].map { Parcel($0) })
        _ = manager.access(archiveWithKey: "nothing")
        manager.delete(archiveWithKey: "nothing")
        manager.deleteAllInvalidateArchives(invalidateTimeInterval: .infinity)
        manager.deleteAll()
        try manager.store.close()

        for await failure in failures { Issue.record(failure) }
    }

    @Test func aVeryLongIntervalDeletesNothing() throws {
        let manager = try temporary.factory.archives(for: Parcel.self)
        manager.record(Parcel("a"))

        for interval in [1e300, .greatestFiniteMagnitude, .infinity] {
            manager.deleteAllInvalidateArchives(invalidateTimeInterval: interval)
        }

        #expect(manager.accessAll() == [Parcel("a")])
    }

    @Test func anIntervalOfZeroKeepsObjectsUsedAtTheCurrentTime() throws {
        let manager = try temporary.factory.archives(for: Parcel.self)
        manager.record(Parcel("before"))
        temporary.clock.advance(bySeconds: 1)
        manager.record(Parcel("now"))

        manager.deleteAllInvalidateArchives(invalidateTimeInterval: 0)

        #expect(manager.accessAll() == [Parcel("now")])
    }

    @Test func sizesAreSumsOfMemoryAndDisk() throws {
        let manager = try temporary.factory.archives(
            for: Parcel.self,
            trySetMaxMemorySize: 150,
            trySetMaxDiskSize: 1000
        )
        manager.insert(all: ["a", "b", "c"].map { Parcel($0) })

        #expect(manager.maxSize == 1150)
        #expect(manager.currentSize == 400)
    }
}
