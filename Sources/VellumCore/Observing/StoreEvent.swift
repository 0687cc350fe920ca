public import Foundation

/// An event that a store reports to its observers. Later versions may add cases, so a `switch`
/// needs a `default`.
public enum StoreEvent: Sendable {
    /// A value was recorded under the key.
    case recorded(key: String)
    /// An entry was removed, with the reason. Keys that a migration removes are counted by
    /// ``migrated(_:)`` instead.
    case removed(key: String, RemovalCause)
    /// Every entry was removed by one call.
    case removedAll
    /// An entry does not match its checksum or cannot be decoded. It is not removed, and other
    /// entries are not affected.
    case damagedEntry(key: String, VellumError)
    /// A damaged file was moved to `to`, together with its side files. `salvaged` entries were
    /// copied to the new file.
    case setAside(to: URL, salvaged: Int)
    /// The disk limit of the archive was lowered, and entries were evicted to keep it.
    case limitLowered(LimitChange)
    /// A cache was opened with another version, which removed its entries.
    case versionReplaced(VersionChange)
    /// The write-ahead log cannot be restarted and grows, because another process keeps reading an
    /// old snapshot. That process may be stopped, by a debugger or the system for example.
    /// `process` is its number, if the system reports it.
    case logHeldBack(process: Int32?, logSize: DataSize)
    /// The file is on a network file system, where the locks between processes cannot be trusted.
    case onNetwork
    /// An index that is being built from the stored entries has progressed.
    case indexed(IndexProgress)
    /// The objects of an older version of their type are being migrated, or all of them are: one
    /// event for each step, of at most 2048 objects.
    case migrated(MigrationProgress)
    /// Data of an original library was imported when the archive was opened.
    case imported(ImportCounts)
    /// A query skipped this many objects that cannot be decoded.
    case skippedUndecodable(count: Int)
    /// An operation failed that has no caller to throw to.
    case failure(VellumError)
}

/// The lowering of a disk limit, and what it removed.
public struct LimitChange: Hashable, Sendable {
    /// The limit before.
    public var from: DataSize
    /// The limit now.
    public var to: DataSize
    /// The entries and bytes that were removed.
    public var removed: StorageUsage

    /// Creates a description of a lowered limit.
    public init(from: DataSize, to: DataSize, removed: StorageUsage) {
        self.from = from
        self.to = to
        self.removed = removed
    }
}

/// The replacement of one version of a cache by another, and what it removed.
public struct VersionChange: Hashable, Sendable {
    /// The version before; `nil` if the file no longer says which one it was.
    public var from: String?
    /// The version now.
    public var to: String
    /// The entries and bytes that were removed.
    public var removed: StorageUsage

    /// Creates a description of a replaced version.
    public init(from: String?, to: String, removed: StorageUsage) {
        self.from = from
        self.to = to
        self.removed = removed
    }
}

extension StoreEvent: CustomStringConvertible {
    /// The event, without its key.
    public var description: String {
        switch self {
        case .recorded: "recorded"
        case .removed(_, let cause): "removed (\(cause))"
        case .removedAll: "removed all"
        case .damagedEntry(_, let error): "damaged entry (\(error.code))"
        case .setAside(_, let salvaged): "set aside, \(salvaged) entries salvaged"
        case .limitLowered(let change):
            """
            disk limit lowered from \(change.from) to \(change.to), \(change.removed.entries) \
            entries removed
            """
        case .versionReplaced(let change):
            "opened with another version, \(change.removed.entries) entries removed"
        case .logHeldBack(let process, let size):
            """
            the log, of \(size), is held back by \
            \(process.map { "process \($0)" } ?? "another process")
            """
        case .onNetwork: "on a network file system"
        case .indexed(let progress): "indexed \(progress.indexed) of \(progress.total)"
        case .migrated(let progress): "migrated \(progress.examined) of \(progress.total)"
        case .imported(let counts):
            "imported \(counts.imported) of an original library, \(counts.skipped) skipped"
        case .skippedUndecodable(let count): "skipped \(count) objects that cannot be decoded"
        case .failure(let error): "failure (\(error))"
        }
    }
}
