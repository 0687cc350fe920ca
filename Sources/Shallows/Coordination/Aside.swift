internal import Dispatch

/// Threads for what a call that waits may be waiting for: there is always one.
///
/// A concurrent queue would not do: it shares its few threads with the global queues and with tasks, all of which may be blocked in
/// calls that wait for what no thread is left to do. A serial queue is given a thread of its own.
enum Aside {
    static func start(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "vellum.shallows.aside").async(execute: work)
    }
}
