internal import VellumCore

/// The entries whose failure was reported, so that each is reported once until it is set again.
struct ReportedEntries {
    /// The types as which each could not be decoded.
    private var types: [EntryKey: Set<ObjectIdentifier>] = [:]
    /// Beyond this many, all are forgotten, and failures may be reported again.
    private static let limit = 1024

    /// Returns whether the failure of the entry to be decoded as the type has not been reported yet.
    mutating func insert(_ key: EntryKey, _ type: Any.Type) -> Bool {
        if types.count >= Self.limit { types = [:] }
        return types[key, default: []].insert(ObjectIdentifier(type)).inserted
    }

    mutating func remove(_ key: EntryKey) { if !types.isEmpty { types[key] = nil } }

    mutating func removeAll() { types = [:] }
}
