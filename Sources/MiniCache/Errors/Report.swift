internal import Logging
internal import VellumCore

/// Logs failures that no caller receives, without keys and values.
enum Report {
    private static let logger = Logger(label: "vellum.minicache")

    /// - Parameters:
    ///   - count: How many failures with its code there were; see ``FailureRuns``.
    ///   - type: The type of the values, if the failure is one of a handle.
    static func failure(
        _ error: MiniCacheError,
        count: Int = 1,
        operation: StaticString,
        _ type: Any.Type? = nil
    ) {
        let line = error.line(count: count)
        var metadata: Logger.Metadata = ["operation": "\(operation)"]
        if let type { metadata["type"] = "\(type)" }
        logger.error("\(line)", metadata: metadata)
        LoggedLines.observer?(line)
    }

    /// Logs that failures are over.
    static func ended(_ notice: MiniCacheError) {
        logger.notice("\(notice.located)")
        LoggedLines.observer?(notice.located)
    }
}
