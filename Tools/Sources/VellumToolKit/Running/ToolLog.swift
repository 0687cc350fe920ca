internal import Logging
internal import Synchronization

/// What the library logs: warnings of commands that change a file are lines on standard error. Of
/// others, the result says it.
struct ToolLog: LogHandler {
    private static let tells = Mutex(false)

    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    /// Begins to receive what the library logs. Once in a process.
    static func start() { LoggingSystem.bootstrap { _ in ToolLog() } }

    /// Tells warnings from now on.
    static func tell() { tells.withLock { $0 = true } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard event.level >= .warning, Self.tells.withLock({ $0 }) else { return }
        Console.standard.writeError(
            "vellum: \(TerminalText.shown("\(event.message)", width: 300))\n"
        )
    }
}
