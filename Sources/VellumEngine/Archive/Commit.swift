internal import VellumCore

/// What has changed, and what that makes due: the form in which everybody is told of every change
/// (decision 74).
struct Commit: Sendable {
    enum Source: Sendable {
        /// A transaction of this process. Of relaxed writes there are two commits: one when they
        /// are in the open batch (``Due/isOpen``), one when the batch is in the file.
        case transaction
        /// Memory, which has lost what only it had.
        case memory
        /// The clock: an age has ended.
        case clock
        /// The change page: a transaction of any process.
        case page
    }

    /// What changed in one archive.
    struct Change: Sendable {
        /// The number of the archive.
        var archive: Int64
        /// The archive, if this process has it open.
        var known: Archive?
        var keys: ChangedKeys
        /// How many of the keys an earlier commit of the same transaction has told of.
        var told = 0
        /// Its position among the changes of the archive; `nil` if no other process can see it.
        var number: OwnChange?
        /// The entries that were removed without a write of their key, and why.
        var removed: [Removal] = []
    }

    /// Entries that were removed for one reason.
    struct Removal: Sendable {
        var entries: [RemovedEntry]
        var cause: RemovalCause
    }

    var source = Source.transaction
    var changes: [Change]
    /// What is to be done about it.
    var due = Due()

    /// What a write makes due, without a lock.
    struct Due: Sendable {
        /// The number of commits so far, which a sync of the log must cover.
        var commits: UInt64 = 0
        /// The number of pages in the log after the last commit.
        var logFrames = 0
        /// Whether the writes are in a transaction that is still open.
        var isOpen = false
        /// The bytes that were removed since space was last returned to the file system.
        var bytesRemoved: Int64 = 0
        /// Whether there may be entries that were there when their archive was emptied.
        var mayHoldCleared = false
        /// When the first entry expires, of the archives that were written.
        var earliestEnd = WallInstant.never
        /// Archives that evict because they reached the default limit.
        var evictionsByDefault: [(archive: Archive, limit: DataSize)] = []
    }

    /// Becomes visible to others, too, with what was committed since.
    mutating func follow(_ later: Commit) {
        let mine = changes
        self = later
        // The later one has all of its archives, but not what this one has removed, and nobody was
        // told of its keys yet.
        for change in mine {
            for index in changes.indices where changes[index].archive == change.archive {
                changes[index].removed.insert(contentsOf: change.removed, at: 0)
                changes[index].told = change.told
            }
        }
    }

    /// Tells the owners what was removed: memory drops it, or has it alone if it was evicted.
    /// Called under the writer's lock, so that it happens in the order of the commits.
    func tellOwners() {
        for change in changes where !change.removed.isEmpty {
            guard let owner = change.known?.owner else { continue }
            for removal in change.removed { owner.archiveDidRemove(removal.entries, removal.cause) }
        }
    }
}
