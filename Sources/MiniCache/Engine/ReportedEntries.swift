internal import VellumCore

/// The entries whose failure was reported, so that each is reported once until it is set again.
struct ReportedEntries {
    private struct Entry: Hashable {
        var key: EntryKey
        var type: ObjectIdentifier
    }

    private var entries: Set<Entry> = []
    /// Beyond this many, the set is emptied, and failures may be reported again.
    private static let limit = 1024

    /// Returns whether the failure of the entry to be decoded as the type has not been reported yet.
    mutating func insert(_ key: EntryKey, _ type: Any.Type) -> Bool {
        if entries.count >= Self.limit { entries = [] }
        return entries.insert(Entry(key: key, type: ObjectIdentifier(type))).inserted
    }

    mutating func remove(_ key: EntryKey) {
        guard !entries.isEmpty else { return }
        entries = entries.filter { $0.key != key }
    }

    mutating func removeAll() { entries = [] }
}
