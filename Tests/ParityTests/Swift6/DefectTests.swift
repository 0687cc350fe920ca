import Foundation
import TestThreads
import Testing
import Vellum

/// Defects V1 to V8 of the original library, which this package does not have.
@Suite(.ownThreads)
struct DefectTests {
    enum Shop {
        struct Item: ArchiveCodable, Equatable {
            var primaryKey: String { name }
            var name: String
        }
    }

    enum Museum {
        struct Item: ArchiveCodable, Equatable {
            var primaryKey: String { name }
            var name: String
        }
    }

    let temporary = TemporaryArchives()

    private func parcels(
        memory: DataSize = 1.megaByte,
        disk: DataSize = 1.megaByte
    ) throws -> ArchiveManager<Parcel> {
        try temporary.factory.archives(trySetMaxMemorySize: memory, trySetMaxDiskSize: disk)
    }

    @Test func v1InvalidatingRemovesOldObjectsAndKeepsNewOnes() throws {
        let archives = try parcels(memory: 200)
        for key in ["stale", "used-again", "stale-too"] { archives.record(Parcel(key, size: 100)) }
        temporary.clock.advance(bySeconds: 3600)
        _ = archives.access(archiveWithKey: "used-again")
        archives.record(Parcel("fresh", size: 100))
        temporary.clock.advance(bySeconds: 59)

        archives.deleteAllInvalidateArchives(invalidateTimeInterval: 60)

        #expect(archives.accessAll().map(\.primaryKey) == ["fresh", "used-again"])
    }

    @Test func v2OverwritingAnObjectAdjustsTheSize() throws {
        let archives = try parcels()

        archives.record(Parcel("a", size: 100))
        archives.record(Parcel("a", size: 700))
        #expect(archives.currentSize == 1400)

        archives.record(Parcel("a", size: 10))
        #expect(archives.currentSize == 20)

        archives.delete(archiveWithKey: "a")
        #expect(archives.currentSize == .zero)
    }

    @Test func v3GrowingAnObjectKeepsTheLimitOfTheDisk() throws {
        let archives = try parcels(memory: 400, disk: 400)
        for key in ["a", "b", "c", "d"] { archives.record(Parcel(key, size: 100)) }

        archives.record(Parcel("d", size: 250))

        #expect(try archives.store.statistics().disk.bytes <= 400)
        #expect(archives.accessAll().map(\.primaryKey) == ["d", "c"])
    }

    @Test func v4AnObjectLargerThanTheLimitEvictsNothing() throws {
        let archives = try parcels(memory: 400, disk: 400)
        for key in ["a", "b", "c", "d"] { archives.record(Parcel(key, size: 100)) }

        archives.record(Parcel("e", size: 401))

        #expect(archives.accessAll().map(\.primaryKey) == ["d", "c", "b", "a"])
        #expect(archives.currentSize == 800)
    }

    @Test(arguments: [(-1, 0), (0, 0), (1, 1), (4, 4), (5, 5), (6, 5), (.max, 5)])
    func v5AccessAllKeepsItsLimit(limit: Int, count: Int) throws {
        let archives = try parcels(memory: 200)
        for key in ["a", "b", "c", "d", "e"] { archives.record(Parcel(key, size: 100)) }

        #expect(
            archives.accessAll(limitedBy: limit).map(\.primaryKey)
                == Array(["e", "d", "c", "b", "a"].prefix(count))
        )
    }

    @Test(arguments: ["../x", "a/b", "/", "..", ".", "~", "C:\\x", ".Archives.sqlite"])
    func v6KeysNeedNotBeFileNames(key: String) throws {
        let archives = try parcels()

        archives.record(Parcel(key, size: 100))
        archives.store.trimMemory(to: .zero)

        #expect(archives.access(archiveWithKey: key) == Parcel(key, size: 100))
        let files = try FileManager.default.contentsOfDirectory(atPath: temporary.directory.path)
        #expect(
            Set(files).isSubset(
                of: ["", "-wal", "-shm", "-changes"].map { "Archives.sqlite" + $0 }
            )
        )
        let outside = temporary.directory.deletingLastPathComponent().appendingPathComponent("x")
            .path
        #expect(!FileManager.default.fileExists(atPath: outside))
    }

    @Test func v7TypesWithTheSameNameHaveDifferentArchives() throws {
        let shop = try temporary.factory.archives(for: Shop.Item.self)
        let museum = try temporary.factory.archives(for: Museum.Item.self)

        shop.record(Shop.Item(name: "cup"))

        #expect(museum.access(archiveWithKey: "cup") == nil)
        #expect(shop.access(archiveWithKey: "cup") == Shop.Item(name: "cup"))
    }

    @Test func v8EachTypeHasItsOwnSizesOfWhichTheFirstCounts() throws {
        let factory = temporary.factory
        let shop = try factory.archives(
            for: Shop.Item.self,
            trySetMaxMemorySize: 1.kiloByte,
            trySetMaxDiskSize: 2.kiloByte
        )
        let museum = try factory.archives(
            for: Museum.Item.self,
            trySetMaxMemorySize: 3.kiloByte,
            trySetMaxDiskSize: 4.kiloByte
        )

        _ = try factory.archives(
            for: Shop.Item.self,
            trySetMaxMemorySize: 1.kiloByte,
            trySetMaxDiskSize: 1.kiloByte
        )

        #expect(shop.maxSize == 3.kiloByte)
        _ = try factory.archives(
            for: Shop.Item.self,
            trySetMaxMemorySize: 2.kiloByte,
            trySetMaxDiskSize: 4.kiloByte
        )
        #expect(shop.maxSize == 3.kiloByte)
        #expect(museum.maxSize == 7.kiloByte)
        let error = #expect(throws: VellumError.self) {
            _ = try factory.store(
                for: Shop.Item.self,
                memoryLimit: 1.kiloByte,
                diskLimit: 1.kiloByte
            )
        }
        #expect(error?.code == .contradiction)
    }
}
