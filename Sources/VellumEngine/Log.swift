internal import Foundation
internal import Logging
package import VellumCore

/// Writes the engine's messages to the log: fixed sentences, paths, archive names and result codes,
/// never a key or a value.
package enum Log {
    private static let logger = Logger(label: "vellum.storage")

    package static func error(_ message: String, sqliteCode: Int32) {
        logger.error("\(message)", metadata: ["sqlite": "\(sqliteCode)"])
    }

    package static func error(_ message: String, _ cause: VellumError) {
        logger.error("\(message)", metadata: ["code": "\(cause.code)"])
    }

    static func evictsByDefault(_ archive: String, _ limit: DataSize) {
        logger.warning(
            """
            The archive \(displayed(archive)) reached its disk limit of \(limit), the default, and \
            now evicts the least recently used entries. Set a size when you open it: \
            trySetMaxDiskSize (diskLimit of a store, a cache or a property), or .unlimited. A \
            recommended size is logged after more reads.
            """
        )
    }

    static func adviseSize(_ archive: String, _ limit: DataSize, _ advice: String) {
        logger.warning(
            "The archive \(displayed(archive)) evicts at \(limit), its default limit. \(advice)"
        )
    }

    static func advice(_ sizing: Sizing, _ limit: DataSize) -> String? {
        sizing.limit().map { enough in
            enough.bytes <= limit.bytes
                ? "That keeps 95 % of the hits."
                : "A disk limit of \(enough) would keep 95 % of the hits."
        }
    }

    static func sizesIgnored(
        _ archive: String,
        _ open: (memory: Capacity, disk: Capacity),
        requested: (memory: Capacity, disk: Capacity)
    ) {
        let line = """
            The archive \(displayed(archive)) has \(open.memory) of memory and \(open.disk) of \
            disk, and was requested with \(requested.memory) and \(requested.disk), which is \
            ignored: trySetMaxMemorySize and trySetMaxDiskSize apply to the first opening in a \
            program. To raise a limit, use store(for:memoryLimit:diskLimit:). This is not logged \
            again.
            """
        logger.notice("\(line)")
        LoggedLines.observer?(line)
    }

    static func unusableIndexes(_ archive: String, _ names: [String]) {
        let list = names.joined(separator: "; ")
        logger.warning(
            """
            The archive \(displayed(archive)) has indexes that no query can use: \
            \(list). Queries use indexes of properties that are Equatable \
            or optional, and of the archive's own type, not of its superclass.
            """
        )
    }

    static func doubtfulProperty(_ archive: String, _ type: Any.Type) {
        let line = """
            A query of the archive \(displayed(archive)) has a condition or an order by a property \
            of type \(type) that no index has, unless by another key path: that of a computed \
            property, of a property of a class, or of one that generic code reads through a \
            protocol is equal only to one that is formed in the same way. Form the key path of the \
            index as the query does. This is not logged again.
            """
        logger.notice("\(line)")
        LoggedLines.observer?(line)
    }

    static func outdatedIndex(_ archive: String) {
        let line = """
            The indexes of the archive \(displayed(archive)) are built again, because its newest \
            objects have other values than the indexes. An indexed property must depend on what is \
            encoded alone: not on the time, the time zone or the locale.
            """
        logger.notice("\(line)")
        LoggedLines.observer?(line)
    }

    static func limitLowered(_ archive: String, _ change: LimitChange) {
        logger.notice(
            """
            The disk limit of the archive \(displayed(archive)) was lowered from \(change.from) to \
            \(change.to); \(change.removed.entries) entries of \
            \(DataSize(bytes: change.removed.bytes)) were removed.
            """
        )
    }

    static func logHeldBack(_ path: String, _ size: DataSize, by process: Int32?) {
        logger.warning(
            """
            The write-ahead log of \(path) has \(size) and keeps growing, because \
            \(process.map { "process \($0)" } ?? "another process") keeps an old snapshot open. A \
            debugger or the system may have stopped it. Continue or end that process.
            """
        )
    }

    static func namesake(_ archive: String, _ other: String) {
        logger.notice(
            """
            The archive \(displayed(archive)) is new, and the file has \(displayed(other)), which \
            nobody has open. If the type was renamed or moved, make it a VersionedArchive and add: \
            static var formerArchiveNames: [String] { ["\(displayed(other))"] }
            """
        )
    }

    static func versionReplaced(_ archive: String, removed: Int, isSecondWithinAnHour: Bool) {
        logger.notice(
            """
            The cache \(displayed(archive)) was opened with another version than before: its \
            \(removed) values were removed.
            """
        )
        guard isSecondWithinAnHour else { return }
        logger.warning(
            """
            The cache \(displayed(archive)) was opened with two versions in turn within an hour, \
            and each time its values were removed. If two programs share the file, give both the \
            same version with .custom, or each a cache name of its own.
            """
        )
    }

    /// Returns the name of an archive for messages.
    ///
    /// Without Foundation, which takes a lock of the runtime: in a forked process, one that another
    /// thread had would never be free.
    package static func displayed(_ archive: String) -> String {
        archive.replacing("\0", with: "\\0")
    }

    package static func warning(_ message: String) { logger.warning("\(message)") }

    package static func notice(_ message: String) { logger.notice("\(message)") }
}
