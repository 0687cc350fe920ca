package import VellumCore

extension SerialQueue {
    /// Does the work: on this thread for a call that blocks, else in its turn on a thread of the queue.
    package func run<Value: Sendable>(
        layer: String, key: (any Sendable)? = nil, _ call: Call, _ work: @escaping @Sendable () -> Outcome<Value>
    ) -> Reply<Value> {
        guard !call.isCancelled else { return .failure(.cancelled(layer: layer, key: key)) }
        if call.waits {
            catchUp()
            return .now(work())
        }
        let promise = Promise<Value>()
        enqueue {
            // Asked in its turn: the work of a caller that has cancelled is not done.
            let outcome = call.isCancelled ? .failure(.cancelled(layer: layer, key: key)) : work()
            return { promise.fulfill(outcome) }
        }
        return .later(promise)
    }
}
