public import Foundation

/// What an observer of a store is told.
public enum StoreEvent: Sendable {
    /// A value was recorded under the key.
    case recorded(key: String)
    /// An entry left the store, and why.
    case removed(key: String, RemovalCause)
    /// Every entry was removed at once.
    case removedAll
    /// An entry does not match its checksum or cannot be decoded. It stays where it is; every other can be read.
    case damagedEntry(key: String, VellumError)
    /// A damaged file was moved to `to`, with its side files; `salvaged` entries of it were taken over.
    case setAside(to: URL, salvaged: Int)
    /// The disk limit of the archive was lowered, and what did not fit any more was removed.
    case limitLowered(LimitChange)
    /// The log of the file cannot begin anew and grows, because another process keeps reading what is in it: one that is stopped, by a
    /// debugger or by the system, say. `process` is its number, where the system tells it.
    case logHeldBack(process: Int32?, logSize: DataSize)
    /// The file lies on a file system of another machine, where the locks that keep processes apart cannot be trusted.
    case onNetwork
    /// An index that is being built from the stored entries has come so far.
    case indexed(IndexProgress)
    /// Something failed of which no caller could be told.
    case failure(VellumError)
}

/// A disk limit that was lowered.
public struct LimitChange: Hashable, Sendable {
    public var from: DataSize
    public var to: DataSize
    /// What was removed.
    public var removed: StorageUsage

    public init(from: DataSize, to: DataSize, removed: StorageUsage) {
        self.from = from
        self.to = to
        self.removed = removed
    }
}

extension StoreEvent: CustomStringConvertible {
    /// What happened, without a key.
    public var description: String {
        switch self {
        case .recorded: "recorded"
        case .removed(_, let cause): "removed (\(cause))"
        case .removedAll: "removed all"
        case .damagedEntry(_, let error): "damaged entry (\(error.code))"
        case .setAside(_, let salvaged): "set aside, \(salvaged) entries salvaged"
        case .limitLowered(let change): "disk limit lowered from \(change.from) to \(change.to), \(change.removed.entries) entries removed"
        case .logHeldBack(let process, let size):
            "the log, of \(size), is held back by \(process.map { "process \($0)" } ?? "another process")"
        case .onNetwork: "on a network file system"
        case .indexed(let progress): "indexed \(progress.indexed) of \(progress.total)"
        case .failure(let error): "failure (\(error))"
        }
    }
}
