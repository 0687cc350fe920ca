internal import Synchronization
internal import VellumCore

/// The disk limit of an archive as its file has it: it belongs to the archive and not to whoever opens it.
struct StoredLimit: Equatable, Sendable {
    /// Encoded bytes; `Int64.max` for no limit.
    var bytes: Int64
    /// 1 once anyone gave the archive a size, 0 while it has one by default.
    var isGiven: Int64

    init(bytes: Int64, isGiven: Int64) {
        self.bytes = bytes
        self.isGiven = isGiven
    }

    init(given capacity: Capacity) { self.init(bytes: Int64(capacity.bytes), isGiven: 1) }

    /// That of an archive of which nothing was said yet.
    static let unknown = StoredLimit(bytes: 1, isGiven: 0)

    var isPossible: Bool { bytes > 0 && 0...1 ~= isGiven }

    var size: DataSize { DataSize(bytes: Int(clamping: bytes)) }

    /// The limit once the archive is opened.
    ///
    /// - Parameters:
    ///   - given: What the caller says, if anything. It counts, whether it is more or less.
    ///   - fallback: The limit of an archive without a given size. A later, smaller one evicts nothing.
    ///   - held: How many bytes the archive holds. A default limit never evicts what is there.
    func opened(given: Capacity?, otherwise fallback: Capacity, holding held: Int64) -> StoredLimit {
        if let given { return StoredLimit(given: given) }
        if isGiven == 1 { return self }
        return StoredLimit(bytes: max(bytes, Int64(fallback.bytes), held), isGiven: 0)
    }
}

/// What became of an archive when its limit was set.
struct LimitOutcome {
    var before: StoredLimit
    var after: StoredLimit
    /// What left the archive itself.
    var removed: [RemovedEntry] = []
    /// How much left the archive and those that it replaces.
    var lost = StorageUsage()
    /// What is to be done outside every lock, for each transaction.
    var states: [DatabaseFile.WriteState] = []

    /// Whether less fits than before. An archive of which nothing was said until now counts as unlimited, if something had to leave it.
    var isLowered: Bool { before == .unknown ? lost.entries > 0 : after.bytes < before.bytes }

    var change: LimitChange {
        LimitChange(from: before == .unknown ? .unlimited : before.size, to: after.size, removed: lost)
    }
}

/// The disk limit as the last transaction of this process found it, readable outside the writer's lock.
final class LimitMirror: Sendable {
    private let bytes = Atomic(Int.max)
    private let given = Atomic(false)
    private let entries: Atomic<Int>

    init(entries: Int) { self.entries = Atomic(entries) }

    var capacity: Capacity { Capacity(bytes: bytes.load(ordering: .relaxed), entries: entries.load(ordering: .relaxed)) }

    /// Whether anyone gave the archive its size.
    var isGiven: Bool { given.load(ordering: .relaxed) }

    func update(_ limit: StoredLimit) {
        bytes.store(Int(clamping: limit.bytes), ordering: .relaxed)
        given.store(limit.isGiven == 1, ordering: .relaxed)
    }

    func update(entries new: Int) { entries.store(new, ordering: .relaxed) }
}
