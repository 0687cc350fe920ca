internal import Synchronization
internal import VellumCore

/// The layout of the file beside the database in which processes tell each other of changes, and how it is read and written.
///
///     0     what the file is, and the version of its layout
///     16    announced: the number of the last change that someone began to commit
///     24    finished: up to here every change is committed, or rolled back
///     32    1 once the database was set aside
///     40    the process that announces
///     48    until when, by a clock of the whole system, readers keep no snapshot, because someone begins the log anew
///     56    how often a process has opened the database
///     1024  256 generations: for archives, by their numbers, the number of the last change
///     4096  4096 changes of 32 bytes, each in the place that its number says: number, number of the last change of the same generation
///           before it, hash of the key, archive and who made it
///
/// Whoever announces holds SQLite's write lock. A change is whole where its place says its number before and after it was read; what is
/// not is taken for more than is known here. So is whatever else does not make sense: nothing that is in the file can do more than make
/// a reader forget what it remembers. Every word is atomic.
///
/// Unchecked because each word is protected by being atomic; whoever makes a value keeps the memory mapped.
struct ChangePage: @unchecked Sendable {
    static let magic: UInt64 = 0x564C_4D43_4841_4E31  // "VLMCHAN1"
    static let size = ringStart + changes * changeSize
    static let changes = 4096
    static let generations = 256

    private static let generationsStart = 1024
    private static let ringStart = 4096
    private static let changeSize = 32
    /// Numbers grow by one for each change, so they never come near their end.
    private static let largestNumber: UInt64 = 1 << 62

    /// Who made a change: never 0.
    typealias Author = UInt32

    private let start: UnsafeMutableRawPointer

    /// - Parameter start: ``size`` bytes, aligned to a page.
    init(_ start: UnsafeMutableRawPointer) { self.start = start }

    private func word(_ offset: Int) -> UnsafePointer<Atomic<UInt64>> {
        UnsafePointer((start + offset).assumingMemoryBound(to: Atomic<UInt64>.self))
    }

    private var announced: UnsafePointer<Atomic<UInt64>> { word(16) }
    private var finished: UnsafePointer<Atomic<UInt64>> { word(24) }

    private func cell(of archive: Int64) -> UnsafePointer<Atomic<UInt64>> {
        word(Self.generationsStart + Int(UInt64(bitPattern: archive) % UInt64(Self.generations)) * 8)
    }

    /// The number of the last change of an archive, or of others that share its place.
    func generation(of archive: Int64) -> Generation { Generation(cell(of: archive)) }

    // MARK: Making

    /// Whether the words make sense.
    var isIntact: Bool {
        // First, because it never comes to be greater than the other.
        let finished = finished.pointee.load(ordering: .acquiring)
        return word(0).pointee.load(ordering: .acquiring) == Self.magic && word(8).pointee.load(ordering: .relaxed) == UInt64(Self.changes)
            && announced.pointee.load(ordering: .relaxed) < Self.largestNumber
            && finished <= announced.pointee.load(ordering: .relaxed)
    }

    /// Begins anew. Whoever has the page mapped finds numbers that say nothing of what was, and forgets what it remembers.
    func reset(first: UInt64 = .random(in: 1 << 32..<1 << 60)) {
        word(0).pointee.store(0, ordering: .releasing)
        for offset in stride(from: Self.ringStart, to: Self.size, by: 8) { word(offset).pointee.store(0, ordering: .relaxed) }
        for number in 0..<Self.generations { cell(of: Int64(number)).pointee.store(first, ordering: .relaxed) }
        announced.pointee.store(first, ordering: .relaxed)
        finished.pointee.store(first, ordering: .relaxed)
        word(32).pointee.store(0, ordering: .relaxed)
        word(56).pointee.store(first, ordering: .relaxed)
        word(8).pointee.store(UInt64(Self.changes), ordering: .relaxed)
        word(0).pointee.store(Self.magic, ordering: .releasing)
    }

    // MARK: Announcing

    /// What one commit changes of one archive.
    struct Announcement {
        var archive: Int64
        /// The hashes of its keys; `nil` for all of them.
        var keys: [UInt64]?
    }

    /// Tells everyone of changes before they are committed. Only whoever holds SQLite's write lock may.
    ///
    /// - Returns: The number of the last, and what each archive's generation was and is.
    func announce(_ announcements: [Announcement], by author: Author, of process: Int32) -> (last: UInt64, changes: [OwnChange]) {
        var last = announced.pointee.load(ordering: .relaxed)
        // Whoever announced before held the lock, and does no more: it is done, or dead.
        finished.pointee.store(last, ordering: .releasing)
        word(40).pointee.store(UInt64(UInt32(bitPattern: process)), ordering: .relaxed)
        let count = announcements.reduce(0) { $0 + UInt64($1.keys?.count ?? 1) }
        let end = last &+ count
        announced.pointee.store(end, ordering: .sequentiallyConsistent)
        CrashPoint.reached(.changeNumbered)
        var changes: [OwnChange] = []
        changes.reserveCapacity(announcements.count)
        for announcement in announcements {
            let cell = cell(of: announcement.archive)
            let first = cell.pointee.load(ordering: .relaxed)
            var previous = first
            let who = UInt64(UInt32(truncatingIfNeeded: announcement.archive)) << 32 | UInt64(author)
            if let keys = announcement.keys {
                for hash in keys {
                    last &+= 1
                    write(last, after: previous, hash, who)
                    previous = last
                }
            } else {
                last &+= 1
                write(last, after: previous, Self.wholeArchive, who)
                previous = last
            }
            CrashPoint.reached(.changesWritten)
            cell.pointee.store(previous, ordering: .sequentiallyConsistent)
            changes.append(OwnChange(previous: first, last: previous))
        }
        return (end, changes)
    }

