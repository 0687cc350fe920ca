internal import Foundation
internal import Synchronization
internal import VellumFiles

/// A bar on standard error, where that is a terminal.
final class ProgressBar: Sendable {
    private let console: Console
    private let label: String
    private let unit: @Sendable (Int) -> String
    private let drawn = Mutex<(text: String, time: Date)?>(nil)

    /// - Parameter unit: How an amount is written.
    init(
        _ label: String,
        console: Console,
        unit: @escaping @Sendable (Int) -> String = { Numbers.count($0) }
    ) {
        self.label = label
        self.console = console
        self.unit = unit
    }

    /// Shows a bar while an operation runs that calls ``update(_:)`` from time to time.
    static func during<Result>(
        _ label: String,
        unit: @escaping @Sendable (Int) -> String = { Numbers.count($0) },
        _ operation: (ProgressBar) throws -> Result
    ) rethrows -> Result {
        let bar = ProgressBar(label, console: .current, unit: unit)
        defer { bar.end() }
        return try Interrupts.shared.whileChecking { try operation(bar) }
    }

    /// Shows how far an operation is, at most ten times a second, and ends it if the user has
    /// cancelled.
    func update(_ progress: ArchiveFile.Progress) throws {
        try update(completed: progress.completed, of: progress.total)
    }

    /// The same with numbers.
    func update(completed: Int, of total: Int) throws {
        try Interrupts.shared.check()
        guard console.surroundings.isErrorTerminal else { return }
        let now = Date()
        drawn.withLock { drawn in
            if let drawn, now.timeIntervalSince(drawn.time) < 0.1, now >= drawn.time { return }
            let text = Self.text(
                label,
                completed,
                of: total,
                width: console.surroundings.width - 1,
                unit: unit
            )
            if text != drawn?.text { console.writeError("\r\(text)\u{1B}[K") }
            drawn = (text, now)
        }
    }

    /// Removes the bar.
    func end() {
        drawn.withLock { drawn in
            if drawn != nil { console.writeError("\r\u{1B}[K") }
            drawn = nil
        }
    }

    /// The bar as a text that fits a width.
    static func text(
        _ label: String,
        _ completed: Int,
        of total: Int,
        width: Int,
        unit: (Int) -> String
    ) -> String {
        let percent = min(100, Numbers.percent(completed, of: total))
        let amount = "\(unit(completed)) of \(unit(total))"
        let figures = DisplayWidth.padded("\(percent) %", to: 5, isRight: true)
        let room = width - label.count - figures.count - amount.count - 6
        guard room >= 8 else {
            return DisplayWidth.shortened("\(label) \(figures)", to: max(0, width))
        }
        let cells = min(room, 30)
        let full = cells * percent / 100
        let bar =
            String(repeating: "█", count: full)
            + String(repeating: "░", count: cells - full)
        return "\(label) \(bar) \(figures)  \(amount)"
    }
}
