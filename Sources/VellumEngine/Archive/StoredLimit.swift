internal import Synchronization
internal import VellumCore

/// The disk limit of an archive, as its file stores it. It belongs to the archive, not to the process that opens it.
struct StoredLimit: Equatable, Sendable {
    /// Encoded bytes; `Int64.max` for no limit.
    var bytes: Int64
    /// 1 once a caller set the archive's size, 0 while it has a default.
    var isGiven: Int64

    init(bytes: Int64, isGiven: Int64) {
        self.bytes = bytes
        self.isGiven = isGiven
    }

    init(given capacity: Capacity) { self.init(bytes: Int64(capacity.bytes), isGiven: 1) }

    /// The limit of an archive before it is first opened.
    static let unknown = StoredLimit(bytes: 1, isGiven: 0)

    var isPossible: Bool { bytes > 0 && 0...1 ~= isGiven }

    var size: DataSize { DataSize(bytes: Int(clamping: bytes)) }

    /// The limit once the archive is opened.
    ///
    /// - Parameters:
    ///   - given: The size that the caller sets, if any. It may be more or less than the present one.
    ///   - fallback: The limit of an archive without a given size. A smaller one than the present limit has no effect.
    ///   - held: How many bytes the archive holds. A default limit is never less.
    func opened(given: Capacity?, otherwise fallback: Capacity, holding held: Int64) -> StoredLimit {
        if let given { return StoredLimit(given: given) }
        if isGiven == 1 { return self }
        return StoredLimit(bytes: max(bytes, Int64(fallback.bytes), held), isGiven: 0)
    }
}

/// The outcome of setting an archive's limit.
struct LimitOutcome {
    var before: StoredLimit
    var after: StoredLimit
    /// The entries that were evicted, and their bytes.
    var removed: [RemovedEntry] = []
    var removedBytes = 0
    /// The state after each transaction, for maintenance outside every lock.
    var states: [DatabaseFile.WriteState] = []

    /// Whether less fits than before. A new archive counts as unlimited if something was evicted.
    var isLowered: Bool { before == .unknown ? !removed.isEmpty : after.bytes < before.bytes }

    var change: LimitChange {
        LimitChange(
            from: before == .unknown ? .unlimited : before.size, to: after.size,
            removed: StorageUsage(entries: removed.count, bytes: removedBytes))
    }
}

/// What the last transaction of this process knew of an open archive, readable outside the writer's lock: its disk limit, what was
/// evicted, and whether it holds another version of its cache now.
final class LimitMirror: Sendable {
    private let bytes = Atomic(Int.max)
    private let given = Atomic(false)
    private let entries: Atomic<Int>
    private let replaced = Atomic(false)
    /// The bytes of entries that this process has evicted since the archive was opened.
    private let evicted = Atomic(0)

    init(entries: Int) { self.entries = Atomic(entries) }

    var capacity: Capacity { Capacity(bytes: bytes.load(ordering: .relaxed), entries: entries.load(ordering: .relaxed)) }

    /// Whether a caller set the archive's size.
    var isGiven: Bool { given.load(ordering: .relaxed) }

    func update(_ limit: StoredLimit) {
        bytes.store(Int(clamping: limit.bytes), ordering: .relaxed)
        given.store(limit.isGiven == 1, ordering: .relaxed)
    }

    var bytesEvicted: Int { evicted.load(ordering: .relaxed) }

    func countEvicted(_ bytes: Int) { evicted.add(bytes, ordering: .relaxed) }

    var isReplaced: Bool { replaced.load(ordering: .acquiring) }

    func setReplaced() { replaced.store(true, ordering: .releasing) }

    func update(entries new: Int) { entries.store(new, ordering: .relaxed) }
}
