import Foundation
import TestThreads
import Testing
import Vellum
import VellumCore

/// Of the sizes that are given in the spelling of version 1, the first one decides.
@Suite(.ownThreads)
struct FirstSizeTests {
    let temporary = TemporaryArchives()

    private func archives(
        memory: DataSize? = nil,
        disk: DataSize? = nil,
        in factory: ArchivesFactory? = nil
    ) throws -> ArchiveManager<Parcel> {
        try (factory ?? temporary.factory).archives(
            for: Parcel.self,
            trySetMaxMemorySize: memory,
            trySetMaxDiskSize: disk
        )
    }

    private func limits(memory: DataSize, disk: DataSize) -> StorageLimits {
        StorageLimits(memory: memory, disk: disk)
    }

    @Test(arguments: [1.megaByte, 1.kiloByte])
    func laterSizesAreIgnored(later: DataSize) throws {
        let first = try archives(memory: 10.kiloByte, disk: 20.kiloByte)
        for _ in 0..<3 {
            #expect(
                try archives(memory: later, disk: later).store.limits
                    == limits(memory: 10.kiloByte, disk: 20.kiloByte)
            )
        }
        #expect(try archives(disk: later, in: temporary.anotherFactory()).maxSize == 30.kiloByte)
        first.insert(all: (0..<200).map { Parcel("\($0)", size: 1000) })
        #expect(first.currentSize <= 30.kiloByte)
    }

    @Test func memoryAndDiskAreDecidedEachForItself() throws {
        let first = try archives(memory: 10.kiloByte)
        #expect(first.store.limits == limits(memory: 10.kiloByte, disk: 2.megaByte))
        #expect(
            try archives(memory: 1.kiloByte, disk: 50.kiloByte).store.limits
                == limits(memory: 10.kiloByte, disk: 50.kiloByte)
        )
        #expect(
            try archives(memory: 1.kiloByte, disk: 90.kiloByte).store.limits
                == limits(memory: 10.kiloByte, disk: 50.kiloByte)
        )
    }

    @Test func theFirstSizeAppliesToAnArchiveThatWasOpenedWithoutOne() throws {
        let first = try archives()
        first.insert(all: (0..<100).map { Parcel("\($0)", size: 1000) })
        #expect(
            try archives(memory: 5.kiloByte, disk: 30.kiloByte).store.limits
                == limits(memory: 5.kiloByte, disk: 30.kiloByte)
        )
        #expect(first.store.limits == limits(memory: 5.kiloByte, disk: 30.kiloByte))
        #expect(try first.store.count() == 30)
        #expect(try archives(memory: 1.megaByte, disk: 1.megaByte).maxSize == 35.kiloByte)
    }

    @Test(arguments: [DataSize.zero, -5])
    func zeroAndLessAreNoSizes(size: DataSize) throws {
        _ = try archives(memory: size, disk: size)
        #expect(
            try archives(memory: 5.kiloByte, disk: 30.kiloByte).store.limits
                == limits(memory: 5.kiloByte, disk: 30.kiloByte)
        )
    }

    @Test func theOtherSpellingIsFirstTooAndMayRaise() throws {
        let store = try temporary.factory.store(
            for: Parcel.self,
            memoryLimit: 5.kiloByte,
            diskLimit: 30.kiloByte
        )
        #expect(
            try archives(memory: 1.megaByte, disk: 1.megaByte).store.limits
                == limits(memory: 5.kiloByte, disk: 30.kiloByte)
        )
        _ = try temporary.factory.store(
            for: Parcel.self,
            memoryLimit: 6.kiloByte,
            diskLimit: 40.kiloByte
        )
        #expect(store.limits == limits(memory: 6.kiloByte, disk: 40.kiloByte))
        #expect(try archives(memory: 1.megaByte, disk: 1.megaByte).store.limits == store.limits)
        #expect(throws: VellumError.self) {
            try temporary.factory.store(for: Parcel.self, diskLimit: 1.kiloByte)
        }
    }

    @Test func aPropertyWithSizesIsInTheSpellingOfVersion1() throws {
        let first = try archives(memory: 5.kiloByte, disk: 30.kiloByte)
        let property = Archived<Parcel>(
            memoryLimit: 1.megaByte,
            diskLimit: 1.megaByte,
            in: temporary.factory
        )
        property.wrappedValue = Parcel("a")
        #expect(first.store.limits == limits(memory: 5.kiloByte, disk: 30.kiloByte))
        #expect(first.access(archiveWithKey: "a") == Parcel("a"))
    }

    @Test func aPropertyWithSizesMayBeTheFirst() throws {
        let property = Archived<Parcel>(
            memoryLimit: 5.kiloByte,
            diskLimit: 30.kiloByte,
            in: temporary.factory
        )
        property.wrappedValue = Parcel("a")
        #expect(
            try archives(memory: 1.megaByte, disk: 1.megaByte).store.limits
                == limits(memory: 5.kiloByte, disk: 30.kiloByte)
        )
    }

    @Test func nestedObjectsGiveNoSize() throws {
        struct Box: ArchiveCodable {
            static var archiveName: String { "Box" }
            var primaryKey: String
            var content: User
        }
        try temporary.factory.store(for: Box.self).record(
            Box(primaryKey: "a", content: User(name: "ann"))
        )
        let users = try temporary.factory.archives(
            for: User.self,
            trySetMaxMemorySize: 5.kiloByte,
            trySetMaxDiskSize: 30.kiloByte
        )
        #expect(users.store.limits == limits(memory: 5.kiloByte, disk: 30.kiloByte))
        _ = try temporary.factory.archives(
            for: User.self,
            trySetMaxMemorySize: 1.megaByte,
            trySetMaxDiskSize: 1.megaByte
        )
        #expect(users.maxSize == 35.kiloByte)
    }

    /// The next launch, or the first opening of another process, may raise or lower the limit that
    /// is stored in the file.
    @Test(arguments: [90.kiloByte, 10.kiloByte])
    func afterTheLastHandleIsClosedTheNextSizeDecides(next: DataSize) throws {
        try archives(disk: 30.kiloByte).insert(all: (0..<25).map { Parcel("\($0)", size: 1000) })
        try temporary.factory.close()
        let again = try archives(disk: next)
        #expect(again.store.limits.disk == next)
        #expect(again.maxSize == next + 1.megaByte)
        #expect(try again.store.count() == (next == 90.kiloByte ? 25 : 10))
        #expect(try archives(disk: 50.kiloByte).store.limits.disk == next)
    }

    @Test func anArchiveThatIsOpenedWithoutSizesKeepsTheStoredLimit() throws {
        _ = try archives(disk: 30.kiloByte)
        try temporary.factory.close()
        #expect(try archives().store.limits.disk == 30.kiloByte)
    }

    @Test func ignoredSizesAreNoticedOnce() throws {
        let lines = Locked<[String]>([])
        try LoggedLines.$observer.withValue({ line in lines.withLock { $0.append(line) } }) {
            _ = try archives(memory: 10.kiloByte, disk: 20.kiloByte)
            for _ in 0..<3 { _ = try archives(memory: 1.megaByte, disk: 1.megaByte) }
            _ = try archives(disk: 5.kiloByte, in: temporary.anotherFactory())
        }
        let all = lines.withLock { $0 }
        #expect(all.count == 1)
        for part in ["Parcel", "10 kB", "20 kB", "1 MB", "is ignored"] {
            #expect(all.first?.contains(part) == true, "\(part)")
        }
    }
}
