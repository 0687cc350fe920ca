internal import VellumCore

/// What a transaction changes of one archive, as others are told of it.
struct ChangedKeys {
    /// Of more than so many it is told that everything changed: a quarter of what others can look up.
    private static let most = ChangePage.changes / 4

    private var keys: [UInt64] = []
    private var isEverything = false

    var isEmpty: Bool { keys.isEmpty && !isEverything }

    /// The hashes of the keys; `nil` for every key.
    var hashes: [UInt64]? { isEverything ? nil : keys }

    mutating func insert(_ key: EntryKey) {
        guard !isEverything else { return }
        guard keys.count < Self.most else { return insertAll() }
        keys.append(key.sharedHash)
    }

    mutating func insertAll() {
        isEverything = true
        keys = []
    }
}
