#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A mutex for each key, first come, first served. Waiting callers are called back, so they may suspend, block or complete later.
///
/// ```swift
/// if let hold = mutex.lock(key, orWait: { Waiter { hold in … } }) {
///     …
///     mutex.unlock(hold)
/// }
/// ```
///
/// Costs nothing for a key that nobody holds. Work that ends when its function returns can hold its key *briefly*. A brief hold allocates
/// nothing and needs only the stripe of the key; each stripe has at most one brief hold at a time. A brief hold does not exclude calls made
/// on its own thread.
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
        ///   - onMayBlock: Called, once or more, when the holder of the key waits for user-supplied code.
        ///   - onAcquire: Called when the caller has acquired the key. Returns `false` if the caller gave up; then the next waiter acquires
        ///     it.
        package init(onMayBlock: (@Sendable () -> Void)? = nil, onAcquire: @escaping @Sendable (Hold) -> Bool) {
            self.onMayBlock = onMayBlock
            self.onAcquire = onAcquire
        }
    }

    private struct Line: Sendable {
        /// `nil` while the line waits for a brief hold to end.
        var holder: UInt64?
        var holderMayBlock = false
        var waiting = FIFOQueue<(number: UInt64, waiter: Waiter)>()
        /// The callbacks of waiters to be notified when the holder may block.
        var onMayBlock: [UInt64: @Sendable () -> Void] = [:]
    }

    private struct State: Sendable {
        var lastNumber: UInt64 = 0
        var lines: [LockKey: Line] = [:]
        /// The thread that holds a key of the stripe briefly, or zero.
        var briefHolders = [UInt](repeating: 0, count: WriteVersions<Int>.stripeCount)
        /// Keys with waiters that wait until the brief hold of their stripe ends.
        var behindBriefHolds: [Int: [LockKey]] = [:]

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        func isUnlocked(_ key: LockKey) -> Bool { lines.isEmpty || lines[key] == nil }

        mutating func hold(_ key: LockKey) -> Hold {
            let number = nextNumber()
            lines[key, default: Line()].holder = number
            return Hold(key: key, number: number)
        }

        mutating func endBriefHold(_ stripe: Int) -> [LockKey] {
            briefHolders[stripe] = 0
            return behindBriefHolds.isEmpty ? [] : behindBriefHolds.removeValue(forKey: stripe) ?? []
        }
    }

    private let state = Locked(State())

    package init() {}

    // MARK: Locking

    /// Acquires a key that nobody holds, or enqueues the caller.
    ///
    /// - Parameter waiter: Evaluated inside the lock, only if the caller has to wait.
    /// - Returns: `nil` if the caller has to wait.
    package func lock(_ key: LockKey, stripe: Int = 0, orWait waiter: () -> Waiter) -> Hold? {
        let thread = Self.currentThread
        let (hold, onMayBlock) = state.withLock { state -> (Hold?, (@Sendable () -> Void)?) in
            let briefHolder = state.briefHolders[stripe]
            let isNew = state.isUnlocked(key)
            // A call on the brief holder's own thread must not wait for that hold to end.
            let isFree = briefHolder == thread ? state.lines[key]?.holder == nil : isNew && briefHolder == 0
            if isFree { return (state.hold(key), nil) }
            if isNew { state.behindBriefHolds[stripe, default: []].append(key) }
            let (waiter, number) = (waiter(), state.nextNumber())
            state.lines[key, default: Line()].waiting.append((number, waiter))
            if let onMayBlock = waiter.onMayBlock { state.lines[key]?.onMayBlock[number] = onMayBlock }
            return (nil, state.lines[key]?.holderMayBlock == true ? waiter.onMayBlock : nil)
        }
        onMayBlock?()
        return hold
    }

    /// Acquires a key that nobody holds, not even briefly. Returns `nil` if it is held.
    package func tryLock(_ key: LockKey, stripe: Int = 0) -> Hold? {
        state.withLock { $0.briefHolders[stripe] == 0 && $0.isUnlocked(key) ? $0.hold(key) : nil }
    }

    /// Releases the key, and passes it to the next waiter that has not given up.
    package func unlock(_ hold: Hold) { passOn(hold.key, from: hold.number) }

    private func passOn(_ key: LockKey, from holder: UInt64?) {
        var holder = holder
        while let (waiter, hold) = next(key, after: holder), !waiter.onAcquire(hold) { holder = hold.number }
    }

    private func next(_ key: LockKey, after holder: UInt64?) -> (Waiter, Hold)? {
        state.withLock { state in
            guard let index = state.lines.index(forKey: key), state.lines.values[index].holder == holder else { return nil }
            guard let next = state.lines.values[index].waiting.popFirst() else {
                state.lines.remove(at: index)
                return nil
            }
            state.lines.values[index].onMayBlock[next.number] = nil
            state.lines.values[index].holder = next.number
            state.lines.values[index].holderMayBlock = false
            return (next.waiter, Hold(key: key, number: next.number))
        }
    }

    /// Notifies waiters that the holder of the key waits for user-supplied code, which may take any time.
    package func mayBlock(_ hold: Hold) {
        let waiters = state.withLock { state -> [@Sendable () -> Void] in
            guard state.lines[hold.key]?.holder == hold.number else { return [] }
            state.lines[hold.key]?.holderMayBlock = true
            return state.lines[hold.key]?.onMayBlock.values.map { $0 } ?? []
        }
        for onMayBlock in waiters { onMayBlock() }
    }

    /// The keys that are held, except for brief holds. O(n).
    package var heldKeys: [LockKey] { state.withLock { $0.lines.filter { $0.value.holder != nil }.map(\.key) } }

    // MARK: Brief holds

    /// Acquires a brief hold of a key, if neither the key nor another key of its stripe is held.
    ///
    /// - Parameter key: Evaluated inside the lock, only if some key is held.
    package func tryLockBriefly(_ stripe: Int, _ key: () -> LockKey) -> Bool {
        let thread = Self.currentThread
        return state.withLock { state in
            guard state.briefHolders[stripe] == 0, state.lines.isEmpty || state.isUnlocked(key()) else { return false }
            state.briefHolders[stripe] = thread
            return true
        }
    }

    package func unlockBriefly(_ stripe: Int) {
        for key in state.withLock({ $0.endBriefHold(stripe) }) { passOn(key, from: nil) }
    }

    /// Converts a brief hold to a lasting one. Ends the brief hold and returns `nil` if a call on the holder's own thread has the key.
    package func extendBriefHold(_ stripe: Int, of key: LockKey) -> Hold? {
        let (hold, others) = state.withLock { state -> (Hold?, [LockKey]) in
            let waiting = state.endBriefHold(stripe)
            let others = waiting.filter { $0 != key }
            return (state.lines[key]?.holder == nil ? state.hold(key) : nil, others)
        }
        for key in others { passOn(key, from: nil) }
        return hold
    }

    private static var currentThread: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: pthread_self())
        #else
            UInt(pthread_self())
        #endif
    }
}
