internal import Logging
internal import Tiers

/// What this module tells the log: sentences of ours and result codes, never a key or a value.
enum Log {
    private static let logger = Logger(label: "vellum.storage")

    static func error(_ message: String, _ cause: SQLiteError) {
        logger.error("\(message)", metadata: ["sqlite": "\(cause.code)"])
    }

    static func error(_ message: String, _ cause: StoreError) {
        logger.error("\(message)", metadata: ["code": "\(cause.code)"])
    }

    static func warning(_ message: String) { logger.warning("\(message)") }

    static func notice(_ message: String) { logger.notice("\(message)") }
}
