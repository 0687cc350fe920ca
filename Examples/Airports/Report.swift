import Foundation
import Vellum

/// Prints steps with their times, and a progress bar on a terminal.
struct Report {
    private let isTerminal = isatty(STDOUT_FILENO) == 1

    func title(_ text: String) { print("\n\(text)") }

    func line(_ text: String) { print("  \(text)") }

    /// Prints how a query was executed.
    func explanation(_ explanation: QueryExplanation) {
        for line in explanation.description.split(separator: "\n") { self.line("  │ \(line)") }
    }

    /// Runs a step and prints its description and its time.
    func step<Value>(_ work: () throws -> (String, Value)) rethrows -> Value {
        let clock = ContinuousClock()
        let start = clock.now
        let (text, value) = try work()
        line(Self.padded(text) + Self.text(clock.now - start))
        return value
    }

    func progress(_ done: Int, of all: Int) {
        if isTerminal {
            let filled = all == 0 ? 40 : done * 40 / all
            let bar =
                String(repeating: "█", count: filled) + String(repeating: "░", count: 40 - filled)
            print("\r  \(bar) \(done) of \(all)", terminator: done == all ? "\r\u{1B}[K" : "")
            fflush(nil)
        } else if done * 4 / all != (done - 1000) * 4 / all, done < all {
            line("… \(done) of \(all)")
        }
    }

    static func text(_ duration: Duration) -> String {
        let microseconds =
            Double(duration.components.seconds) * 1e6 + Double(duration.components.attoseconds)
            / 1e12
        return microseconds < 1000
            ? String(format: "%7.1f µs", microseconds)
            : String(format: "%7.1f ms", microseconds / 1000)
    }

    private static func padded(_ text: String) -> String {
        text + String(repeating: " ", count: max(1, 84 - text.count))
    }
}