    /// The hash that stands for every key. A key that has it, too, is taken for every key.
    private static let wholeArchive = UInt64.max

    private func write(_ number: UInt64, after previous: UInt64, _ hash: UInt64, _ who: UInt64) {
        let place = place(of: number)
        word(place).pointee.store(0, ordering: .relaxed)
        atomicMemoryFence(ordering: .releasing)
        word(place + 8).pointee.store(previous, ordering: .relaxed)
        word(place + 16).pointee.store(hash, ordering: .relaxed)
        word(place + 24).pointee.store(who, ordering: .relaxed)
        word(place).pointee.store(number, ordering: .releasing)
    }

    private func place(of number: UInt64) -> Int { Self.ringStart + Int(number % UInt64(Self.changes)) * Self.changeSize }

    /// Tells everyone that the changes up to this one are committed, or were rolled back.
    func finish(_ number: UInt64) {
        // Another process may have come in the meantime, and closed ours.
        finished.pointee.max(number, ordering: .releasing)
    }

    // MARK: Reading

    private struct Change {
        var previous: UInt64
        var hash: UInt64
        var archive: UInt32
        var author: Author
    }

    private func change(_ number: UInt64) -> Change? {
        let place = place(of: number)
        guard word(place).pointee.load(ordering: .acquiring) == number else { return nil }
        let previous = word(place + 8).pointee.load(ordering: .relaxed)
        let hash = word(place + 16).pointee.load(ordering: .relaxed)
        let who = word(place + 24).pointee.load(ordering: .relaxed)
        atomicMemoryFence(ordering: .acquiring)
        guard word(place).pointee.load(ordering: .relaxed) == number, previous < number else { return nil }
        return Change(previous: previous, hash: hash, archive: UInt32(who >> 32), author: Author(truncatingIfNeeded: who))
    }

    /// What others than `author` changed of the archive after generation `old`, and up to `new`.
    func changes(of archive: Int64, after old: UInt64, through new: UInt64, notBy author: Author) -> ForeignChanges {
        var keys: [UInt64] = []
        var number = new
        for _ in 0..<Self.changes {
            if number == old { return .keys(keys) }
            guard number > old, let change = change(number) else { return .everything }
            number = change.previous
            guard change.archive == UInt32(truncatingIfNeeded: archive), change.author != author else { continue }
            guard change.hash != Self.wholeArchive else { return .everything }
            keys.append(change.hash)
        }
        return number == old ? .keys(keys) : .everything
    }

    /// Whether someone else than `author` has announced a change under a key of the archive and not finished.
    func isChanging(_ hash: UInt64, of archive: Int64, notBy author: Author) -> Bool {
        let finished = finished.pointee.load(ordering: .acquiring)
        var number = cell(of: archive).pointee.load(ordering: .acquiring)
        // Almost always there is none to look at.
        for _ in 0..<Self.changes {
            guard number > finished else { return false }
            guard let change = change(number) else { return true }
            number = change.previous
            guard change.archive == UInt32(truncatingIfNeeded: archive), change.author != author else { continue }
            if change.hash == hash || change.hash == Self.wholeArchive { return true }
        }
        return number > finished
    }

    // MARK: The log

    /// Asks readers of every process to keep no snapshot for a while: someone wants to begin the log anew.
    func askForLog(until moment: Int64) { word(48).pointee.store(UInt64(bitPattern: moment), ordering: .releasing) }

    /// Whether someone wants to begin the log anew at this moment. Nobody asks for longer than ``longestRequest``: what says so is none.
    func isAskedForLog(at now: Int64) -> Bool {
        let until = Int64(bitPattern: word(48).pointee.load(ordering: .acquiring))
        return until > now && until &- now <= Self.longestRequest
    }

    /// In milliseconds.
    static let longestRequest: Int64 = 1000

    // MARK: Opening

    /// How often a process has opened the database: while the number stays, nobody has come.
    var openings: UInt64 { word(56).pointee.load(ordering: .sequentiallyConsistent) }

    /// Tells everyone that this process has opened the database, and holds SQLite's locks of one that has.
    func announceOpening() { word(56).pointee.add(1, ordering: .sequentiallyConsistent) }

    // MARK: Setting aside

    /// Whether the database was set aside: what is written to it from now on would be lost.
    var isRetired: Bool { word(32).pointee.load(ordering: .sequentiallyConsistent) != 0 }

    func retire() {
        guard !isRetired else { return }
        word(32).pointee.store(1, ordering: .sequentiallyConsistent)
        // Whoever remembers something must look.
        for number in 0..<Self.generations { cell(of: Int64(number)).pointee.add(Self.largestNumber, ordering: .sequentiallyConsistent) }
    }

    /// The process that is committing changes it announced, if there is one.
    var announcer: Int32? {
        guard announced.pointee.load(ordering: .sequentiallyConsistent) != finished.pointee.load(ordering: .acquiring) else { return nil }
        return Int32(truncatingIfNeeded: word(40).pointee.load(ordering: .relaxed))
    }
}
