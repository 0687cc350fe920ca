import Foundation
import TestThreads
import Testing
import Vellum

/// C2: the disk limit belongs to the archive, and an archive never shrinks by accident.
@Suite(.ownThreads)
struct ArchiveDiskLimitTests {
    let temporary = TemporaryArchives()

    private var factory: ArchivesFactory { temporary.factory }

    /// Fills an archive of that size, closes it, and returns how many parcels it holds.
    private func fill(_ count: Int, diskLimit: DataSize?) throws -> Int {
        let store = try factory.store(for: Parcel.self, diskLimit: diskLimit)
        try store.record(contentsOf: (0..<count).map { Parcel("\($0)", size: 1000) })
        let held = try store.count()
        try factory.close()
        return held
    }

    @Test func openingWithoutALimitKeepsTheStoredLimit() throws {
        #expect(try fill(3000, diskLimit: 10.megaByte) == 3000)

        let store = try temporary.anotherFactory().store(for: Parcel.self)

        #expect(store.limits.disk == 10.megaByte)
        #expect(try store.count() == 3000)
        #expect(try store.statistics().removals == [:])
    }

    @Test func theStoredLimitAppliesAfterReopening() throws {
        _ = try fill(100, diskLimit: 50_000)
        let store = try factory.store(for: Parcel.self)
        try store.record(contentsOf: (100..<200).map { Parcel("\($0)", size: 1000) })
        #expect(try store.statistics().disk == StorageUsage(entries: 50, bytes: 50_000))
    }

