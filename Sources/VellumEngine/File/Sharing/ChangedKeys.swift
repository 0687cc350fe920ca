internal import VellumCore

/// The keys of one archive that a transaction changes, as announced to other processes.
struct ChangedKeys {
    /// The most keys that are announced one by one; more are announced as a change of the whole archive. A quarter of the ring.
    private static let most = ChangePage.capacity / 4

    private var keys: [UInt64] = []
    private var isEverything = false

    var isEmpty: Bool { keys.isEmpty && !isEverything }

    /// The hashes of the changed keys; `nil` if the whole archive changed.
    var hashes: [UInt64]? { isEverything ? nil : keys }

    /// - Parameter hash: The hash of the key (``SeededHash``).
    mutating func insert(_ hash: UInt64) {
        guard !isEverything else { return }
        guard keys.count < Self.most else { return insertAll() }
        keys.append(hash)
    }

    mutating func insertAll() {
        isEverything = true
        keys = []
    }
}
