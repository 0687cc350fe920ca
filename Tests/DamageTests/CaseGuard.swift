import Foundation
import VellumCore
import VellumEngine

/// Names the case under way when it takes the process down, or does not end.
enum CaseGuard {
    private static let slots = 16
    private static let length = 256
    /// The names, where a signal handler may read them. Unsafe because what is written is protected by each slice having a slot
    /// of its own, and is read while everything stands still.
    nonisolated(unsafe) private static let names = UnsafeMutablePointer<CChar>.allocate(capacity: slots * length)
    private static let started = Locked<[Int: ContinuousClock.Instant]>([:])

    /// How long a case may take, in seconds, however busy the machine is; then it hangs, and the process ends.
    private static let patience = 1200.0

    private static let install: Void = {
        names.initialize(repeating: 0, count: slots * length)
        for signal in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
            Foundation.signal(signal) { number in
                CaseGuard.tell()
                Foundation.signal(number, SIG_DFL)
                raise(number)
            }
        }
        Thread.detachNewThread {
            while true {
                Thread.sleep(forTimeInterval: 1)
                let now = ContinuousClock.now
                if started.withLock({ $0.values.contains { (now - $0) / .seconds(1) > patience } }) { abort() }
            }
        }
    }()

    /// Says that a slice begins a case.
    static func begin(_ name: String, slice: Int) {
        _ = install
        let text = Array(("CASE " + name + "\n").utf8CString.prefix(length - 1)) + [0]
        for (offset, character) in text.enumerated() { names[slice * length + offset] = character }
        started.withLock { $0[slice] = ContinuousClock.now }
    }

    static func end(slice: Int) {
        (names + slice * length).pointee = 0
        started.withLock { $0[slice] = nil }
    }

    private static func tell() {
        for slot in 0..<slots {
            let name = names + slot * length
            _ = write(2, name, strlen(name))
        }
    }
}