    @Test func theFirstOpeningAppliesASmallerLimitAndReportsIt() async throws {
        _ = try fill(100, diskLimit: 1.megaByte)

        let store = try factory.store(for: Parcel.self, diskLimit: 20_000)

        #expect(try store.count() == 20)
        #expect(try store.statistics().removals == [.limitLowered: 80])
        for await event in store.events {
            guard case .limitLowered(let change) = event else {
                Issue.record("\(event)")
                break
            }
            #expect(
                change
                    == LimitChange(
                        from: 1.megaByte,
                        to: 20_000,
                        removed: StorageUsage(entries: 80, bytes: 80_000)
                    )
            )
            break
        }
        // The least recently used parcels were evicted.
        #expect(try store.access(archiveWithKey: "80") != nil)
        #expect(try store.access(archiveWithKey: "79") == nil)
    }

    @Test func aSmallerLimitThatAllObjectsFitInRemovesNothing() async throws {
        _ = try fill(10, diskLimit: 1.megaByte)
        let store = try factory.store(for: Parcel.self, diskLimit: 20_000)
        #expect(try store.count() == 10)
        #expect(try store.statistics().removals[.limitLowered] ?? 0 == 0)
        #expect(store.limits.disk == 20_000)
    }

    @Test func anOpenArchiveAcceptsALargerLimit() throws {
        let first = try factory.store(for: Parcel.self, memoryLimit: 5.kiloByte, diskLimit: 10_000)

        let second = try temporary.anotherFactory().store(
            for: Parcel.self,
            memoryLimit: 6.kiloByte,
            diskLimit: 30_000
        )

        #expect(first.limits == StorageLimits(memory: 6.kiloByte, disk: 30_000))
        try first.record(contentsOf: (0..<30).map { Parcel("\($0)", size: 1000) })
        #expect(try second.count() == 30)
        try factory.close()
        try temporary.anotherFactory().close()
        try second.close()
        #expect(try temporary.anotherFactory().store(for: Parcel.self).limits.disk == 30_000)
    }

    @Test func aSmallerLimitForAnOpenArchiveThrowsAnErrorThatNamesBothLimits() throws {
        let first = try factory.store(for: Parcel.self, diskLimit: 100.kiloByte)

        let error = #expect(throws: VellumError.self) {
            _ = try factory.store(for: Parcel.self, diskLimit: 20.kiloByte)
        }

        #expect(error?.code == .contradiction)
        for part in [Parcel.archiveName, "100 kB", "20 kB"] {
            #expect(error?.description.contains(part) == true, "\(part)")
        }
        #expect(first.limits.disk == 100.kiloByte)
    }

    /// The factory retains the archives that it has opened.
    @Test func releasingAllHandlesLeavesTheArchiveOpen() throws {
        _ = try factory.store(for: Parcel.self, diskLimit: 50_000)
        let error = #expect(throws: VellumError.self) {
            _ = try factory.store(for: Parcel.self, diskLimit: 5000)
        }
        #expect(error?.code == .contradiction)
        try factory.close()
        #expect(try factory.store(for: Parcel.self, diskLimit: 5000).limits.disk == 5000)
    }

    /// A default limit must not evict objects.
    @Test func aSmallerDefaultRemovesNothingAndALargerDefaultApplies() throws {
        func factory(_ size: DataSize) -> ArchivesFactory {
            ArchivesFactory(directory: temporary.factory.directory, defaultMaxDiskSize: size)
        }
        let large = factory(100_000)
        try large.store(for: Parcel.self).record(
            contentsOf: (0..<90).map { Parcel("\($0)", size: 1000) }
        )
        try large.close()

        let small = factory(5000)
        #expect(try small.store(for: Parcel.self).count() == 90)
        #expect(try small.store(for: Parcel.self).limits.disk == 100_000)
        try small.close()
        #expect(try factory(200_000).store(for: Parcel.self).limits.disk == 200_000)
    }

    @Test func aDefaultDoesNotRaiseAGivenLimit() throws {
        _ = try fill(1, diskLimit: 10_000)
        #expect(try factory.store(for: Parcel.self).limits.disk == 10_000)
    }

    @Test func unlimitedKeepsEverythingAndIsPrinted() throws {
        #expect("\(DataSize.unlimited)" == "unlimited")
        #expect("\(DataSize.bytes(.max))" == "unlimited")
        let store = try factory.store(for: Parcel.self, diskLimit: .unlimited)
        try store.record(contentsOf: (0..<3000).map { Parcel("\($0)", size: 1000) })
        #expect(try store.count() == 3000)
        try factory.close()
        let archives = try factory.archives(for: Parcel.self)
        #expect(archives.store.limits.disk == .unlimited)
        #expect("\(archives.maxSize)" == "unlimited")
    }

    // MARK: Property wrappers and nested objects

    private struct Settings {
        @Archived var parcel: Parcel?

        init(_ key: String, diskLimit: DataSize? = nil, in factory: ArchivesFactory) {
            _parcel = Archived(initialPrimaryKey: key, diskLimit: diskLimit, in: factory)
        }
    }

    @Test func aPropertyWrapperUsesTheStoredLimit() throws {
        _ = try fill(3000, diskLimit: 10.megaByte)
        let settings = Settings("0", in: factory)
        #expect(settings.parcel == Parcel("0", size: 1000))
        #expect(try factory.store(for: Parcel.self, diskLimit: 10.megaByte).count() == 3000)
    }

    @Test func aLimitCanBeRaisedAfterAPropertyWrapperWasRead() throws {
        let settings = Settings("0", in: factory)
        #expect(settings.parcel == nil)
        let store = try factory.store(
            for: Parcel.self,
            memoryLimit: 2.megaByte,
            diskLimit: 100.megaByte
        )
        #expect(store.limits == StorageLimits(memory: 2.megaByte, disk: 100.megaByte))
    }

    @Test func aPropertyWrapperMaySetALimit() throws {
        let settings = Settings("0", diskLimit: 7000, in: factory)
        settings.parcel = Parcel("0")
        #expect(try factory.store(for: Parcel.self).limits.disk == 7000)
    }

    /// An archive that a factory knows only from nested objects may be open in another factory.
    @Test func anArchiveThatAnotherFactoryHasOpenIsNotShrunk() throws {
        struct Letter: ArchiveCodable {
            static var archiveName: String { "Letter" }
            var primaryKey: String
            var sender: User
        }
        try factory.store(for: Letter.self).record(
            Letter(primaryKey: "a", sender: User(name: "ann"))
        )
        let open = try temporary.anotherFactory().store(
            for: User.self,
            memoryLimit: 5.megaByte,
            diskLimit: 20.megaByte
        )
        let error = #expect(throws: VellumError.self) {
            _ = try factory.store(for: User.self, diskLimit: 1.kiloByte)
        }
        #expect(error?.code == .contradiction)
        _ = try factory.store(for: User.self)
        #expect(open.limits == StorageLimits(memory: 5.megaByte, disk: 20.megaByte))
    }

    @Test func anArchiveOpenedForNestedObjectsAcceptsASmallerLimit() throws {
        struct Letter: ArchiveCodable {
            static var archiveName: String { "Letter" }
            var primaryKey: String
            var sender: User
        }
        try factory.store(for: Letter.self).record(
            Letter(primaryKey: "a", sender: User(name: "ann"))
        )
        #expect(try factory.store(for: User.self, diskLimit: 1.kiloByte).limits.disk == 1.kiloByte)
        #expect(try factory.store(for: User.self).count() == 1)
    }
}
