package import Dispatch
internal import Synchronization
public import VellumCore

/// A caller's turn to update a key of an archive: callers in one process take turns, so that none
/// of them loses a race to another (decision 63).
///
/// ```swift
/// let turn = try UpdateTurn.begin(for: key, in: disk)
/// defer { turn.end() }
/// try turn.run { body(&value) }
/// ```
///
/// A turn is a courtesy, which keeps nobody from writing. A caller whose closure runs in one never
/// waits for another: two that waited for each other would wait forever. Nobody waits for a turn
/// for longer than five seconds: the one who has it may be waiting for the caller in some other
/// way. Who got no turn goes on without, and may have to run again.
///
/// A transaction that lost a race has the turn of its file when it is tried again. Who has got the
/// turn of a key waits for it before it begins.
@usableFromInline
package struct UpdateTurn {
    private static let mutex = KeyedMutex()

    private let hold: KeyedMutex.Hold?
    private let work: ReentrancyGuard.Work
    /// The archive of the key, which counts its updates.
    private let archive: Archive?
    /// The transactions of the file, which count those that are tried again.
    private let transactions: RunningTransactions?

    /// How long a caller waits at most.
    @TaskLocal package static var patience = DispatchTimeInterval.seconds(5)

    /// Waits until nobody else in this process has the turn, and then until the transactions that
    /// are tried again have ended, each for five seconds at most. Blocks.
    ///
    /// - Throws: ``VellumError/Code/recursiveUpdate`` if the caller runs inside an update of the
    ///   same key.
    @usableFromInline
    static func begin(for key: EntryKey, in disk: DiskArchive) throws(VellumError) -> UpdateTurn {
        let archive = disk.archive
        let file = disk.file
        let key = LockKey(of: archive, hashable: key)
        guard !ReentrancyGuard.isActive(work(key)) else { throw .recursiveUpdate }
        archive.updates.add(1, ordering: .relaxed)
        let turn = UpdateTurn(key, archive, nil)
        // After the key's turn, so that at most one of those who wait for the key overtakes the
        // transaction. A transaction waits for no key.
        if file.transactions.areRetried, !isActive, let hold = wait(for: ofTransactions(in: file)) {
            mutex.unlock(hold)
        }
        return turn
    }

    /// Waits until no other transaction that lost a race in this process is tried again. Blocks.
    static func beginTransaction(in file: DatabaseFile) -> UpdateTurn {
        file.transactions.retried.add(1, ordering: .relaxed)
        return UpdateTurn(ofTransactions(in: file), nil, file.transactions)
    }

    private static func ofTransactions(in file: DatabaseFile) -> LockKey {
        LockKey(of: file, hashable: 0)
    }

    /// Whether the caller runs inside an update of any key.
    static var isActive: Bool { ReentrancyGuard.isHolding(mutex: ObjectIdentifier(mutex)) }

    /// Whether the caller runs inside an update of the key.
    static func isActive(for key: EntryKey, in archive: Archive) -> Bool {
        ReentrancyGuard.isActive(work(LockKey(of: archive, hashable: key)))
    }

    /// Throws if the caller is inside the update of a key that it writes: the update would be
    /// overtaken by it again and again.
    static func refuse(_ writes: [ArchiveWrite], in archive: Archive) throws(VellumError) {
        guard isActive else { return }
        // What is only required may be read by the closure.
        for write in writes where write.archive === archive && write.changesFile {
            guard !isActive(for: write.key, in: archive) else { throw .recursiveUpdate }
        }
    }

    private static func work(_ key: LockKey) -> ReentrancyGuard.Work {
        .holding(key, mutex: ObjectIdentifier(mutex))
    }

    private init(_ key: LockKey, _ archive: Archive?, _ transactions: RunningTransactions?) {
        work = Self.work(key)
        self.archive = archive
        self.transactions = transactions
        let hold = Self.mutex.tryLock(key)
        self.hold = hold != nil || Self.isActive ? hold : Self.wait(for: key)
    }

    private static func wait(for key: LockKey) -> KeyedMutex.Hold? {
        let begin = ContinuousClock.now
        defer { CallStart.note(.now - begin) }
        return mutex.lock(key, until: .now() + patience)
    }

    /// Runs the caller's closure as part of the turn.
    @usableFromInline
    func run(_ body: () throws -> Void) rethrows {
        let running = ReentrancyGuard(work)
        defer { running.end() }
        try running.run(body)
    }

    @usableFromInline
    func end() {
        archive?.updates.subtract(1, ordering: .relaxed)
        transactions?.retried.subtract(1, ordering: .relaxed)
        CallStart.forget()
        if let hold { Self.mutex.unlock(hold) }
    }
}

/// How often an update or a transaction runs before it fails.
@usableFromInline
enum Retrying {
    @inlinable static var most: Int { 64 }
}

extension Archive {
    /// Throws if the archive's handle was closed, or the caller is inside the update of a key that
    /// it writes.
    func check(_ writes: [ArchiveWrite]) throws(VellumError) {
        try checkOpen()
        if updates.load(ordering: .relaxed) > 0 { try UpdateTurn.refuse(writes, in: self) }
        for index in writes.indices where writes[index].archive === self && writes[index].isSliding
        {
            hasSlidingUses.store(true, ordering: .relaxed)
        }
    }
}

extension VellumError {
    static let recursiveUpdate = VellumError(
        .recursiveUpdate,
        """
        The closure of an update writes or updates the key that is being updated. Change the value \
        that the closure is given, and do nothing else to its key.
        """
    )

    @usableFromInline
    static func lostRaces(_ count: Int) -> VellumError {
        VellumError(
            .busy,
            """
            Others wrote what was read, \(count) times in a row, before the result was recorded. \
            Nothing was changed. Do less in the closure, or try again.
            """
        )
    }
}
