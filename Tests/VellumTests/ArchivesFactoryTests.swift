import Foundation
import TestThreads
import Testing
import Vellum
import VellumTesting

@Suite(.ownThreads)
struct ArchivesFactoryTests {
    let temporary = TemporaryArchives()

    @Test func aFactoryCreatesNoFilesUntilAnArchiveIsOpened() throws {
        #expect(!FileManager.default.fileExists(atPath: temporary.factory.directory.path))
    }

    @Test func filesAndFoldersAreReadableByTheirOwnerOnly() throws {
        try temporary.factory.store(for: User.self).record(User(name: "ann"))

        let folder = temporary.factory.directory.path
        #expect(try mode(of: folder) == 0o700)
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            #expect(try mode(of: folder + "/" + file) == 0o600)
        }
    }

    /// P42.
    @Test func aSuspendedFactoryThrowsForDiskAccessUntilItIsResumed() throws {
        let store = try temporary.factory.store(for: User.self)
        try store.record(User(name: "ann"))
        try temporary.factory.suspend()
        #expect(try store.access(archiveWithKey: "ann") != nil)
        let error = #expect(throws: VellumError.self) { try store.record(User(name: "bob")) }
        #expect(error?.code == .suspended)
        try temporary.factory.resume()
        try store.record(User(name: "bob"))
        #expect(try store.count() == 2)
    }

    /// The locks are those of the process.
    @Test func aFactorySuspendsTheFileThatAnotherHasOpen() throws {
        let store = try temporary.factory.store(for: User.self)
        try store.record(User(name: "ann"))
        let other = ArchivesFactory(directory: temporary.factory.directory)
        try other.suspend()
        let error = #expect(throws: VellumError.self) { try store.record(User(name: "bob")) }
        #expect(error?.code == .suspended)
        try other.resume()
        try store.record(User(name: "bob"))
        #expect(try store.count() == 2)
    }

    /// P7.
    @Test func aFactoryRecreatesADeletedFolder() throws {
        let store = try temporary.factory.store(for: User.self)
        try store.record(User(name: "ann"))
        try FileManager.default.removeItem(at: temporary.factory.directory)
        // The store checks every few milliseconds whether its files still exist.
        var code: VellumError.Code?
        while code == nil {
            do { try store.record(User(name: "bob")) } catch {
                code = (error as? VellumError)?.code
            }
        }
        #expect(code == .vanished)
        let new = try temporary.factory.store(for: User.self)
        #expect(try new.count() == 0)
        try new.record(User(name: "cleo"))
        #expect(try new.access(archiveWithKey: "cleo") != nil)
    }

    private func mode(of path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?
            .intValue
    }

    @Test func theDefaultLimitsOfAFactoryApply() throws {
        let factory = ArchivesFactory(
            directory: temporary.factory.directory,
            defaultMaxMemorySize: 5.kiloByte,
            defaultMaxDiskSize: 7.kiloByte
        )

        #expect(try factory.archives(for: User.self).maxSize == 12.kiloByte)
        #expect(
            try factory.store(for: Parcel.self, diskLimit: 9.kiloByte).limits
                == StorageLimits(memory: 5.kiloByte, disk: 9.kiloByte)
        )
    }

    @Test func factoriesOfDifferentFoldersAreIndependent() throws {
        let first = try temporary.anotherFactory("first").store(for: User.self)
        let second = try temporary.anotherFactory("second").store(for: User.self)

        try first.record(User(name: "ann"))

        #expect(try second.count() == 0)
    }

    // MARK: One store per file (C10)

    @Test(arguments: [
        "archives", "archives/", "./archives", "other/../archives", "link", "link/",
        "../NAME/archives",
    ])
    func differentSpellingsOfAPathShareOneStore(spelling: String) throws {
        let files = FileManager.default
        try files.createDirectory(
            at: temporary.directory.appendingPathComponent("other"),
            withIntermediateDirectories: true
        )
        try files.createSymbolicLink(
            at: temporary.directory.appendingPathComponent("link"),
            withDestinationURL: temporary.factory.directory
        )
        let first = try temporary.factory.store(for: User.self, memoryLimit: 5.kiloByte)
        try first.record(User(name: "ann"))

        let name = temporary.directory.lastPathComponent
        let factory = temporary.anotherFactory(
            spelling.replacingOccurrences(of: "NAME", with: name)
        )
        let second = try factory.archives(for: User.self).store

        #expect(second.limits == first.limits)
        #expect(try second.access(archiveWithKey: "ann") == User(name: "ann"))
        // Not all of the statistics: what waits for a thread is that of the process.
        #expect(try [first, second].map { try $0.statistics().memoryHits } == [1, 1])
    }

    @Test(
        arguments: [(1.kiloByte, nil), (nil, 1.kiloByte), (1.kiloByte, 1.kiloByte)]
            as [(DataSize?, DataSize?)]
    )
    func contradictingLimitsThrowOrAreIgnored(memory: DataSize?, disk: DataSize?) throws {
        let first = try temporary.factory.store(
            for: User.self,
            memoryLimit: 5.kiloByte,
            diskLimit: 6.kiloByte
        )

        for factory in [temporary.factory, temporary.anotherFactory()] {
            let error = #expect(throws: VellumError.self) {
                _ = try factory.store(
                    for: User.self,
                    memoryLimit: memory ?? 5.kiloByte,
                    diskLimit: disk ?? 6.kiloByte
                )
            }
            #expect(error?.code == .contradiction)
        }
        let shared = try temporary.factory.archives(
            for: User.self,
            trySetMaxMemorySize: memory,
            trySetMaxDiskSize: disk
        )
        #expect(shared.store.limits == first.limits)
        #expect(first.limits == StorageLimits(memory: 5.kiloByte, disk: 6.kiloByte))
    }

    @Test func omittedLimitsDoNotContradict() throws {
        let first = try temporary.factory.store(
            for: User.self,
            memoryLimit: 5.kiloByte,
            diskLimit: 6.kiloByte
        )

        #expect(try temporary.factory.store(for: User.self).limits == first.limits)
        #expect(
            try temporary.factory.store(for: User.self, memoryLimit: 5.kiloByte).limits
                == first.limits
        )
        #expect(
            try temporary.factory.store(for: User.self, diskLimit: 6.kiloByte).limits
                == first.limits
        )
    }

    @Test func omittedLimitsDoNotContradictAnotherFactory() throws {
        let first = try temporary.factory.store(
            for: User.self,
            memoryLimit: 5.kiloByte,
            diskLimit: 6.kiloByte
        )

        #expect(try temporary.anotherFactory().store(for: User.self).limits == first.limits)
    }

    @Test func aDifferentDurabilityIsAContradiction() throws {
        _ = try temporary.factory.store(for: User.self)

        let error = #expect(throws: VellumError.self) {
            _ = try temporary.anotherFactory(durability: .powerSafe).store(for: User.self)
        }

        #expect(error?.code == .contradiction)
    }

    @Test func concurrentOpeningsShareOneArchive() async throws {
        let factories = [temporary.factory, temporary.anotherFactory()]

        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try factories[number % 2].store(for: User.self).record(User(name: "\(number)"))
                }
            }
            try await group.waitForAll()
        }

        let store = try temporary.factory.store(for: User.self)
        #expect(try store.count() == 20)
        #expect(try store.statistics().memory.entries == 20)
    }

    // MARK: Closing

    @Test func aClosedFactoryCanBeUsedAgain() throws {
        let before = try temporary.factory.store(for: User.self)
        try before.record(User(name: "ann"))

        try temporary.factory.close()

        let after = try temporary.factory.store(for: User.self, memoryLimit: 5.kiloByte)
        #expect(try after.access(archiveWithKey: "ann") == User(name: "ann"))
        #expect(after.limits.memory == 5.kiloByte)
        #expect(throws: VellumError.self) { _ = try before.count() }
    }

    @Test func closingAFactoryKeepsItsSettingsAndThoseOfItsHandles() throws {
        let factory = ArchivesFactory(
            directory: temporary.factory.directory,
            durability: .powerSafe,
            clock: temporary.clock.wallClock
        )
        factory.defaultMaxMemorySize = 5.kiloByte
        factory.defaultMaxDiskSize = 7.kiloByte
        let limits = StorageLimits(memory: 5.kiloByte, disk: 7.kiloByte)

        // The second round opens the file again.
        for _ in 0..<2 {
            let store = try factory.store(for: User.self, expiration: .after(.seconds(60)))
            let archives = try factory.archives(for: User.self)
            #expect(store.limits == limits && archives.store.limits == limits)
            try store.record(User(name: "ann"))
            #expect(
                try store.metadata(forKey: "ann")?.expires
                    == temporary.clock.now.addingTimeInterval(60)
            )
            let other = temporary.anotherFactory(durability: .crashSafe)
            #expect(throws: VellumError.self) { _ = try other.store(for: User.self) }
            try other.close()

            try factory.close()

            #expect(throws: VellumError.self) { _ = try store.count() }
            #expect(store.expiration == .after(.seconds(60)) && archives.store.expiration == nil)
            #expect(store.limits == limits && archives.maxSize == 12.kiloByte)
            #expect(factory.directory == temporary.factory.directory)
            #expect(factory.durability == .powerSafe)
            #expect(
                factory.defaultMaxMemorySize == 5.kiloByte
                    && factory.defaultMaxDiskSize == 7.kiloByte
            )
        }

        // A setting of a closed factory applies to the next opening.
        factory.defaultMaxMemorySize = 6.kiloByte
        factory.defaultMaxDiskSize = 8.kiloByte
        #expect(
            try factory.store(for: User.self).limits
                == StorageLimits(memory: 6.kiloByte, disk: 8.kiloByte)
        )
        try factory.close()
    }

    @Test func anotherFactoryOfTheFolderStaysUsableAfterOneIsClosed() throws {
        let other = temporary.anotherFactory()
        try other.store(for: User.self).record(User(name: "ann"))
        _ = try temporary.factory.store(for: User.self)

        try temporary.factory.close()

        #expect(try other.store(for: User.self).access(archiveWithKey: "ann") == User(name: "ann"))
        #expect(try other.store(for: Parcel.self).count() == 0)
    }

    @Test func anotherFactoryReopensAClosedArchive() throws {
        let other = temporary.anotherFactory()
        try other.store(for: User.self).record(User(name: "ann"))

        try temporary.factory.store(for: User.self).close()

        #expect(try other.store(for: User.self).access(archiveWithKey: "ann") == User(name: "ann"))
    }
}
