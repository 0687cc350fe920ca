internal import Logging
internal import VellumCore

/// What this module tells the log: sentences of ours and result codes, never a key or a value.
enum Log {
    private static let logger = Logger(label: "vellum.storage")

    static func error(_ message: String, _ cause: SQLiteError) {
        logger.error("\(message)", metadata: ["sqlite": "\(cause.code)"])
    }

    static func error(_ message: String, _ cause: VellumError) {
        logger.error("\(message)", metadata: ["code": "\(cause.code)"])
    }

    static func evictsByDefault(_ archive: String, _ limit: DataSize) {
        logger.warning(
            """
            The archive \(displayed(archive)) reached its disk limit of \(limit), the default, and now evicts what was used least \
            recently. Give it a size where it is opened: trySetMaxDiskSize (diskLimit of a store, a cache or a property), or .unlimited.
            """)
    }

    static func limitLowered(_ archive: String, _ change: LimitChange) {
        logger.notice(
            """
            The disk limit of the archive \(displayed(archive)) was lowered from \(change.from) to \(change.to); \
            \(change.removed.entries) entries of \(DataSize(bytes: change.removed.bytes)) were removed.
            """)
    }

    static func logHeldBack(_ path: String, _ holdUp: DatabaseFile.HoldUp) {
        logger.warning(
            """
            The write-ahead log of \(path) has \(holdUp.logSize) and grows, because \(holdUp.process.map { "process \($0)" } ?? "another process") keeps \
            reading what is in it. It may be stopped, by a debugger or by the system. Let it go on, or end it.
            """)
    }

    /// A cache's archive is named for the cache and its version, with a NUL in between.
    static func displayed(_ archive: String) -> String { archive.split(separator: "\0").joined(separator: ", version ") }

    static func warning(_ message: String) { logger.warning("\(message)") }

    static func notice(_ message: String) { logger.notice("\(message)") }
}
