public import Foundation

/// What an observer of a store is told.
public enum StoreEvent: Sendable {
    /// A value was recorded under the key.
    case recorded(EntryKey)
    /// An entry left the store, and why.
    case removed(EntryKey, RemovalCause)
    /// Every entry was removed at once.
    case removedAll
    /// An entry does not match its checksum or cannot be decoded. It stays where it is; every other can be read.
    case damagedEntry(EntryKey, StoreError)
    /// A damaged file was moved to `to`, with its side files; `salvaged` entries of it were taken over.
    case setAside(to: URL, salvaged: Int)
    /// The file lies on a file system of another machine, where the locks that keep processes apart cannot be trusted.
    case onNetwork
    /// An index that is being built from the stored entries has come so far.
    case indexed(IndexProgress)
    /// Something failed of which no caller could be told.
    case failure(StoreError)
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
        case .onNetwork: "on a network file system"
        case .indexed(let progress): "indexed \(progress.indexed) of \(progress.total)"
        case .failure(let error): "failure (\(error))"
        }
    }
}
