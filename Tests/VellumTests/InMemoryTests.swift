import Foundation
import MiniCache
import ShallowsSQLite
import TestThreads
import Testing
import Vellum
import VellumTestSupport

/// Factories and managers that leave nothing behind, and folders with attributes of Apple
/// platforms.
@Suite(.ownThreads)
struct InMemoryTests {
    @Test func handlesOfOneFactoryShareItsArchivesAndOthersDoNot() throws {
        let factory = ArchivesFactory.inMemory()
        let (one, other) = (try factory.store(for: User.self), try factory.store(for: User.self))
        try one.record(User(name: "ann"))
        #expect(try other.access(archiveWithKey: "ann") != nil)
        #expect(try ArchivesFactory.inMemory().store(for: User.self).count() == 0)
    }

    @Test func anArchiveIsGoneWithItsLastHandle() throws {
        var factory: ArchivesFactory? = .inMemory()
        let folder = try #require(factory).directory
        var store: ArchiveStore<User>? = try factory?.store()
        factory = nil
        // The handle keeps it, without the factory.
        try store?.record(User(name: "ann"))
        #expect(try store?.count() == 1)
        #expect(FileManager.default.fileExists(atPath: folder.path))
        store = nil
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func aFactoryThatWasClosedGoesOnWithItsObjects() throws {
        let factory = ArchivesFactory.inMemory()
        try factory.store(for: User.self).record(User(name: "ann"))
        try factory.close()
        #expect(try factory.store(for: User.self).count() == 1)
    }

    @Test func aFactoryThatWasNotUsedMakesNoFolder() {
        let factory = ArchivesFactory.inMemory()
        #expect(!FileManager.default.fileExists(atPath: factory.directory.path))
    }

    @Test func limitsAndAgesAreThoseOfFiles() throws {
        let clock = ManualClock()
        let factory = ArchivesFactory.inMemory(clock: clock.wallClock)
        let store = try factory.store(
            for: User.self,
            memoryLimit: 1.byte,
            diskLimit: 1.kiloByte,
            expiration: .after(.seconds(10))
        )
        for number in 0..<100 { try store.record(User(name: "user \(number)")) }
        #expect(try store.statistics().disk.bytes <= 1.kiloByte.bytes)
        #expect(try store.access(archiveWithKey: "user 99") != nil)
        clock.advance(by: .seconds(11))
        #expect(try store.access(archiveWithKey: "user 99") == nil)
    }

    @Test func cachesAreGoneWithTheirLastHandle() throws {
        var cache: MiniCache<String, Int>?
        var folder: URL?
        do {
            let manager = MiniCacheManager.inMemory()
            folder = manager.url.deletingLastPathComponent()
            cache = manager.cache(cacheName: "Test", cacheVersion: .custom("1"), maxAge: .hours(1))
        }
        let path = try #require(folder).path
        try cache?.set(1, forKey: "a")
        #expect(cache?["a"] == 1)
        #expect(FileManager.default.fileExists(atPath: path))
        let others: MiniCache<String, Int> = MiniCacheManager.inMemory()
            .cache(cacheName: "Test", cacheVersion: .custom("1"), maxAge: .hours(1))
        #expect(try others.value(forKey: "a") == nil)
        cache = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    /// What they do is shown on Apple platforms only; everything else is as without them.
    @Test func aFolderMayHaveAttributes() async throws {
        let folder = try TemporaryDirectory()
        let factory = ArchivesFactory(
            directory: folder.file("archives"),
            fileProtection: .complete,
            excludedFromBackup: true
        )
        try factory.store(for: User.self).record(User(name: "ann"))
        try factory.close()
        #expect(
            try ArchivesFactory(directory: folder.file("archives"), excludedFromBackup: true).store(
                for: User.self
            ).count() == 1
        )
        let manager = MiniCacheManager(
            name: "Test",
            directory: folder.file("caches"),
            fileProtection: .completeUnlessOpen
        )
        let cache: MiniCache<String, Int> = manager.cache(
            cacheName: "Test",
            cacheVersion: .custom("1"),
            maxAge: .hours(1)
        )
        try cache.set(1, forKey: "a")
        #expect(try cache.value(forKey: "a") == 1)
        let options = SQLiteStorageOptions(fileProtection: .complete, excludedFromBackup: true)
        #expect(
            options.fileProtection?.rawValue == FileProtectionType.complete.rawValue
                && options.excludedFromBackup
        )
        let storage = SQLiteStorage<Int>(fileURL: folder.file("storage.sqlite"), options: options)
        try await storage.set(1, forKey: "a")
        #expect(try await storage.retrieve(forKey: "a") == 1)
    }
}
