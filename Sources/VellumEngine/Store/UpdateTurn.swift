internal import Dispatch
internal import VellumCore

/// A caller's turn to update a key of an archive: callers in one process take turns, so that none of them loses a race to another.
///
/// ```swift
/// let turn = try UpdateTurn.begin(for: key, in: archive)
/// defer { turn.end() }
/// try turn.run { body(&value) }
/// ```
///
/// A caller that has a turn never waits for another one: two that waited for each other would wait forever. It goes on without, and may
/// have to run again.
struct UpdateTurn {
    private static let mutex = KeyedMutex()

    private let hold: KeyedMutex.Hold?
    private let work: ReentrancyGuard.Work

    /// Waits until nobody else in this process has the turn. Blocks.
    ///
    /// - Throws: ``VellumError/Code/recursiveUpdate`` if the caller runs inside an update of the same key.
    static func begin(for key: EntryKey, in archive: DiskArchive) throws(VellumError) -> UpdateTurn {
        guard !isActive(for: key, in: archive) else { throw .recursiveUpdate }
        return UpdateTurn(LockKey(of: archive, key))
    }

    /// Waits until no other transaction that lost a race in this process is tried again. Blocks.
    static func beginTransaction(in file: DatabaseFile) -> UpdateTurn { UpdateTurn(LockKey(of: file, 0)) }

    /// Whether the caller runs inside an update of the key.
    static func isActive(for key: EntryKey, in archive: DiskArchive) -> Bool {
        ReentrancyGuard.isActive(work(LockKey(of: archive, key)))
    }

    private static func work(_ key: LockKey) -> ReentrancyGuard.Work { .holding(key, mutex: ObjectIdentifier(mutex)) }

    private init(_ key: LockKey) {
        work = Self.work(key)
        hold = ReentrancyGuard.isHolding(mutex: ObjectIdentifier(Self.mutex)) ? Self.mutex.tryLock(key) : Self.wait(for: key)
    }

    private static func wait(for key: LockKey) -> KeyedMutex.Hold {
        let turn = DispatchSemaphore(value: 0)
        let passed = Passed()
        let hold = mutex.lock(key) {
            KeyedMutex.Waiter { hold in
                passed.hold.withLock { $0 = hold }
                turn.signal()
                return true
            }
        }
        if let hold { return hold }
        ReentrancyGuard.threadWillBlock()
        while true {
            turn.wait()
            if let hold = passed.hold.withLock({ $0 }) { return hold }
        }
    }

    /// The key, as its last holder passed it on.
    private final class Passed: Sendable {
        let hold = Locked<KeyedMutex.Hold?>(nil)
    }

    /// Runs the caller's closure as part of the turn.
    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        let running = ReentrancyGuard(work)
        defer { running.end() }
        return try running.run(body)
    }

    func end() {
        if let hold { Self.mutex.unlock(hold) }
    }
}

/// How often an update or a transaction runs before it fails.
enum Retrying {
    static let most = 64
}

extension VellumError {
    static let recursiveUpdate = VellumError(
        .recursiveUpdate,
        """
        The closure of an update writes or updates the key that is being updated. Change the value that the closure is given, and do nothing \
        else to its key.
        """)

    static func lostRaces(_ count: Int) -> VellumError {
        VellumError(
            .busy,
            """
            Others wrote what was read, \(count) times in a row, before the result was recorded. Nothing was changed. Do less in the closure, \
            or try again.
            """)
    }
}
