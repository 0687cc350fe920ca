import Foundation
import VellumCore
import VellumEngine

/// Prints the name of the current case if it crashes the process or does not end.
enum CaseGuard {
    private static let slots = 16
    private static let length = 256
    /// The names, where a signal handler can read them. Unsafe because each slice writes only its
    /// own slot, and the handler reads while all threads are stopped.
    nonisolated(unsafe) private static let names = UnsafeMutablePointer<CChar>.allocate(
        capacity: slots * length
    )
    private static let started = Locked<[Int: SuspendingClock.Instant]>([:])

    /// The time limit of a case in seconds, which only one that hangs reaches, on any machine:
    /// cases take a fraction of a second. Then the process ends.
    private static let timeLimit = 1200.0

    /// On a queue of its own, because cases may occupy every thread of the others. Unsafe because
    /// only `install` uses it.
    nonisolated(unsafe) private static let timer = DispatchSource.makeTimerSource(
        queue: DispatchQueue(label: "CaseGuard")
    )

    private static let install: Void = {
        names.initialize(repeating: 0, count: slots * length)
        for signal in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
            Foundation.signal(signal) { number in
                CaseGuard.printNames()
                Foundation.signal(number, SIG_DFL)
                raise(number)
            }
        }
        timer.schedule(deadline: .now() + 1, repeating: 1)
        timer.setEventHandler {
            let now = SuspendingClock.now
            if started.withLock({ $0.values.contains { (now - $0) / .seconds(1) > timeLimit } }) {
                abort()
            }
        }
        timer.resume()
    }()

    /// Records that a slice begins a case.
    static func begin(_ name: String, slice: Int) {
        _ = install
        let text = Array(("CASE " + name + "\n").utf8CString.prefix(length - 1)) + [0]
        for (offset, character) in text.enumerated() { names[slice * length + offset] = character }
        started.withLock { $0[slice] = SuspendingClock.now }
    }

    static func end(slice: Int) {
        (names + slice * length).pointee = 0
        started.withLock { $0[slice] = nil }
    }

    private static func printNames() {
        for slot in 0..<slots {
            let name = names + slot * length
            _ = write(2, name, strlen(name))
        }
    }
}
