public import VellumCore

/// Keys in memory by the hash under which other processes tell of changes.
///
/// A pure value. Made when another process is heard of for the first time; keys that left memory stay in it until it has grown to
/// twice as many as there are.
@usableFromInline
struct KeysByHash: Sendable {
    private var keys: [UInt64: EntryKey] = [:]
    /// Hashes that more than one key had.
    private var shared: Set<UInt64> = []

    init(_ keys: some Sequence<EntryKey>) {
        for key in keys { add(key) }
    }

    var count: Int { keys.count }

    @usableFromInline
    mutating func add(_ key: EntryKey) {
        let hash = key.sharedHash
        if let present = keys.updateValue(key, forKey: hash), present != key { shared.insert(hash) }
    }

    /// The key of that hash, and whether others may have had it, too.
    func key(_ hash: UInt64) -> (key: EntryKey?, isShared: Bool) { (keys[hash], shared.contains(hash)) }
}
