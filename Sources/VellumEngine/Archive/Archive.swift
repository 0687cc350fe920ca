internal import Synchronization
internal import VellumCore

/// What this process knows of one archive: of an open one for as long as it is open, also while the
/// file is suspended.
///
/// May be read on any thread without a lock. What transactions know of the archive is written under
/// the writer's lock.
@usableFromInline package final class Archive: Sendable {
    /// Its number in the file.
    package let id: Int64
    let name: String
    /// The version of the cache that the archive holds; `nil` if it is not one.
    let cacheVersion: String?
    package let checksum: Checksum
    /// The disk limit, as the last transaction of this process knew it.
    let limit: KnownLimit
    /// What the writer plans for expired entries and uses. Locked inside the writer's lock.
    let upkeep = Locked(ArchiveUpkeep())
    /// Whether any entry may expire for every reader.
    let mayExpire = Atomic(false)
    /// Whether the validity of an entry depends on touches that may not be in the file yet.
    let hasSlidingUses = Atomic(false)
    /// How many updates of keys are running.
    let updates = Atomic(0)
    /// Changes with each transaction of this process that uses it, and is odd while one becomes
    /// visible.
    let moment = Atomic<UInt64>(0)
    private let listed = Atomic(false)
    /// Whether it was closed, with its last handle.
    let isClosed = Atomic(false)
    private let replaced = Atomic(false)
    private let owned = Locked(Owned())

    /// What the store has given.
    private struct Owned {
        weak var owner: (any ArchiveOwner)?
        /// The index that this process declared; `nil` if it declared none.
        var shape: IndexShape?
        /// The outcome of the limit that was set on opening, to report to the first owner.
        var openingOutcome: LimitOutcome?
    }

    /// - Parameter limit: Ignores limits where the content of a damaged or foreign file is copied.
    init(
        _ found: ArchiveTable.Found,
        name: String,
        cacheVersion: String? = nil,
        limit: consuming KnownLimit
    ) {
        id = found.id
        self.name = name
        self.cacheVersion = cacheVersion
        self.limit = limit
        checksum = Checksum(archiveName: name, hash: found.hash)
    }

    /// One of which nobody is told: to look at it, or to edit it in a transaction of its own. It
    /// has no limit.
    package convenience init(_ found: ArchiveTable.Found, name: String) {
        self.init(found, name: name, cacheVersion: nil, limit: KnownLimit(entries: .max))
    }

    /// Whether the file lists it among its open archives. Changed under the writer's lock.
    var isListed: Bool {
        get { listed.load(ordering: .relaxed) }
        set { listed.store(newValue, ordering: .relaxed) }
    }

    /// What file and memory are of, if nothing is becoming visible: equal to another one if nothing
    /// has in between.
    @usableFromInline var present: UInt64? {
        let moment = moment.load(ordering: .sequentiallyConsistent)
        return moment & 1 == 0 ? moment : nil
    }

    /// The store that knows of uses that are not in the file yet.
    var owner: (any ArchiveOwner)? { owned.withLock { $0.owner } }

    /// - Returns: The outcome of the limit that was set on opening, to report to the first owner.
    func setOwner(_ new: any ArchiveOwner) -> LimitOutcome? {
        owned.withLock { owned in
            owned.owner = new
            defer { owned.openingOutcome = nil }
            return owned.openingOutcome
        }
    }

    func keep(_ outcome: LimitOutcome) { owned.withLock { $0.openingOutcome = outcome } }

    /// The index that this process declared; `nil` if it declared none.
    var shape: IndexShape? { owned.withLock { $0.shape } }

    func setShape(_ new: IndexShape?) { owned.withLock { $0.shape = new } }

    /// Whether the archive was opened with another version of its cache since. It then finds
    /// nothing and refuses every write, for good.
    @usableFromInline package var isReplaced: Bool { replaced.load(ordering: .acquiring) }

    /// Makes the open archive refuse every call: it holds another version of the cache now.
    func versionWasReplaced() {
        replaced.store(true, ordering: .releasing)
        upkeep.withLock { upkeep in
            upkeep.sweepMap.removeAll()
            upkeep.policies = []
        }
        owner?.archiveWasReplaced()
    }

    /// Notes a limit that was read or set.
    func note(_ new: StoredLimit) {
        upkeep.withLock { $0.limit = new }
        limit.update(new)
    }

    /// An entry was evicted although no caller ever set the archive's size. Logged once.
    func noteEvictionByDefault(_ limit: DataSize) {
        guard upkeep.withLock({ $0.readsAtEviction == nil }) else { return }
        let reads = owner?.sizing(ofDisk: limit.bytes)?.reads ?? 0
        let isFirst = upkeep.withLock { upkeep in
            guard upkeep.readsAtEviction == nil else { return false }
            upkeep.readsAtEviction = reads
            return true
        }
        if isFirst { Log.evictsByDefault(name, limit) }
    }

    /// Logs once which size would do, if an entry was evicted although no caller ever set the
    /// archive's size. Before, nothing that was read had been evicted, so that the limit seemed
    /// large enough.
    func adviseSize(_ sizing: Sizing, _ limit: DataSize) {
        let advice = upkeep.withLock { upkeep -> String? in
            guard let reads = upkeep.readsAtEviction, !upkeep.hasAdvisedSize,
                sizing.reads >= reads + 1000 || sizing.reads < reads
            else {
                return nil
            }
            let advice = Log.advice(sizing, limit)
            upkeep.hasAdvisedSize = advice != nil
            return advice
        }
        if let advice { Log.adviseSize(name, limit, advice) }
    }

    /// The error of a call that has found it not listed.
    var unlisted: SQLiteError { isReplaced ? .versionReplaced : .closedArchive }

    /// Throws if the archive was closed.
    func checkOpen() throws(VellumError) {
        guard !isClosed.load(ordering: .acquiring) else { throw .closed }
    }
}

