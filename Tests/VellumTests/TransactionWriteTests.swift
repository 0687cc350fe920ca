import Foundation
import MiniCache
import TestThreads
import Testing
import Vellum
import VellumTestSupport

/// Writes inside the closure of a transaction that are not by the transaction.
@Suite(.ownThreads)
struct TransactionWriteTests {
    let temporary = TemporaryArchives()
    let parcels: ArchiveStore<Parcel>
    let users: ArchiveStore<User>

    init() throws {
        parcels = try temporary.factory.store()
        users = try temporary.factory.store()
        try parcels.record(Parcel("old"))
    }

    private struct Write: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let run: @Sendable (TransactionWriteTests) throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (TransactionWriteTests) throws -> Void) {
            (testDescription, self.run) = (name, run)
        }
    }

    private static let throwing = [
        Write("record") { try $0.parcels.record(Parcel("old", size: 7)) },
        Write("record of another archive") { try $0.users.record(User(name: "ann")) },
        Write("record of several") {
            try $0.parcels.record(contentsOf: [Parcel("a"), Parcel("b")])
        },
        Write("record with nested objects") {
            try $0.temporary.factory.store(for: Crate.self).record(
                Crate(content: User(name: "ann"))
            )
        },
        Write("recordIfAbsent") { try $0.parcels.recordIfAbsent(Parcel("new")) },
        Write("update") {
            try $0.parcels.update(archiveWithKey: "old") { $0 = Parcel("old", size: 7) }
        },
        Write("update that deletes") { try $0.parcels.update(archiveWithKey: "old") { $0 = nil } },
        Write("delete") { try $0.parcels.delete(archiveWithKey: "old") },
        Write("delete of several") { try $0.parcels.delete(allKeys: ["old"]) },
        Write("deleteAll") { try $0.parcels.deleteAll() },
        Write("deleteAll by prefix") { try $0.parcels.deleteAll(prefix: "o") },
        Write("deleteAll by use") { try $0.parcels.deleteAll(lastUsedBefore: .distantFuture) },
        Write("deleteAll by query") { try $0.parcels.deleteAll(where: #Predicate { $0.size > 0 }) },
        Write("drop") { try $0.temporary.factory.drop(archiveNamed: "nothing") },
        Write("another handle") { try $0.temporary.factory.store(for: Parcel.self).deleteAll() },
        Write("another factory on the file") {
            try $0.temporary.anotherFactory("./archives").store(for: Parcel.self).deleteAll()
        },
        Write("a limit that is the first") {
            _ = try $0.temporary.factory.archives(for: Parcel.self, trySetMaxDiskSize: 1.megaByte)
        },
        Write("another transaction") { tests in
            try tests.temporary.factory.transaction { $0.deleteAll(in: tests.parcels) }
        },
    ]

    private static let silent = [
        Write("a manager's record") {
            try $0.temporary.factory.archives(for: Parcel.self).record(Parcel("new"))
        },
        Write("a manager's insert") {
            try $0.temporary.factory.archives(for: Parcel.self).insert(all: [Parcel("new")])
        },
        Write("a manager's delete") {
            try $0.temporary.factory.archives(for: Parcel.self).delete(archiveWithKey: "old")
        },
        Write("a manager's deleteAll") {
            try $0.temporary.factory.archives(for: Parcel.self).deleteAll()
        },
        Write("a property") { tests in
            @Archived(in: tests.temporary.factory) var parcel: Parcel?
            parcel = Parcel("new")
        },
        Write("a store whose error is dropped") { tests in
            _ = try? tests.parcels.record(Parcel("new"))
        },
    ]

    @Test(arguments: throwing)
    private func aWriteThatIsNotByTheTransactionThrowsBeforeAnythingIsWritten(_ write: Write) throws
    {
        for reads in [false, true] {
            var runs = 0
            let error = #expect(throws: VellumError.self) {
                try temporary.factory.transaction { transaction in
                    runs += 1
                    if reads { _ = try transaction.access(archiveWithKey: "old", in: parcels) }
                    try transaction.record(Parcel("by the transaction"), in: parcels)
                    try write.run(self)
                }
            }
            #expect(
                error?.code == .recursiveUpdate
                    && error?.message.hasPrefix("Write by the transaction: ") == true
            )
            #expect(runs == 1)
            #expect(try parcels.accessAll() == [Parcel("old")])
            #expect(try users.count() == 0)
        }
        // The rule ends with the closure.
        try write.run(self)
    }

    @Test(arguments: silent)
    private func aWriteThatCannotThrowMakesTheTransactionThrowAtItsEnd(_ write: Write) throws {
        let error = #expect(throws: VellumError.self) {
            try temporary.factory.transaction { transaction in
                try transaction.record(Parcel("by the transaction"), in: parcels)
                try write.run(self)
            }
        }
        #expect(error?.code == .recursiveUpdate)
        #expect(try parcels.accessAll() == [Parcel("old")])
    }

    @Test func aWriteThatCannotThrowIsReportedToFailures() async throws {
        let manager = try temporary.factory.archives(for: Parcel.self)
        var failures = manager.failures.makeAsyncIterator()
        #expect(throws: VellumError.self) {
            try temporary.factory.transaction { (_) -> Void in manager.record(Parcel("new")) }
        }
        let failure = try await failures.next()
        #expect(failure?.code == .recursiveUpdate)
    }

    @Test func readsInsideTheClosureAreAllowed() throws {
        try temporary.factory.transaction { transaction in
            #expect(try parcels.access(archiveWithKey: "old") != nil)
            #expect(try parcels.fetch(where: #Predicate { $0.size > 0 }).count == 1)
            let inner = try temporary.factory.transaction {
                try $0.access(archiveWithKey: "old", in: parcels)
            }
            #expect(inner != nil)
            try parcels.update(archiveWithKey: "old") { _ in }
            try transaction.record(Parcel("new"), in: parcels)
        }
        #expect(try parcels.count() == 2)
    }

    @Test func anotherFileIsWrittenInsideTheClosure() throws {
        let other = TemporaryArchives()
        let others = try other.factory.store(for: Parcel.self)
        let cache: MiniCache<String, Int> = MiniCacheManager.inMemory().cache(
            cacheName: "numbers",
            cacheVersion: .custom("1"),
            maxAge: .forever
        )
        try temporary.factory.transaction { transaction in
            try others.record(Parcel("new"))
            try other.factory.transaction { try $0.record(Parcel("newer"), in: others) }
            cache["one"] = 1
            try transaction.record(Parcel("new"), in: parcels)
        }
        #expect(try others.count() == 2)
        #expect(cache["one"] == 1)
        #expect(try parcels.count() == 2)
    }

    @Test func aTaskThatTheClosureStartedWritesAfterIt() async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        let task = try temporary.factory.transaction { transaction in
            try transaction.record(Parcel("new"), in: parcels)
            return Task { [parcels] in
                for await _ in gate {}
                try parcels.record(Parcel("later"))
            }
        }
        open.finish()
        try await task.value
        #expect(try parcels.count() == 3)
    }

    @Test func aThreadThatTheClosureStartedWritesMeanwhile() throws {
        try temporary.factory.transaction { transaction in
            let thread = OnThread { [parcels] in
                Result { try parcels.record(Parcel("by a thread")) }
            }
            try thread.result().get()
            let written = DispatchGroup()
            DispatchQueue(label: "writer").async(group: written) { [parcels] in
                #expect(throws: Never.self) { try parcels.record(Parcel("by a queue")) }
            }
            written.wait()
            try transaction.record(Parcel("new"), in: parcels)
        }
        #expect(try parcels.count() == 4)
    }

    @Test func anArchiveOfAnotherFileIsRefusedByEachCall() throws {
        let other = TemporaryArchives()
        let others = try other.factory.store(for: Parcel.self)
        try others.record(Parcel("old"))
        let calls: [(inout ArchiveTransaction) throws -> Void] = [
            { try $0.record(Parcel("new"), in: others) },
            { _ = try $0.access(archiveWithKey: "old", in: others) },
            { $0.delete(archiveWithKey: "old", in: others) }, { $0.deleteAll(in: others) },
        ]
        for call in calls {
            let error = #expect(throws: VellumError.self) {
                try temporary.factory.transaction(call)
            }
            #expect(error?.code == .differentFiles)
        }
        #expect(try others.accessAll() == [Parcel("old")])
    }

    @Test func anArchiveOfAnotherFactoryOnTheFileIsWritten() throws {
        let others = try temporary.anotherFactory("./archives").store(for: Parcel.self)
        try temporary.factory.transaction { transaction in
            transaction.delete(archiveWithKey: "old", in: others)
            try transaction.record(Parcel("new"), in: others)
        }
        #expect(try parcels.accessAll() == [Parcel("new")])
    }

    @Test func anArchiveThatTheClosureIsFirstToOpenImportsItsObjects() throws {
        let originals = try Originals()
        try originals.write(
            JSONEncoder().encode(User(name: "ann")),
            "ann",
            in: "vellum_user",
            at: 1
        )
        try originals.factory.transaction { transaction in
            try transaction.record(User(name: "bob"), in: originals.factory.store())
        }
        #expect(try originals.factory.store(for: User.self).count() == 2)
    }

    @Test func aStoreThatTheClosureOpensIsRefusedToo() throws {
        let fresh = TemporaryArchives()
        let error = #expect(throws: VellumError.self) {
            try fresh.factory.transaction { _ in
                try fresh.factory.store(for: Parcel.self).record(Parcel("new"))
            }
        }
        #expect(error?.code == .recursiveUpdate)
    }
}

private struct Crate: ArchiveCodable {
    static var archiveName: String { "Crate" }
    var primaryKey: String { "crate" }
    var content: User
}
