internal import Logging

/// Something that went wrong, of which no error tells because the call succeeded all the same.
///
/// ```swift
/// let storage = memory.combined(with: disk).reporting { report in metrics.count(report.event) }
/// ```
///
/// Every report goes to the log, too (`swift-log`, label `vellum.shallows`). Its `description` holds no key and no value.
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

    func log() {
        // An unknown error is what many storages answer for a miss: not worth a line at every one.
        StorageReport.logger.log(level: event == .fellThrough ? .debug : .warning, "\(self)")
    }

    private static let logger = Logger(label: "vellum.shallows")
}
