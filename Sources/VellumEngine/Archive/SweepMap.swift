internal import VellumCore

/// When the first entry of each block of an archive expires.
///
/// A pure value. It costs a write one lookup in a dictionary, and the file nothing: a process reads
/// the entries that it did not write itself once, block by block, after it has opened the archive.
/// Entries are numbered in the order of their insertion, so those of one age expire in the order of
/// the blocks.
struct SweepMap: Equatable {
    /// Entries per block.
    static let blockSize: Int64 = 256

    private var ends: [Int64: WallInstant] = [:]
    /// Blocks that have not been read yet.
    private var unread: Range<Int64> = 0..<0
    /// The earliest end in the archive.
    private(set) var earliest = WallInstant.never

    static func block(of entryID: Int64) -> Int64 { entryID / blockSize }

    static func entryIDs(of block: Int64) -> Range<Int64> {
        block * blockSize..<(block + 1) * blockSize
    }

    /// Forgets everything, and schedules the blocks of the entries after one, up to another, to be
    /// read again.
    mutating func readAnew(after first: Int64, through last: Int64) {
        ends = [:]
        earliest = .never
        let start = Self.block(of: first + 1)
        let end = Self.block(of: max(first + 1, last)) + 1
        unread = start..<end
    }

    /// Whether a block has yet to be read for the first time.
    var hasUnread: Bool { !unread.isEmpty }

    /// Whether ``takeDue(at:)`` returns a block.
    func mayBeDue(at now: WallInstant) -> Bool { earliest <= now || hasUnread }

    /// Notes that an entry in the block of this one expires at `end`.
    mutating func note(entryID: Int64, end: WallInstant) {
        note(block: Self.block(of: entryID), end: end)
    }

    mutating func note(block: Int64, end: WallInstant) {
        guard end != .never else { return }
        if end < ends[block] ?? .never { ends[block] = end }
        if end < earliest { earliest = end }
    }

    /// Takes a block to read now, if there is one: an entry in it has expired, or it was never
    /// read. The caller notes its next end again.
    mutating func takeDue(at now: WallInstant) -> Int64? {
        if earliest <= now,
            let block = ends.filter({ $0.value <= now }).keys.min()
        {
            ends[block] = nil
            earliest = ends.values.min() ?? .never
            return block
        }
        return unread.popFirst()
    }

    mutating func removeAll() {
        ends = [:]
        earliest = .never
        unread = 0..<0
    }
}
