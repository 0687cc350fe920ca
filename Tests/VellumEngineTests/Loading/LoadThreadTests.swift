import Dispatch
import Foundation
import Synchronization
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

/// Loads look at the disk on threads that may block (decision 86).
@Suite(.ownThreads)
struct LoadThreadTests {
    /// While relaxed writes are open, readers wait for the writer. More loads than there are
    /// threads of tasks wait here.
    @Test func loadsThatWaitForTheDiskBlockNoThreadOfTheTasks() async throws {
        let setup = try Setup()
        let (store, gate, isHeld) = (
            try setup.store(durability: .relaxed), DispatchSemaphore(value: 0),
            DispatchSemaphore(value: 0)
        )
        let file = store.disk.file
        Lane().start {
            file.withWriter { writer in
                do throws(SQLiteError) {
                    // Stays open while the writer is held.
                    let write = ArchiveWrite(
                        archive: store.disk.archive,
                        key: "open",
                        operation: .store(Entry(bytes: Data([1]), written: setup.clock.now)),
                        stamp: .never
                    )
                    _ = try writer.carryOut([write], isRelaxed: true, sharing: { false }, { _ in })
                } catch {
                    Issue.record(error)
                }
                isHeld.signal()
                gate.wait()
                return true
            }
        }
        _ = try await Lane.visits.run { isHeld.wait() }
        let isOpen = file.writing.openBatch.exists.load(ordering: .acquiring)
        #expect(isOpen)
        let count = 2 * ProcessInfo.processInfo.activeProcessorCount + 2
        let begun = Counter()
        let loads = (0..<count).map { number in
            Task {
                begun.increment()
                let key = EntryKey("\(number)")
                return try await store.value(forKey: key) { Data([UInt8(number)]) }
            }
        }
        // If each that waits for the disk kept its thread, the last would not begin, and no other
        // task would run.
        await until("all loads have begun") { begun.value == count }
        await until("a load waits for the writer") { file.waitingWriters > 0 }
        await Task.detached {}.value
        gate.signal()
        for (number, load) in loads.enumerated() {
            #expect(try await load.value == Data([UInt8(number)]))
        }
    }
}
