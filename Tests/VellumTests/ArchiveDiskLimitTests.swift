import Foundation
import Testing
import Vellum

/// C2: the disk limit belongs to the archive, and an archive never shrinks by accident.
@Suite(.timeLimit(.minutes(60)))
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

    @Test func openingWithoutASizeKeepsTheStoredLimit() throws {
        #expect(try fill(3000, diskLimit: 10.megaByte) == 3000)

        let store = try temporary.anotherFactory().store(for: Parcel.self)

        #expect(store.limits.disk == 10.megaByte)
        #expect(try store.count() == 3000)
        #expect(try store.statistics().removals == [:])
    }

    @Test func theStoredLimitHoldsForWhatIsRecordedAfterReopening() throws {
        _ = try fill(100, diskLimit: 50_000)
        let store = try factory.store(for: Parcel.self)
        try store.record(contentsOf: (100..<200).map { Parcel("\($0)", size: 1000) })
        #expect(try store.statistics().disk == StorageUsage(entries: 50, bytes: 50_000))
    }

    @Test func theFirstOpeningAppliesASmallerSizeAndReportsIt() async throws {
        _ = try fill(100, diskLimit: 1.megaByte)

        let store = try factory.store(for: Parcel.self, diskLimit: 20_000)

        #expect(try store.count() == 20)
        #expect(try store.statistics().removals == [.limitLowered: 80])
        for await event in store.events {
            guard case .limitLowered(let change) = event else {
                Issue.record("\(event)")
                break
            }
            #expect(change == LimitChange(from: 1.megaByte, to: 20_000, removed: StorageUsage(entries: 80, bytes: 80_000)))
            break
        }
        // The coldest left.
        #expect(try store.access(archiveWithKey: "80") != nil)
        #expect(try store.access(archiveWithKey: "79") == nil)
    }

    @Test func aSmallerSizeThatEverythingFitsIntoRemovesNothing() async throws {
        _ = try fill(10, diskLimit: 1.megaByte)
        let store = try factory.store(for: Parcel.self, diskLimit: 20_000)
        #expect(try store.count() == 10)
        #expect(try store.statistics().removals[.limitLowered] ?? 0 == 0)
        #expect(store.limits.disk == 20_000)
    }

    @Test func anOpenArchiveIsGrantedALargerSizeAtOnce() throws {
        let first = try factory.store(for: Parcel.self, memoryLimit: 5.kiloByte, diskLimit: 10_000)

        let second = try temporary.anotherFactory().store(for: Parcel.self, memoryLimit: 6.kiloByte, diskLimit: 30_000)

        #expect(first.limits == (6.kiloByte, 30_000))
        try first.record(contentsOf: (0..<30).map { Parcel("\($0)", size: 1000) })
        #expect(try second.count() == 30)
        try factory.close()
        try temporary.anotherFactory().close()
        try second.close()
        #expect(try temporary.anotherFactory().store(for: Parcel.self).limits.disk == 30_000)
    }

    @Test func anOpenArchiveIsRefusedASmallerSizeByAnErrorThatNamesBoth() throws {
        let first = try factory.store(for: Parcel.self, diskLimit: 100.kiloByte)

        let error = #expect(throws: VellumError.self) { _ = try factory.store(for: Parcel.self, diskLimit: 20.kiloByte) }

        #expect(error?.code == .contradiction)
        for part in [Parcel.archiveName, "100 kB", "20 kB"] { #expect(error?.message.contains(part) == true, "\(part)") }
        #expect(first.limits.disk == 100.kiloByte)
    }

    @Test func aSmallerSizeForAnOpenArchiveIsReportedByTheFaceThatDoesNotThrow() async throws {
        let first = try factory.archives(for: Parcel.self, trySetMaxDiskSize: 100.kiloByte)
        let failures = first.failures
        let second = try factory.archives(for: Parcel.self, trySetMaxDiskSize: 20.kiloByte)
        #expect(second.store.limits.disk == 100.kiloByte)
        for await failure in failures {
            #expect(failure.code == .contradiction && failure.message.contains("20 kB"))
            break
        }
    }

    /// The factory keeps what it has opened.
    @Test func anArchiveWhoseHandlesWereReleasedIsOpenUntilItIsClosed() throws {
        _ = try factory.store(for: Parcel.self, diskLimit: 50_000)
        let error = #expect(throws: VellumError.self) { _ = try factory.store(for: Parcel.self, diskLimit: 5000) }
        #expect(error?.code == .contradiction)
        try factory.close()
        #expect(try factory.store(for: Parcel.self, diskLimit: 5000).limits.disk == 5000)
    }

    /// What nobody gave an archive is no reason to take from it.
    @Test func aSmallerDefaultTakesNothingAwayAndALargerOneCounts() throws {
        func factory(_ size: DataSize) -> ArchivesFactory {
            ArchivesFactory(directory: temporary.factory.directory, defaultMaxDiskSize: size)
        }
        let large = factory(100_000)
        try large.store(for: Parcel.self).record(contentsOf: (0..<90).map { Parcel("\($0)", size: 1000) })
        try large.close()

        let small = factory(5000)
        #expect(try small.store(for: Parcel.self).count() == 90)
        #expect(try small.store(for: Parcel.self).limits.disk == 100_000)
        try small.close()
        #expect(try factory(200_000).store(for: Parcel.self).limits.disk == 200_000)
    }

    @Test func aGivenSizeIsNotRaisedByADefault() throws {
        _ = try fill(1, diskLimit: 10_000)
        #expect(try factory.store(for: Parcel.self).limits.disk == 10_000)
    }

    @Test func unlimitedKeepsEverythingAndPrintsSo() throws {
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

    // MARK: Properties

    private struct Settings {
        @Archived var parcel: Parcel?

        init(_ key: String, diskLimit: DataSize? = nil, in factory: ArchivesFactory) {
            _parcel = Archived(initialPrimaryKey: key, diskLimit: diskLimit, in: factory)
        }
    }

    @Test func aPropertyTakesTheStoredLimit() throws {
        _ = try fill(3000, diskLimit: 10.megaByte)
        let settings = Settings("0", in: factory)
        #expect(settings.parcel == Parcel("0", size: 1000))
        #expect(try factory.store(for: Parcel.self, diskLimit: 10.megaByte).count() == 3000)
    }

    @Test func aPropertyIsReadBeforeAnyoneAsksForMore() throws {
        let settings = Settings("0", in: factory)
        #expect(settings.parcel == nil)
        let store = try factory.store(for: Parcel.self, memoryLimit: 2.megaByte, diskLimit: 100.megaByte)
        #expect(store.limits == (2.megaByte, 100.megaByte))
    }

    @Test func aPropertyMayGiveASize() throws {
        var settings = Settings("0", diskLimit: 7000, in: factory)
        settings.parcel = Parcel("0")
        #expect(try factory.store(for: Parcel.self).limits.disk == 7000)
    }

    /// What a factory knows as a property alone may be open elsewhere.
    @Test func aTypeThatOneFactoryKnowsAsAPropertyAloneIsNotShrunkWhileAnotherHasItOpen() throws {
        struct Letter: ArchiveCodable {
            static var archiveName: String { "Letter" }
            var primaryKey: String
            var sender: User
        }
        try factory.store(for: Letter.self).record(Letter(primaryKey: "a", sender: User(name: "ann")))
        let open = try temporary.anotherFactory().store(for: User.self, memoryLimit: 5.megaByte, diskLimit: 20.megaByte)
        let error = #expect(throws: VellumError.self) { _ = try factory.store(for: User.self, diskLimit: 1.kiloByte) }
        #expect(error?.code == .contradiction)
        _ = try factory.store(for: User.self)
        #expect(open.limits == (5.megaByte, 20.megaByte))
    }

    @Test func anArchiveThatOnlyPropertiesOfRecordedObjectsAskedForIsGivenASize() throws {
        struct Letter: ArchiveCodable {
            static var archiveName: String { "Letter" }
            var primaryKey: String
            var sender: User
        }
        try factory.store(for: Letter.self).record(Letter(primaryKey: "a", sender: User(name: "ann")))
        #expect(try factory.store(for: User.self, diskLimit: 1.kiloByte).limits.disk == 1.kiloByte)
        #expect(try factory.store(for: User.self).count() == 1)
    }
}
