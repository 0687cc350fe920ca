internal import Dispatch
internal import Foundation
internal import Synchronization

/// Ctrl-C, and the request of the system to end.
///
/// An operation that can end by itself is asked to; anything else is ended here, after unfinished
/// files are removed.
final class Interrupts: Sendable {
    static let shared = Interrupts()

    private struct State {
        var isInterrupted = false
        /// What is called in place of ending the process.
        var response: (@Sendable () -> Void)?
        /// Unfinished files and folders.
        var leftovers: Set<String> = []
        var sources: [any DispatchSourceSignal] = []
    }

    private let state = Mutex(State())

    /// Begins to listen. A reader of the output that goes away is an error of writing from now on.
    func start() {
        signal(SIGPIPE, SIG_IGN)
        state.withLock { state in
            for number in [SIGINT, SIGTERM, SIGHUP] {
                // `nohup` has asked to ignore it.
                let before = unsafeBitCast(signal(number, SIG_IGN), to: Int.self)
                if number == SIGHUP, before == unsafeBitCast(SIG_IGN, to: Int.self) { continue }
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { self.interrupt() }
                source.resume()
                state.sources.append(source)
            }
        }
    }

    /// Runs an operation that calls ``check()`` from time to time.
    func whileChecking<Result>(_ operation: () throws -> Result) rethrows -> Result {
        respond {}
        defer { respond(nil) }
        return try operation()
    }

    /// Sets what an interrupt does from now on.
    func respond(_ response: (@Sendable () -> Void)?) {
        state.withLock { $0.response = response }
    }

    /// - Throws: `CancellationError` if the user has cancelled.
    func check() throws {
        if state.withLock({ $0.isInterrupted }) { throw CancellationError() }
    }

    /// Says that a file or folder is unfinished: it is removed if the process is ended.
    func add(leftover path: String) { _ = state.withLock { $0.leftovers.insert(path) } }

    /// Says that a file is finished or removed.
    func forget(leftover path: String) { _ = state.withLock { $0.leftovers.remove(path) } }

    private func interrupt() {
        let response = state.withLock { state in
            // The second one does not wait for the operation.
            let response = state.isInterrupted ? nil : state.response
            state.isInterrupted = true
            return response
        }
        guard let response else { return end() }
        response()
        // One that waits for a pipe does not come to its next check.
        DispatchQueue.global().asyncAfter(deadline: .now() + 5) { self.end() }
    }

    private func end() {
        for path in state.withLock({ $0.leftovers }) {
            do { try FileManager.default.removeItem(atPath: path) } catch { continue }
        }
        if isatty(STDERR_FILENO) == 1 { Console.standard.writeError("\n") }
        _exit(Status.cancelled.rawValue)
    }
}
