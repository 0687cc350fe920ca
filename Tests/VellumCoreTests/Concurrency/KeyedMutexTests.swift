import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore

/// Which caller holds a key, and which acquires it next.
@Suite(.ownThreads)
struct KeyedMutexTests {
    private let mutex = KeyedMutex()
    private let got = Log()

    /// The keys that waiters acquired, in that order.
    private final class Log: Sendable {
        let holds = Locked<[(name: String, hold: KeyedMutex.Hold)]>([])
        var names: [String] { holds.withLock { $0.map(\.name) } }
    }

    private func key(_ name: String) -> LockKey { LockKey(of: mutex, name) }

    private func waiter(_ name: String, stays: Bool = true) -> KeyedMutex.Waiter {
        KeyedMutex.Waiter { [got] hold in
            guard stays else { return false }
            got.holds.withLock { $0.append((name, hold)) }
            return true
        }
    }

    private func lock(_ name: String, as waiterName: String = "") -> KeyedMutex.Hold? {
        mutex.lock(key(name)) { waiter(waiterName) }
    }

    /// Runs the bodies on separate threads and waits for them.
    private func onThreads(_ bodies: [@Sendable () -> Void]) {
        let ended = DispatchSemaphore(value: 0)
        for body in bodies {
            Thread.detachNewThread {
                body()
                ended.signal()
            }
        }
        for _ in bodies { ended.wait() }
    }

    @Test
    func callersAcquireAKeyOneAtATimeInOrderOfArrival() throws {
        let first = try #require(lock("a"))
        #expect(lock("a", as: "second") == nil && lock("a", as: "third") == nil && lock("b") != nil)
        mutex.unlock(first)
        #expect(got.names == ["second"])
        mutex.unlock(got.holds.withLock { $0[0].hold })
        mutex.unlock(got.holds.withLock { $0[1].hold })
        #expect(got.names == ["second", "third"] && mutex.heldKeys == [key("b")])
    }

    @Test
    func aWaiterThatGaveUpIsSkipped() throws {
        let first = try #require(lock("a"))
        #expect(
            mutex.lock(key("a")) { waiter("gone", stays: false) } == nil
                && lock("a", as: "last") == nil
        )
        mutex.unlock(first)
        #expect(got.names == ["last"])
    }

    @Test
    func presentAndLaterWaitersAreNotifiedThatTheHolderMayBlock() throws {
        let first = try #require(lock("a"))
        let notify: @Sendable () -> Void = { [got] in
            got.holds.withLock { $0.append(("late", first)) }
        }
        func wait() {
            _ = mutex.lock(key("a")) { KeyedMutex.Waiter(onMayBlock: notify) { _ in true } }
        }
        wait()
        #expect(got.names.isEmpty)
        mutex.mayBlock(first)
        wait()
        #expect(got.names == ["late", "late"])
        mutex.unlock(first)
        mutex.mayBlock(first)
        #expect(got.names == ["late", "late"], "it is no longer the holder")
    }

    @Test
    func aHeldKeyIsNotAcquiredWithoutWaiting() throws {
        let hold = try #require(lock("a"))
        #expect(mutex.tryLock(key("a")) == nil && mutex.tryLock(key("b")) != nil)
        mutex.unlock(hold)
        #expect(mutex.tryLock(key("a")) != nil)
    }

    /// Holds of few keys on several threads, with counters that only one thread may change at a
    /// time.
    @Test
    func noTwoCallersHoldTheSameKey() {
        let model = Model()
        onThreads(
            (0..<4).map { thread in
                { [mutex] in
                    var random = SeededGenerator(seed: UInt64(thread))
                    for _ in 0..<5_000 { model.step(mutex, &random) }
                }
            }
        )
        #expect(model.overlaps == 0 && mutex.heldKeys.isEmpty)
    }

    private final class Model: Sendable {
        private let inside = Locked([Int](repeating: 0, count: 4))
        private let wrong = Locked(0)
        var overlaps: Int { wrong.withLock { $0 } }

        private func work(_ key: Int) {
            let count = inside.withLock { inside in
                inside[key] += 1
                return inside[key]
            }
            if count != 1 { wrong.withLock { $0 += 1 } }
            inside.withLock { $0[key] -= 1 }
        }

        func step(_ mutex: KeyedMutex, _ random: inout SeededGenerator) {
            let key = Int.random(in: 0..<4, using: &random)
            let lockKey = LockKey(of: mutex, key)
            if Bool.random(using: &random) {
                guard let hold = mutex.tryLock(lockKey) else { return }
                work(key)
                return mutex.unlock(hold)
            }
            let semaphore = DispatchSemaphore(value: 0)
            let later = Locker()
            let hold = mutex.lock(lockKey) {
                KeyedMutex.Waiter { hold in
                    later.hold.withLock { $0 = hold }
                    semaphore.signal()
                    return true
                }
            }
            if hold == nil { semaphore.wait() }
            guard let hold = hold ?? later.hold.withLock({ $0 }) else { return }
            work(key)
            mutex.unlock(hold)
        }
    }

    private final class Locker: Sendable {
        let hold = Locked<KeyedMutex.Hold?>(nil)
    }
}
