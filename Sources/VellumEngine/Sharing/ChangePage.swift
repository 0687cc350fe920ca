internal import CSQLiteConfig
internal import Synchronization
package import VellumCore

/// The layout of the shared file beside the database in which processes announce changes to each
/// other, and its atomic operations (decision 26).
///
/// Frozen with format 1 of the database (`Documentation/Format.md`): every program that opens such
/// a file announces its changes in this way. Later versions may use the words that have no meaning
/// here, and those behind the last change.
///
///     0     magic number, and the version of the layout
///     16    announced: the number of the last change that a process began to commit
///     24    finished: every change up to this number is committed or rolled back
///     32    1 once the database was set aside
///     40    the process that announces
///     48    until when readers keep no snapshot, by a system-wide clock, because a process
///           restarts the log
///     56    how often processes have opened the database
///     64    1 if a thread of some process waits for the next change (its first four bytes)
///     72    odd while the database may have removed entries whose rows are not deleted
///           (``RemovedTable``)
///     80    words of later versions, up to 1023 and from 3072 to 4095: kept, and set to 0 when
///           the page is begun anew
///     1024  256 generations: for each group of archives (archive number modulo 256), the number
///           of the last change
///     4096  4096 changes of 32 bytes, in the slot that the change's number selects: number,
///           number of the previous change of the same generation, hash of the key, and from the
///           lowest bit author (32 bits), archive (24) and kind (8, ``ChangeKind``)
///
/// A hash of 2⁶⁴ - 1 stands for all keys. A kind that is not known is any change of all keys. A
/// process announces while it holds SQLite's write lock. A change is complete if its slot holds its
/// number both before and after it is read. An incomplete or implausible change counts as a change
/// of everything: bad contents of the file can only make a reader discard cached values. Every word
/// is atomic, and added to with overflow: whoever can write the file chooses the numbers.
///
/// Unchecked sendable because every word is atomic; the creator of a value keeps the memory mapped.
package struct ChangePage: @unchecked Sendable {
    static let magic: UInt64 = 0x564C_4D43_4841_4E31  // "VLMCHAN1"
    package static let size = ringStart + capacity * changeSize
    /// How many changes the ring holds.
    static let capacity = 4096
    static let generations = 256

    private static let removalsWord = 72
    private static let generationsStart = 1024
    private static let ringStart = 4096
    private static let changeSize = 32
    /// The limit of plausible numbers. Numbers grow by one for each change, so they never come near
    /// it.
    private static let largestNumber: UInt64 = 1 << 62

    /// The author of a change: one open file in one process. Never 0.
    typealias Author = UInt32

    package let start: UnsafeMutableRawPointer

    /// - Parameter start: ``size`` bytes, aligned to a page.
    package init(_ start: UnsafeMutableRawPointer) { self.start = start }

    private func word(_ offset: Int) -> UnsafePointer<Atomic<UInt64>> {
        UnsafePointer((start + offset).assumingMemoryBound(to: Atomic<UInt64>.self))
    }

    private var announced: UnsafePointer<Atomic<UInt64>> { word(16) }
    private var finished: UnsafePointer<Atomic<UInt64>> { word(24) }

    private func cell(of archive: Int64) -> UnsafePointer<Atomic<UInt64>> {
        word(
            Self.generationsStart + Int(UInt64(bitPattern: archive) % UInt64(Self.generations)) * 8
        )
    }

    /// Returns the number of the last change of the archive, or of others in the same group.
    func generation(of archive: Int64) -> Generation { Generation(cell(of: archive)) }

    // MARK: Making

    /// Whether the magic number and counters are plausible.
    package var isIntact: Bool {
        // Loaded first, because it is never greater than `announced`.
        let finished = finished.pointee.load(ordering: .acquiring)
        return word(0).pointee.load(ordering: .acquiring) == Self.magic
            && word(8).pointee.load(ordering: .relaxed) == UInt64(Self.capacity)
            && announced.pointee.load(ordering: .relaxed) < Self.largestNumber
            && finished <= announced.pointee.load(ordering: .relaxed)
    }

    /// Initializes the page with new random numbers. Processes that have the page mapped discard
    /// what they cache.
    func reset(first: UInt64 = .random(in: 1 << 32..<1 << 60)) {
        word(0).pointee.store(0, ordering: .releasing)
        for offset in stride(from: Self.removalsWord, to: Self.generationsStart, by: 8) {
            word(offset).pointee.store(0, ordering: .relaxed)
        }
        // With the words between the groups and the changes.
        let generationsEnd = Self.generationsStart + Self.generations * 8
        for offset in stride(from: generationsEnd, to: Self.size, by: 8) {
            word(offset).pointee.store(0, ordering: .relaxed)
        }
        for number in 0..<Self.generations {
            cell(of: Int64(number)).pointee.store(first, ordering: .relaxed)
        }
        announced.pointee.store(first, ordering: .relaxed)
        finished.pointee.store(first, ordering: .relaxed)
        word(32).pointee.store(0, ordering: .relaxed)
        word(56).pointee.store(first, ordering: .relaxed)
        word(64).pointee.store(0, ordering: .relaxed)
        word(8).pointee.store(UInt64(Self.capacity), ordering: .relaxed)
        word(0).pointee.store(Self.magic, ordering: .releasing)
        // Whoever waits must set the word at 64 again.
        vellum_wake(start + 64)
    }

    // MARK: Announcing

    /// The most keys that are announced one by one; more are announced as a change of the whole
    /// archive. A quarter of the ring.
    static let mostKeys = capacity / 4

    /// The changes of one commit in one archive.
    struct Announcement {
        var archive: Int64
        var keys: ChangedKeys
    }

    /// Announces changes to other processes before they are committed. The caller must hold
    /// SQLite's write lock.
    ///
    /// - Returns: The number of the last change, and each archive's generation before and after.
    func announce(
        _ announcements: [Announcement],
        by author: Author,
        of process: Int32
    ) -> (last: UInt64, changes: [OwnChange]) {
        var last = announced.pointee.load(ordering: .relaxed)
        // An earlier announcer held the write lock and has released it: its commit has ended, or
        // its process has died.
        finished.pointee.store(last, ordering: .releasing)
        word(40).pointee.store(UInt64(UInt32(bitPattern: process)), ordering: .relaxed)
        let count = announcements.reduce(0) {
            $0 + UInt64($1.keys.single.count + $1.keys.kindsOfAll.count)
        }
        let end = last &+ count
        announced.pointee.store(end, ordering: .sequentiallyConsistent)
        CrashPoint.reached(.changeNumbered)
        var changes: [OwnChange] = []
        changes.reserveCapacity(announcements.count)
        for announcement in announcements {
            let cell = cell(of: announcement.archive)
            let first = cell.pointee.load(ordering: .relaxed)
            var previous = first
            let origin = UInt64(author) | UInt64(Self.number(of: announcement.archive)) << 32
            for change in announcement.keys.single {
                last &+= 1
                write(
                    last,
                    after: previous,
                    change.hash,
                    origin | UInt64(change.kind.rawValue) << 56
                )
                previous = last
            }
            for kind in announcement.keys.kindsOfAll {
                last &+= 1
                write(
                    last,
                    after: previous,
                    Self.wholeArchive,
                    origin | UInt64(kind.rawValue) << 56
                )
                previous = last
            }
            CrashPoint.reached(.changesWritten)
            cell.pointee.store(previous, ordering: .sequentiallyConsistent)
            changes.append(OwnChange(previous: first, last: previous))
        }
        wakeWaiters()
        return (end, changes)
    }

    /// The hash that stands for every key. A key with this very hash is treated as every key.
    private static let wholeArchive = UInt64.max

    /// The archive as a change has it.
    private static func number(of archive: Int64) -> UInt32 {
        UInt32(truncatingIfNeeded: archive) & 0xFF_FFFF
    }

    private func write(_ number: UInt64, after previous: UInt64, _ hash: UInt64, _ origin: UInt64) {
        let slot = slotOffset(of: number)
        word(slot).pointee.store(0, ordering: .relaxed)
        atomicMemoryFence(ordering: .releasing)
        word(slot + 8).pointee.store(previous, ordering: .relaxed)
        word(slot + 16).pointee.store(hash, ordering: .relaxed)
        word(slot + 24).pointee.store(origin, ordering: .relaxed)
        word(slot).pointee.store(number, ordering: .releasing)
    }

    private func slotOffset(of number: UInt64) -> Int {
        Self.ringStart + Int(number % UInt64(Self.capacity)) * Self.changeSize
    }

    /// Ends what others have announced: the caller holds SQLite's write lock, so that no commit is
    /// running.
    func finishOthers() {
        let last = announced.pointee.load(ordering: .relaxed)
        if finished.pointee.load(ordering: .relaxed) != last {
            finished.pointee.store(last, ordering: .releasing)
        }
    }

    /// Announces that the changes up to `number` are committed or rolled back.
    func finish(_ number: UInt64) {
        // Another process may have announced since, and so already finished ours.
        finished.pointee.max(number, ordering: .releasing)
    }

    // MARK: Removed entries

    /// Grows when entries are about to be removed whose rows are not deleted, and again when all
    /// are: odd in between.
    var removals: UInt64 {
        word(Self.removalsWord).pointee.load(ordering: .acquiring)
    }

    func beginRemovals() { changeRemovals(toOdd: true) }
    func endRemovals() { changeRemovals(toOdd: false) }

    private func changeRemovals(toOdd: Bool) {
        let present = removals
        guard (present & 1 == 1) != toOdd else { return }
        _ = word(Self.removalsWord).pointee.compareExchange(
            expected: present,
            desired: present &+ 1,
            ordering: .sequentiallyConsistent
        )
    }

    // MARK: Reading

    private struct Change {
        var previous: UInt64
        var hash: UInt64
        var archive: UInt32
        var author: Author
        /// `nil` if a later version has announced it.
        var kind: ChangeKind?
    }

    private func change(_ number: UInt64) -> Change? {
        let slot = slotOffset(of: number)
        guard word(slot).pointee.load(ordering: .acquiring) == number else { return nil }
        let previous = word(slot + 8).pointee.load(ordering: .relaxed)
        let hash = word(slot + 16).pointee.load(ordering: .relaxed)
        let origin = word(slot + 24).pointee.load(ordering: .relaxed)
        atomicMemoryFence(ordering: .acquiring)
        guard word(slot).pointee.load(ordering: .relaxed) == number, previous < number else {
            return nil
        }
        return Change(
            previous: previous,
            hash: hash,
            archive: UInt32(origin >> 32 & 0xFF_FFFF),
            author: Author(truncatingIfNeeded: origin),
            kind: ChangeKind(rawValue: UInt8(origin >> 56))
        )
    }

    /// Returns what others than `author` changed in the archive after generation `old`, up to and
    /// including `new`.
    func changes(
        of archive: Int64,
        after old: UInt64,
        through new: UInt64,
        notBy author: Author
    ) -> ChangedKeys {
        var keys = ChangedKeys()
        var number = new
        for _ in 0..<Self.capacity {
            if number == old { return keys }
            guard number > old, let change = change(number) else { return .unknown }
            number = change.previous
            guard change.archive == Self.number(of: archive), change.author != author else {
                continue
            }
            guard let kind = change.kind else { return .unknown }
            if change.hash == Self.wholeArchive {
                keys.insert(all: kind)
            } else {
                keys.insert(ChangedKeys.Key(change.hash, kind), most: Self.capacity)
            }
        }
        return number == old ? keys : .unknown
    }

    /// Returns what anybody changed in the archive after change `old`, up to and including change
    /// `new`. These may be changes of other archives.
    package func changes(
        of archive: Int64,
        numberedAfter old: UInt64,
        through new: UInt64
    ) -> ChangedKeys {
        guard old <= new, let first = lastChange(of: archive, upTo: old),
            let last = lastChange(of: archive, upTo: new)
        else { return .unknown }
        return changes(of: archive, after: first, through: last, notBy: 0)
    }

    /// Returns the number of the last change of the archive's group that is not above `limit`;
    /// `nil` if a later one is incomplete.
    private func lastChange(of archive: Int64, upTo limit: UInt64) -> UInt64? {
        var number = cell(of: archive).pointee.load(ordering: .acquiring)
        for _ in 0..<Self.capacity where number > limit {
            guard let change = change(number) else { return nil }
            number = change.previous
        }
        return number <= limit ? number : nil
    }

    /// Returns whether another author has announced a change of the key but not finished it.
    func isChanging(_ hash: UInt64, of archive: Int64, notBy author: Author) -> Bool {
        let finished = finished.pointee.load(ordering: .acquiring)
        var number = cell(of: archive).pointee.load(ordering: .acquiring)
        // Almost always no change is pending.
        for _ in 0..<Self.capacity {
            guard number > finished else { return false }
            guard let change = change(number) else { return true }
            number = change.previous
            guard change.archive == Self.number(of: archive), change.author != author else {
                continue
            }
            // A prefix or a group may be that of any key.
            let mayBeAny = change.kind.map { $0 == .prefixRemoved || $0 == .groupRemoved } ?? true
            if change.hash == hash || change.hash == Self.wholeArchive || mayBeAny { return true }
        }
        return number > finished
    }

    // MARK: Waiting for changes

    /// Whoever changes something sets the word to 0 and wakes the others, so a process that was
    /// killed while it waited costs one wake. A waiter sets it, looks at the numbers, and waits
    /// only while it is still set: no change can fall in between.
    private var waiting: UnsafePointer<Atomic<UInt64>> { word(64) }

    /// What a waiter compares: it differs after every change.
    package struct Moment: Equatable {
        /// The number of the last change that a process began to commit.
        var announced: UInt64
        /// Every change up to this number is committed or rolled back.
        package var finished: UInt64
        var isRetired: Bool
    }

    /// The present moment. A wait that begins with it ends if a change is announced after it.
    func beginWaiting() -> Moment {
        waiting.pointee.store(1, ordering: .sequentiallyConsistent)
        return now
    }

    /// The present moment, without a wait.
    package var now: Moment {
        let announced = announced.pointee.load(ordering: .sequentiallyConsistent)
        return Moment(
            announced: announced,
            finished: min(finished.pointee.load(ordering: .acquiring), announced),
            isRetired: isRetired
        )
    }

    /// Waits for a change after ``beginWaiting()``, or for as long. May return earlier.
    func wait(milliseconds: Int64) { vellum_wait(start + 64, 1, milliseconds) }

    /// Wakes all waiters. Costs one load if there is none.
    func wakeWaiters() {
        guard waiting.pointee.load(ordering: .sequentiallyConsistent) != 0 else { return }
        waiting.pointee.store(0, ordering: .sequentiallyConsistent)
        vellum_wake(start + 64)
    }

    /// Whether a change that was announced is committed or rolled back.
    func isFinished(_ number: UInt64) -> Bool {
        finished.pointee.load(ordering: .acquiring) >= number
    }

    // MARK: The log

    /// Asks the readers of every process to keep no snapshot until `moment`, so that the log can be
    /// restarted.
    func requestLogRestart(until moment: Int64) {
        word(48).pointee.store(UInt64(bitPattern: moment), ordering: .releasing)
    }

    /// Returns whether a process wants to restart the log now. A request for longer than
    /// ``longestRequest`` is invalid and ignored.
    func isLogRestartRequested(at now: Int64) -> Bool {
        let until = Int64(bitPattern: word(48).pointee.load(ordering: .acquiring))
        return until > now && until &- now <= Self.longestRequest
    }

    /// The longest valid request, in milliseconds.
    static let longestRequest: Int64 = 1000

    // MARK: Opening

    /// How often processes have opened the database. While the number is unchanged, no process has
    /// opened it.
    var openings: UInt64 { word(56).pointee.load(ordering: .sequentiallyConsistent) }

    /// Announces that this process has opened the database. The process must already hold SQLite's
    /// shared lock.
    func announceOpening() { word(56).pointee.wrappingAdd(1, ordering: .sequentiallyConsistent) }

    // MARK: Setting aside

    /// Whether the database was set aside. Later writes to it would be lost.
    var isRetired: Bool { word(32).pointee.load(ordering: .sequentiallyConsistent) != 0 }

    /// Marks the database as set aside.
    func retire() {
        guard !isRetired else { return }
        word(32).pointee.store(1, ordering: .sequentiallyConsistent)
        // Changes every generation, so that caches check the page.
        for number in 0..<Self.generations {
            cell(of: Int64(number)).pointee.wrappingAdd(
                Self.largestNumber,
                ordering: .sequentiallyConsistent
            )
        }
        wakeWaiters()
    }
}
