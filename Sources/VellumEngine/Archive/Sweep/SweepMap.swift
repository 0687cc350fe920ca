internal import VellumCore

/// Where in an archive something will be unwanted, and when: for each block of rows the earliest end in it.
///
/// A pure value. It costs a write nothing but a look into a dictionary, and the file nothing at all: what a process has not
/// seen itself it reads once, block by block, after it has opened the archive. Rows are numbered as they come, so entries of
/// one age end in the order of the blocks.
struct SweepMap: Equatable {
    /// Rows of a block.
    static let blockSize: Int64 = 256

    private var ends: [Int64: WallInstant] = [:]
    /// Blocks that were not read yet.
    private var unread: Range<Int64> = 0..<0
    /// The earliest end of all.
    private(set) var earliest = WallInstant.never

    static func block(of row: Int64) -> Int64 { row / blockSize }

    static func rows(of block: Int64) -> Range<Int64> { block * blockSize..<(block + 1) * blockSize }

    /// Forgets everything, and wants every block up to this row read anew.
    mutating func readAnew(through row: Int64) {
        ends = [:]
        earliest = .never
        unread = 0..<Self.block(of: row) + 1
    }

    /// Whether a block waits to be read for the first time.
    var hasUnread: Bool { !unread.isEmpty }

    /// Notes that something in the block of the row ends then.
    mutating func note(row: Int64, end: WallInstant) { note(block: Self.block(of: row), end: end) }

    mutating func note(block: Int64, end: WallInstant) {
        guard end != .never else { return }
        if end < ends[block] ?? .never { ends[block] = end }
        if end < earliest { earliest = end }
    }

    /// A block to look at now, if there is one: something in it has ended, or it was never read. What is in it must be noted
    /// again.
    mutating func takeDue(at now: WallInstant) -> Int64? {
        if earliest <= now, let block = ends.filter({ $0.value <= now }).keys.min() {
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
