import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine

@Suite(.ownThreads)
struct LockedConcurrencyTests {
    /// Fails under ThreadSanitizer, and by its count, if `withLock` does not lock.
    @Test func incrementsOfManyThreadsAddUp() async {
        let shared = Shared()
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<10_000 { shared.count.withLock { $0 += 1 } }
                }
            }
        }
        #expect(shared.count.withLock { $0 } == 80_000)
    }

    private final class Shared: Sendable {
        let count = Locked(0)
    }

    /// P26: an error releases the lock.
    @Test func anErrorReleasesTheLock() {
        struct Oops: Error {}
        let value = Locked(1)
        #expect(throws: Oops.self) { try value.withLock { _ throws(Oops) in throw Oops() } }
        #expect(value.withLock { $0 } == 1)
    }

    @Test func withLockIfAvailableDoesNotWait() {
        let value = Locked(1)
        value.withLock { _ in
            let inside = value.withLockIfAvailable { $0 }
            #expect(inside == nil)
        }
        #expect(value.withLockIfAvailable { $0 } == 1)
    }

    @Test func theGuardedValueIsReleasedWithTheLock() {
        final class Guarded: Sendable {}
        weak var guarded: Guarded?
        do {
            let value = Guarded()
            guarded = value
            let lock = Locked(value)
            lock.withLock { _ in }
        }
        #expect(guarded == nil)
    }
}
