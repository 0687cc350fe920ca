internal import Logging
internal import VellumCore

/// Something that went wrong and that no error says, because the call succeeded or nobody waits for
/// its outcome.
///
/// ```swift
/// let storage = memory.combined(with: disk).reporting { report in
///     metrics.count(report.event)
/// }
/// ```
///
/// Reports are logged as well (`swift-log`, label `vellum.shallows`): one a minute for each event
/// and layer, with the number of those in between. Their `description` quotes an error of your own
/// storage as it describes itself, and adds no key and no value.
public struct StorageReport: Sendable, CustomStringConvertible {
    /// What happened.
    public enum Event: String, Sendable {
        /// A layer failed with an error that may mean a miss, and the next one was asked.
        case fellThrough
        /// A value that a later layer had could not be set to an earlier one.
        case fillFailed
        /// A set without a completion failed.
        case setFailed
        /// A removal without a completion failed.
        case removalFailed
        /// A storage called its completion more than once.
        case answeredTwice
    }

    /// What happened.
    public let event: Event
    /// The layer in which it happened.
    public let layer: String
    /// The error, if there is one.
    public let error: ShallowsError?

    @usableFromInline
    init(_ event: Event, layer: String, _ error: ShallowsError? = nil) {
        self.event = event
        self.layer = layer
        self.error = error
    }

    /// The event, the layer and the error.
    public var description: String {
        "\(event.rawValue) in \(layer)" + (error.map { " (\($0))" } ?? "")
    }

    /// Writes it to the log, unless one like it was written less than a minute ago.
    func log() {
        let now = ContinuousClock.now
        let unlogged = StorageReport.lines.withLock {
            $0.note(Line(event: event, layer: layer), at: now)
        }
        guard let unlogged else { return }
        // Many user-supplied storages answer so for a miss.
        let fallingThrough: Logger.Level =
            StorageReport.isVerbose.withLock { $0 } ? .notice : .debug
        StorageReport.logger.log(
            level: event == .fellThrough ? fallingThrough : .warning,
            "\(self)",
            metadata: unlogged > 0 ? ["since": "\(unlogged) more"] : nil
        )
    }

    private static let logger = Logger(label: "vellum.shallows")
    private static let lines = Locked(Lines())
    /// What `ShallowsLog` says.
    static let isVerbose = Locked(false)

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
                if last.count >= 1000 { last = [:] }  // Some names of layers are new for each use.
                let unlogged = last[line]?.unlogged ?? 0
                last[line] = (now, 0)
                return unlogged
            }
            last[line] = (moment, unlogged + 1)
            return nil
        }
    }
}
