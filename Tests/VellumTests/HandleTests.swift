import Foundation
import MiniCache
import TestThreads
import Testing
import Vellum

/// Handles are independent: closing one does not affect others. (C10)
@Suite(.ownThreads)
struct HandleTests {
    let temporary = TemporaryArchives()

    @Test func closingAFactoryDoesNotCloseHandlesOfAnotherFactory() throws {
        let other = temporary.anotherFactory()
        let (mine, theirs) = (
            try temporary.factory.store(for: User.self), try other.store(for: User.self)
        )
        try mine.record(User(name: "ann"))

        try temporary.factory.close()

        #expect(try theirs.access(archiveWithKey: "ann") == User(name: "ann"))
        try theirs.record(User(name: "bob"))
        #expect(try theirs.count() == 2)
        let error = #expect(throws: VellumError.self) { _ = try mine.access(archiveWithKey: "ann") }
        #expect(error?.code == .closed)
        #expect(throws: VellumError.self) { _ = try mine.count() }
        #expect(throws: VellumError.self) { try mine.record(User(name: "cleo")) }
        #expect(throws: VellumError.self) { try mine.flush() }
    }

    @Test func closingAHandleDoesNotCloseOtherHandles() throws {
        let (first, second) = (
            try temporary.factory.store(for: User.self),
            try temporary.factory.archives(for: User.self)
        )
        try first.record(User(name: "ann"))

        try first.close()
        try first.close()

        #expect(second.access(archiveWithKey: "ann") == User(name: "ann"))
        second.record(User(name: "bob"))
        #expect(try second.store.count() == 2)
        #expect(throws: VellumError.self) { _ = try first.count() }
    }

    @Test func aTransactionWithAClosedHandleWritesNothing() throws {
        let (first, second) = (
            try temporary.factory.store(for: User.self), try temporary.factory.store(for: User.self)
        )
        try first.close()
        let error = #expect(throws: VellumError.self) {
            try temporary.factory.transaction { transaction in
                try transaction.record(User(name: "ann"), in: second)
                transaction.deleteAll(in: first)
            }
        }
        #expect(error?.code == .closed)
        #expect(try second.count() == 0)
    }

    @Test func theLastHandleClosesTheArchive() throws {
        let (first, second) = (
            try temporary.factory.store(for: User.self), try temporary.factory.store(for: User.self)
        )
        try first.record(User(name: "ann"))
        try first.close()
        try second.close()
        let third = try temporary.factory.store(for: User.self)
        #expect(try third.statistics().memory.entries == 0)
        #expect(try third.access(archiveWithKey: "ann") != nil)
    }

    @Test func aReleasedHandleDoesNotKeepTheArchiveOpen() throws {
        for _ in 0..<200 { _ = try temporary.factory.store(for: User.self) }
        let store = try temporary.factory.store(for: User.self)
        try store.record(User(name: "ann"))
        try store.close()
        #expect(try temporary.factory.store(for: User.self).statistics().memory.entries == 0)
    }

    @Test func openingAndClosingHandlesConcurrentlyDoesNotAffectOtherHandles() async throws {
        let keeper = try temporary.anotherFactory().store(for: User.self)
        try keeper.record(User(name: "ann"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask { [temporary] in
                    for round in 0..<20 {
                        let factory = temporary.anotherFactory()
                        let store = try factory.store(for: User.self)
                        try store.record(User(name: "\(number) \(round)"))
                        if round % 2 == 0 { try store.close() }
                        try factory.close()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try keeper.count() == 161)
    }

    @Test func openingSucceedsWhileOtherHandlesAreClosed() async throws {
        let factories = (0..<4).map { _ in temporary.anotherFactory() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for factory in factories {
                group.addTask {
                    for round in 0..<200 {
                        let store = try factory.store(for: User.self)
                        if round % 20 == 0 { try store.record(User(name: "\(round)")) }
                        try store.close()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try temporary.factory.store(for: User.self).count() == 10)
    }

    @Test func aSuspendedHandleCanBeClosed() throws {
        let store = try temporary.factory.store(for: User.self)
        try store.record(User(name: "ann"))
        try temporary.factory.suspend()
        try store.close()
        try temporary.factory.close()
        #expect(try temporary.factory.store(for: User.self).count() == 1)
    }

    @Test func closingAHandleEndsItsStreamsAndTransactions() async throws {
        let (first, second) = (
            try temporary.factory.store(for: User.self), try temporary.factory.store(for: User.self)
        )
        try first.record(contentsOf: (0..<1000).map { User(name: "\($0)") })
        var stream = first.stream().makeAsyncIterator()
        #expect(try await stream.next() != nil)
        let error = #expect(throws: VellumError.self) {
            try temporary.factory.transaction { transaction in
                try transaction.record(User(name: "new"), in: first)
                try first.close()
            }
        }
        #expect(error?.code == .closed)
        await #expect(throws: VellumError.self) { while try await stream.next() != nil {} }
        #expect(try second.count() == 1000)
    }

    /// The target of a symbolic link may belong to another program.
    @Test func theTargetOfASymbolicLinkIsNotRenamed() throws {
        let diary = temporary.directory.appendingPathComponent("diary.txt")
        try FileManager.default.createDirectory(
            at: temporary.factory.directory,
            withIntermediateDirectories: true
        )
        try Data("Dear diary, this is long enough to be looked at.".utf8).write(to: diary)
        try FileManager.default.createSymbolicLink(at: temporary.file, withDestinationURL: diary)
        let error = #expect(throws: VellumError.self) {
            _ = try temporary.factory.archives(for: User.self)
        }
        #expect(error?.code == .notADatabase)
        #expect(try Data(contentsOf: diary).starts(with: Data("Dear diary".utf8)))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: temporary.directory.path).sorted()
                == ["archives", "diary.txt"]
        )
    }

    // MARK: Kinds of files

    @Test func aCacheAndAnArchiveNeverShareAFile() throws {
        let users = try temporary.factory.store(for: User.self)
        try users.record(User(name: "ann"))

        for isOpen in [true, false] {
            let manager = MiniCacheManager(name: "Archives", directory: temporary.factory.directory)
            let cache: MiniCache<String, Int> = manager.cache(
                cacheName: "numbers",
                cacheVersion: .custom("1"),
                maxAge: .days(1)
            )
            cache["a"] = 1
            #expect(cache["a"] == nil)
            let error = #expect(throws: MiniCacheError.self) { try cache.set(1, forKey: "a") }
            #expect(error?.code == .wrongKind)
            #expect(error?.message.contains("archives of Vellum") == true)
            if isOpen { try temporary.factory.close() }
        }
        #expect(try temporary.factory.store(for: User.self).count() == 1)
    }

    // MARK: Keys

    @Test func aKeyThatIsTooLongIsAnErrorWhenRecordedAndAMissWhenAccessed() throws {
        let long = String(repeating: "k", count: 65_536)
        let store = try temporary.factory.store(for: User.self)
        try store.record(User(name: long))
        #expect(try store.access(archiveWithKey: long) != nil)
        let error = #expect(throws: VellumError.self) { try store.record(User(name: long + "k")) }
        #expect(error?.code == .keyTooLong)
        #expect(error?.message.contains("65537") == true)
        #expect(try store.access(archiveWithKey: long + "k") == nil)
        #expect(try store.delete(archiveWithKey: long + "k") == false)
        #expect(try store.count() == 1)
    }
}
