internal import Logging
internal import VellumCore

/// Something that went wrong, of which no error tells because the call succeeded all the same.
///
/// ```swift
/// let storage = memory.combined(with: disk).reporting { report in metrics.count(report.event) }
/// ```
///
/// Reports go to the log as well (`swift-log`, label `vellum.shallows`): of each event in each layer one a minute, and how many there
/// were since. Their `description` holds no key and no value.
public struct StorageReport: Sendable, CustomStringConvertible {
    /// What happened.
    public enum Event: String, Sendable {
        /// A layer failed with an error of which nothing is known, and the next one was asked.
        case fellThrough
        /// A value that a later layer had could not be set to an earlier one.
        case fillFailed
        /// A value was set to some layers only, and those were given back what they had.
        case undone
        /// They could not be given back what they had.
        case undoFailed
        /// A set whose caller wanted no answer failed.
        case setFailed
        /// What was to be removed without an answer was not.
        case removalFailed
        /// A storage called its completion more than once.
        case answeredTwice
    }

    public let event: Event
    /// The layer that it happened in.
    public let layer: String
    /// Why, where there is an error.
    public let error: ShallowsError?

    @usableFromInline
    init(_ event: Event, layer: String, _ error: ShallowsError? = nil) {
        self.event = event
        self.layer = layer
        self.error = error
    }

    public var description: String { "\(event.rawValue) in \(layer)" + (error.map { " (\($0))" } ?? "") }

    /// Writes it to the log, unless one like it was written less than a minute ago.
    func log() {
        let now = ContinuousClock.now
        let unlogged = StorageReport.lines.withLock { $0.note(Line(event: event, layer: layer), at: now) }
        guard let unlogged else { return }
        // An unknown error is what many storages answer for a miss.
        StorageReport.logger.log(
            level: event == .fellThrough ? .debug : .warning, "\(self)", metadata: unlogged > 0 ? ["since": "\(unlogged) more"] : nil)
    }

    private static let logger = Logger(label: "vellum.shallows")
    private static let lines = Locked(Lines())

    private struct Line: Hashable, Sendable {
        let event: Event
        let layer: String
    }

    /// What was logged when, and how often it happened since.
    private struct Lines: Sendable {
        private var last: [Line: (moment: ContinuousClock.Instant, unlogged: Int)] = [:]

        /// - Returns: How many like it were not logged; `nil` if this one should not be either.
        mutating func note(_ line: Line, at now: ContinuousClock.Instant) -> Int? {
            guard let (moment, unlogged) = last[line], now - moment < .seconds(60) else {
                if last.count >= 1000 { last = [:] }  // Layers that are named anew for each use.
                let unlogged = last[line]?.unlogged ?? 0
                last[line] = (now, 0)
                return unlogged
            }
            last[line] = (moment, unlogged + 1)
            return nil
        }
    }
}
