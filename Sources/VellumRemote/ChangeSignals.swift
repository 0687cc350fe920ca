internal import VellumCore

/// Wakes tasks that wait for a change of a key.
///
/// A change between ``subscribe(to:)`` and ``Subscription/wait(atMost:sleep:)`` is not lost.
final class ChangeSignals: Sendable {
    typealias Sleep = @Sendable (_ milliseconds: Int64) async throws -> Void

    struct Subscription: Sendable {
        fileprivate let number: UInt64
        fileprivate let key: EntryKey
        fileprivate let changes: AsyncStream<Void>

        /// Returns at the next change, after so many milliseconds, or when the task is cancelled.
        func wait(atMost milliseconds: Int64, sleep: @escaping Sleep) async {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in changes { return } }
                group.addTask {
                    // Cancelled: there is nothing to wait for any more.
                    do { try await sleep(milliseconds) } catch {}
                }
                await group.next()
                group.cancelAll()
            }
        }
    }

    private struct State {
        var last: UInt64 = 0
        var subscribers: [EntryKey: [UInt64: AsyncStream<Void>.Continuation]] = [:]
    }

    private let state = Locked(State())

    func subscribe(to key: EntryKey) -> Subscription {
        let (changes, continuation) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let number = state.withLock { state in
            state.last += 1
            state.subscribers[key, default: [:]][state.last] = continuation
            return state.last
        }
        return Subscription(number: number, key: key, changes: changes)
    }

    func end(_ subscription: Subscription) {
        state.withLock { state in
            state.subscribers[subscription.key]?[subscription.number] = nil
            if state.subscribers[subscription.key]?.isEmpty == true {
                state.subscribers[subscription.key] = nil
            }
        }
    }

    /// - Parameter keys: `nil` for all keys.
    func signal(_ keys: [EntryKey]?) {
        let continuations = state.withLock { state in
            keys.map { keys in
                keys.flatMap { state.subscribers[$0].map { Array($0.values) } ?? [] }
            }
                ?? state.subscribers.values.flatMap(\.values)
        }
        for continuation in continuations { continuation.yield() }
    }
}