/// What the writer plans for one archive from one transaction to the next.
struct ArchiveUpkeep {
    /// The retention policy of all readers, and the earliest expiry in each block of entries.
    var retention = Retention()
    var sweepMap = SweepMap()
    /// The retention policies of this process, which must be written every day.
    var policies: [RetentionPolicy] = []
    /// When this process last wrote them, or found them written.
    var policiesWritten = WallInstant(rawValue: .min)
    /// The search for obsolete records of the recency log continues after this stamp.
    var trimmedThrough = UseStamp.never
    /// When the builder begins to replace entries of older versions; `.never` if it has, or does
    /// not.
    var rewriting = WallInstant.never
    /// How many reads the sample had when an entry was first evicted although no caller ever set
    /// the archive's size. Logged then.
    var readsAtEviction: Int?
    /// Whether it was logged which size would do.
    var hasAdvisedSize = false
    /// When what is known of other limits was written last.
    private var sizingWritten = WallInstant(rawValue: .min)
    /// The last limit that was read or set. Another process may drop an archive that is open here:
    /// it keeps its limit.
    var limit = StoredLimit.unknown

    /// Whether so many milliseconds are over since the last call that returned `true`.
    mutating func isSizingDue(at now: WallInstant, after pause: Int64) -> Bool {
        guard now < sizingWritten || sizingWritten.advanced(byMilliseconds: pause) <= now else {
            return false
        }
        sizingWritten = now
        return true
    }
}

/// The disk limit of an open archive, and what was evicted, readable without a lock.
struct KnownLimit: ~Copyable, Sendable {
    private let bytes = Atomic(Int.max)
    private let given = Atomic(false)
    private let entries: Atomic<Int>
    private let evicted = Atomic(0)
    /// Whether limits are ignored, because the content of a damaged or foreign file is being
    /// copied.
    private let isIgnored: Bool

    init(entries: Int, isIgnored: Bool = false) {
        self.entries = Atomic(entries)
        self.isIgnored = isIgnored
    }

    var capacity: Capacity { capacity(of: bytes.load(ordering: .relaxed)) }

    /// The capacity of an archive with this limit in its file.
    func capacity(of limit: StoredLimit) -> Capacity { capacity(of: Int(clamping: limit.bytes)) }

    private func capacity(of bytes: Int) -> Capacity {
        isIgnored ? .unlimited : Capacity(bytes: bytes, entries: entries.load(ordering: .relaxed))
    }

    /// Whether a caller set the archive's size.
    var isGiven: Bool { given.load(ordering: .relaxed) }

    func update(_ limit: StoredLimit) {
        bytes.store(Int(clamping: limit.bytes), ordering: .relaxed)
        given.store(limit.isGiven == 1, ordering: .relaxed)
    }

    func update(entries new: Int) { entries.store(new, ordering: .relaxed) }

    /// The bytes of entries that this process has evicted since the archive was opened.
    var bytesEvicted: Int { evicted.load(ordering: .relaxed) }

    func countEvicted(_ bytes: Int64) {
        if bytes > 0 { evicted.add(Int(bytes), ordering: .relaxed) }
    }
}

extension SQLiteError {
    /// The archive was closed.
    static let closedArchive = SQLiteError(
        code: SQLiteError.misuse,
        message: "The archive is closed."
    )
}
