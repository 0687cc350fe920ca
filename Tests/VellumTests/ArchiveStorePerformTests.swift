import Foundation
import TestThreads
import Testing
import Vellum

/// Work on a thread that may block.
@Suite(.ownThreads)
struct ArchiveStorePerformTests {
    let temporary = TemporaryArchives()
    let store: ArchiveStore<Note>

    init() throws {
        store = try temporary.factory.store()
    }

    @Test func performReturnsTheResult() async throws {
        try await store.perform { try $0.record(Note("note", text: "words")) }

        #expect(try await store.perform { try $0.access(archiveWithKey: "note")?.text } == "words")
    }

    @Test func performThrowsTheErrorOfItsClosure() async throws {
        try store.close()

        let error = await #expect(throws: VellumError.self) {
            try await store.perform { try $0.count() }
        }

        #expect(error?.code == .closed)
    }

    @Test func cancellingACallerDoesNotInterruptItsWrite() async throws {
        let store = store
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.perform { try $0.record(contentsOf: [Note("a"), Note("b")]) }
        }
        _ = await task.result

        #expect(try store.count() == 2)
    }

    @Test func manyCallersMayWaitConcurrently() async throws {
        let store = store
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask { try await store.perform { try $0.record(Note("\(number)")) } }
            }
            try await group.waitForAll()
        }

        #expect(try store.count() == 100)
    }

    @TaskLocal private static var request = 0

    @Test func taskLocalValuesReachTheClosure() async throws {
        let seen = try await Self.$request.withValue(7) {
            try await store.perform { _ in Self.request }
        }
        #expect(seen == 7)
    }

    /// Threads that run tasks are as many as there are processors: with these blocked, nothing else
    /// would go on.
    @Test func aClosureThatBlocksHoldsNoThreadOfTheTasks() async throws {
        let (store, gate) = (store, DispatchSemaphore(value: 0))
        let count = ProcessInfo.processInfo.activeProcessorCount
        let blocked = (0..<count).map { _ in Task { try await store.perform { _ in gate.wait() } } }
        for _ in 0..<count { await Task { _ = gate.signal() }.value }
        for task in blocked { try await task.value }
    }
}
