package import Dispatch

/// A mutex for each key, first come, first served. Waiting callers are called back, so they may
/// suspend, block or complete later.
///
/// ```swift
/// if let hold = mutex.lock(key, orWait: { Waiter { hold in … } }) {
///     …
///     mutex.unlock(hold)
/// }
/// ```
///
/// - Complexity: O(1) for every call.
package final class KeyedMutex: Sendable {
    /// Ownership of a key, until it is unlocked.
    package struct Hold: Sendable {
        package let key: LockKey
        fileprivate let number: UInt64
    }

    /// A caller that waits for a key.
    package struct Waiter: Sendable {
        let onMayBlock: (@Sendable () -> Void)?
        let onAcquire: @Sendable (Hold) -> Bool

        /// - Parameters:
        ///   - onMayBlock: Called, once or more, when the holder of the key waits for user-supplied
        ///     code.
        ///   - onAcquire: Called when the caller has acquired the key. Returns `false` if the
        ///     caller gave up; then the next waiter acquires it.
        package init(
            onMayBlock: (@Sendable () -> Void)? = nil,
            onAcquire: @escaping @Sendable (Hold) -> Bool
        ) {
            self.onMayBlock = onMayBlock
            self.onAcquire = onAcquire
        }
    }

    private struct Line: Sendable {
        var holder: UInt64
        var holderMayBlock = false
        var waiting = FIFOQueue<(number: UInt64, waiter: Waiter)>()
        /// The callbacks of waiters to be notified when the holder may block.
        var onMayBlock: [UInt64: @Sendable () -> Void] = [:]
    }

    private struct State: Sendable {
        var lastNumber: UInt64 = 0
        /// The only key that is held, as long as nobody waits for it: it is found without its hash.
        var only: (key: LockKey, holder: UInt64, mayBlock: Bool)?
        /// Empty while there is one.
        var lines: [LockKey: Line] = [:]

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        /// Returns `nil` if the key is held.
        mutating func hold(_ key: LockKey) -> Hold? {
            if let held = only {
                lines[held.key] = Line(holder: held.holder, holderMayBlock: held.mayBlock)
                only = nil
            }
            guard lines.isEmpty || lines[key] == nil else { return nil }
            let number = nextNumber()
            if lines.isEmpty {
                only = (key, number, false)
            } else {
                lines[key] = Line(holder: number)
            }
            return Hold(key: key, number: number)
        }

        /// - Returns: Whether it was the only key that was held.
        mutating func endOnly(_ hold: Hold) -> Bool {
            guard only?.holder == hold.number else { return false }
            only = nil
            return true
        }
    }

    private let state = Locked(State())

    package init() {}

    // MARK: Locking

    /// Acquires a key that nobody holds, or enqueues the caller.
    ///
    /// - Parameter waiter: Evaluated inside the lock, only if the caller has to wait.
    /// - Returns: `nil` if the caller has to wait.
    package func lock(_ key: LockKey, orWait waiter: () -> Waiter) -> Hold? {
        let (hold, onMayBlock) =
            state.withLock { state -> (Hold?, (@Sendable () -> Void)?) in
                if let hold = state.hold(key) { return (hold, nil) }
                let waiter = waiter()
                let number = state.nextNumber()
                state.lines[key]?.waiting.append((number, waiter))
                if let onMayBlock = waiter.onMayBlock {
                    state.lines[key]?.onMayBlock[number] = onMayBlock
                }
                return (nil, state.lines[key]?.holderMayBlock == true ? waiter.onMayBlock : nil)
            }
        onMayBlock?()
        return hold
    }

    /// Acquires a key that nobody holds. Returns `nil` if it is held.
    package func tryLock(_ key: LockKey) -> Hold? { state.withLock { $0.hold(key) } }

    /// Releases the key, and passes it to the next waiter that has not given up.
    package func unlock(_ hold: Hold) {
        var hold = hold
        while let (waiter, nextHold) = next(after: hold), !waiter.onAcquire(nextHold) {
            hold = nextHold
        }
    }

    private func next(after hold: Hold) -> (Waiter, Hold)? {
        state.withLock { state in
            guard !state.endOnly(hold), let index = state.lines.index(forKey: hold.key),
                state.lines.values[index].holder == hold.number
            else { return nil }
            guard let next = state.lines.values[index].waiting.popFirst() else {
                state.lines.remove(at: index)
                return nil
            }
            state.lines.values[index].onMayBlock[next.number] = nil
            state.lines.values[index].holder = next.number
            state.lines.values[index].holderMayBlock = false
            return (next.waiter, Hold(key: hold.key, number: next.number))
        }
    }

    /// Notifies waiters that the holder of the key waits for user-supplied code, which may take any
    /// time.
    package func mayBlock(_ hold: Hold) {
        let waiters = state.withLock { state -> [@Sendable () -> Void] in
            if state.only?.holder == hold.number { state.only?.mayBlock = true }
            guard state.lines[hold.key]?.holder == hold.number else { return [] }
            state.lines[hold.key]?.holderMayBlock = true
            return state.lines[hold.key]?.onMayBlock.values.map { $0 } ?? []
        }
        for onMayBlock in waiters { onMayBlock() }
    }

    /// The keys that are held. O(n).
    package var heldKeys: [LockKey] {
        state.withLock { state in
            state.only.map { [$0.key] } ?? Array(state.lines.keys)
        }
    }
}

// Callers that block.

extension KeyedMutex {
    /// Acquires a key, or blocks until it gets it from who came before.
    ///
    /// - Returns: `nil` if it did not get it in time.
    package func lock(_ key: LockKey, until end: DispatchTime) -> Hold? {
        let turn = DispatchSemaphore(value: 0)
        let place = Place()
        let hold = lock(key) {
            Waiter { hold in
                let isTaken = place.pass(hold)
                turn.signal()
                return isTaken
            }
        }
        if let hold { return hold }
        ReentrancyGuard.threadWillBlock()
        _ = Lane.waiting { turn.wait(timeout: end) }
        return place.leave()
    }

    /// The place of a caller that waits.
    private final class Place: Sendable {
        private struct State {
            var hold: Hold?
            var hasLeft = false
        }

        private let state = Locked(State())

        /// - Returns: Whether the caller still waits.
        func pass(_ hold: Hold) -> Bool {
            state.withLock { state in
                if !state.hasLeft { state.hold = hold }
                return !state.hasLeft
            }
        }

        /// - Returns: The key, if it was passed to the caller.
        func leave() -> Hold? {
            state.withLock { state in
                state.hasLeft = true
                return state.hold
            }
        }
    }
}
