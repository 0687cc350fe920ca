import Dispatch
import Foundation
import Synchronization
import TestThreads
import Testing
import Vellum
import VellumCore

@testable import VellumEngine

/// Who waits for one file keeps nobody from another (decision 98). One after another: of the lanes
/// of a process, a file that waits leaves half of what others have left.
@Suite(.ownThreads, .serialized)
struct WaitingTests {
    struct Item: ArchiveCodable, Sendable {
        static var archiveName: String { "Item" }
        var primaryKey: String
        var count = 0
    }

    struct Call: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var run: @Sendable (ArchiveStore<Item>, String) async throws -> Void

        init(
            _ name: String,
            _ run: @escaping @Sendable (ArchiveStore<Item>, String) async throws -> Void
        ) {
            testDescription = name
            self.run = run
        }
    }

    /// What needs the lock of the file.
    static let writes = [
        Call("record") { try await $0.async.record(Item(primaryKey: $1)) },
        Call("delete") { _ = try await $0.async.delete(archiveWithKey: $1) },
        Call("update") { store, key in
            try await store.async.update(archiveWithKey: key) {
                $0 = Item(primaryKey: key, count: 1 + ($0?.count ?? 0))
            }
        },
        Call("record if absent") {
            _ = try await $0.async.recordIfAbsent(Item(primaryKey: "new " + $1))
        },
        Call("transaction") { store, key in
            try await store.async.transaction { transaction in
                let item = try transaction.access(archiveWithKey: key, in: store)
                try transaction.record(
                    Item(primaryKey: key, count: 1 + (item?.count ?? 0)),
                    in: store
                )
            }
        },
        Call("perform") { store, key in
            try await store.perform { try $0.record(Item(primaryKey: key)) }
        },
        Call("delete by prefix") { _ = try await $0.async.deleteAll(prefix: $1) },
        Call("load") { store, key in
            _ = try await store.value(forKey: "loaded " + key) { Item(primaryKey: "loaded " + key) }
        },
    ]

    static let reads = [
        Call("access") { _ = try await $0.async.access(archiveWithKey: $1) },
        Call("fetch") { store, _ in
            _ = try await store.async.fetch(where: #Predicate { $0.count == 0 })
        },
        Call("count") { store, _ in _ = try await store.async.count() },
        Call("stream") { store, _ in
            for try await _ in store.stream() {}
        },
        Call("perform to read") { store, key in
            _ = try await store.perform { try $0.access(archiveWithKey: key) }
        },
    ]

    static let direct = [
        Call("record, direct") { store, key in try store.record(Item(primaryKey: key)) },
        Call("access, direct") { store, key in _ = try store.access(archiveWithKey: key) },
        Call("update, direct") { store, key in
            try store.update(archiveWithKey: key) { $0?.count += 1 }
        },
        Call("fetch, direct") { store, _ in
            _ = try store.fetch(where: #Predicate { $0.count == 0 })
        },
    ]

    enum Holder: CaseIterable, Sendable {
        case anotherProcess, aThread

        /// Takes the lock of the file, as another process or thread does it.
        ///
        /// - Returns: What releases it.
        func take(_ file: DatabaseFile) throws -> @Sendable () -> Void {
            let isTaken = DispatchSemaphore(value: 0)
            let release = DispatchSemaphore(value: 0)
            switch self {
            case .anotherProcess:
                let other = try Connection(path: file.path)
                try other.execute(SQL.beginWriting)
                Lane().start { [other = UncheckedConnection(other)] in
                    isTaken.signal()
                    release.wait()
                    withExtendedLifetime(other) {}
                }
            case .aThread:
                Lane().start {
                    file.withWriter { _ in
                        isTaken.signal()
                        release.wait()
                        return true
                    }
                }
            }
            isTaken.wait()
            return { release.signal() }
        }
    }

    // Unchecked because one thread has it after the other.
    struct UncheckedConnection: @unchecked Sendable {
        let connection: Connection

        init(_ connection: Connection) { self.connection = connection }
    }

    private final class Counts: Sendable {
        let begun = Atomic(0)
        let ended = Atomic(0)
    }

    private func opened(
        _ temporary: TemporaryArchives
    ) throws -> (store: ArchiveStore<Item>, file: DatabaseFile) {
        // Nothing is found in memory.
        let store: ArchiveStore<Item> = try temporary.factory.store(memoryLimit: 1.byte)
        try store.record(contentsOf: (0..<100).map { Item(primaryKey: "\($0)") })
        return (store, try #require(DatabaseFile.opened(at: temporary.file)))
    }

    @Test(arguments: writes, Holder.allCases)
    func callsOfAnotherFileAreAnswered(waiting call: Call, holder: Holder) async throws {
        let temporary = TemporaryArchives()
        let others = TemporaryArchives()
        let (store, file) = try opened(temporary)
        let other = try opened(others).store
        let release = try holder.take(file)
        let counts = Counts()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    counts.begun.add(1, ordering: .relaxed)
                    do {
                        try await call.run(store, "\(number)")
                    } catch {
                        // On a machine that takes so long.
                        #expect((error as? VellumError)?.code == .busy)
                    }
                    counts.ended.add(1, ordering: .relaxed)
                }
            }
            await until("the calls wait") {
                counts.begun.load(ordering: .relaxed) == 100 && file.waitingWriters > 0
            }
            for answered in Self.writes + Self.reads + Self.direct {
                do {
                    try await answered.run(other, "1")
                } catch {
                    Issue.record(error, "\(answered.testDescription)")
                }
                #expect(
                    counts.ended.load(ordering: .relaxed) == 0,
                    "\(answered.testDescription) is answered after those who wait"
                )
            }
            // Nobody waits for another process under the lock of this one.
            if holder == .anotherProcess {
                #expect(file.withWriter { _ in true } == true)
                #expect(counts.ended.load(ordering: .relaxed) == 0)
            }
            release()
        }
        #expect(file.waitingWriters == 0)
        #expect(try store.count() >= 0)
    }
}
