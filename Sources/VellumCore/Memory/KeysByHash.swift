/// Keys in memory, by the hash with which other processes announce changes.
///
/// A value type. It is created at the first change by another process. Keys that left memory stay in it until it holds about twice as many
/// keys as memory; then it is rebuilt.
@usableFromInline
struct KeysByHash: Sendable {
    private let hash: SeededHash
    private var keys: [UInt64: EntryKey] = [:]
    /// Hashes of more than one key.
    private var shared: Set<UInt64> = []

    init(_ keys: some Sequence<EntryKey>, hash: SeededHash) {
        self.hash = hash
        for key in keys { add(key) }
    }

    var count: Int { keys.count }

    @usableFromInline
    mutating func add(_ key: EntryKey) {
        let hash = hash.of(key)
        if let present = keys.updateValue(key, forKey: hash), present != key { shared.insert(hash) }
    }

    /// Returns the key with that hash, and whether other keys had the same hash.
    func key(_ hash: UInt64) -> (key: EntryKey?, isShared: Bool) { (keys[hash], shared.contains(hash)) }
}
