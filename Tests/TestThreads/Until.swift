internal import Dispatch
internal import Foundation
public import Testing

/// Waits until a condition holds: the one way in which a test waits for what others do.
///
/// ```swift
/// await until("both loads wait") { store.loads.waiterCount == 2 }
/// ```
///
/// No thread waits, and no processor is kept busy. What never comes is an issue of the test, after
/// the limit of a suite; the test goes on, and fails. A cancelled task waits like any other.
///
/// - Parameter what: What is waited for, as the issue says it.
nonisolated(nonsending) public func until(
    _ what: String,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ isTrue: () async throws -> Bool
) async rethrows {
    var waiting = Waiting(what, sourceLocation)
    while try await !isTrue() {
        guard waiting.goesOn else { return }
        await Pause.forTurn(waiting.turns)
    }
}

/// Waits until a condition holds, and blocks the thread: in closures that cannot be awaited.
public func blockUntil(
    _ what: String,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ isTrue: () throws -> Bool
) rethrows {
    var waiting = Waiting(what, sourceLocation)
    while try !isTrue() {
        guard waiting.goesOn else { return }
        usleep(waiting.turns < Waiting.quickTurns ? 20 : 1000)
    }
}

/// Lets others go on for a moment: between two attempts of a test that repeats what may fail.
nonisolated(nonsending) public func pause() async { await Pause.forTurn(Waiting.quickTurns) }

private struct Waiting {
    /// Most of what is waited for comes at once.
    static let quickTurns = 10

    let what: String
    let sourceLocation: SourceLocation
    let end = DispatchTime.now() + .seconds(OwnThreads.Limit.suite.rawValue * 60)
    var turns = 0

    init(_ what: String, _ sourceLocation: SourceLocation) {
        self.what = what
        self.sourceLocation = sourceLocation
    }

    /// Whether there is time left.
    var goesOn: Bool {
        mutating get {
            turns += 1
            guard DispatchTime.now() > end else { return true }
            Issue.record("Waited in vain until \(what).", sourceLocation: sourceLocation)
            return false
        }
    }
}

/// Pauses on a timer of its own: the threads of Swift's concurrency may all be busy.
enum Pause {
    private static let queue = DispatchQueue(label: "vellum.tests.pause")

    nonisolated(nonsending) static func forTurn(_ turn: Int) async {
        let duration: DispatchTimeInterval =
            turn < Waiting.quickTurns ? .microseconds(20) : .milliseconds(1)
        await withCheckedContinuation { continuation in
            queue.asyncAfter(deadline: .now() + duration) { continuation.resume() }
        }
    }

    /// Returns at that moment; throws if the task is cancelled before.
    static func until(_ end: DispatchTime) async throws {
        let nanoseconds =
            end.uptimeNanoseconds - min(end.uptimeNanoseconds, DispatchTime.now().uptimeNanoseconds)
        try await Task.sleep(for: .nanoseconds(nanoseconds))
    }
}
