/// Leads from the hashes of keys to slots: open addressing, one word for each entry.
///
/// The upper half of a hash is kept beside the slot, so that few keys are compared in vain.
/// Collisions are in the words that follow.
///
/// Unchecked because nothing else has the memory that it owns.
///
/// - Complexity: O(1), except for growing.
@usableFromInline
struct SlotTable: ~Copyable, @unchecked Sendable {
    /// The hash in the upper half of a word, the slot plus one in the lower. Zero is free.
    @usableFromInline var words: UnsafeMutablePointer<UInt64>
    @usableFromInline var mask: Int
    @usableFromInline var count = 0

    @usableFromInline
    init(places: Int = 16) {
        mask = places - 1
        words = .allocate(capacity: places)
        words.initialize(repeating: 0, count: places)
    }

    @inlinable
    deinit { words.deallocate() }

    @inlinable
    static func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) }

    /// Returns the first slot under the tag that `isWanted` accepts.
    @inlinable
    borrowing func first(_ tag: UInt32, where isWanted: (Int32) -> Bool) -> Int32? {
        var index = Int(tag) & mask
        while words[index] != 0 {
            if UInt32(truncatingIfNeeded: words[index] >> 32) == tag {
                let slot = Int32(truncatingIfNeeded: words[index]) - 1
                if isWanted(slot) { return slot }
            }
            index = (index + 1) & mask
        }
        return nil
    }

    @inlinable
    mutating func insert(_ slot: Int32, _ tag: UInt32) {
        if 4 * (count + 1) > 3 * (mask + 1) { grow() }
        enter(UInt64(tag) << 32 | UInt64(slot + 1))
        count += 1
    }

    /// Removes the word, and moves up what comes behind it, so that no gap is left on the way to
    /// another.
    @inlinable
    mutating func remove(_ slot: Int32, _ tag: UInt32) {
        var gap = Int(tag) & mask
        while words[gap] != UInt64(tag) << 32 | UInt64(slot + 1) {
            gap = (gap + 1) & mask
        }
        var index = (gap + 1) & mask
        while words[index] != 0 {
            let home = Int(truncatingIfNeeded: words[index] >> 32) & mask
            // Whether the way from its home leads over the gap.
            if (index - home) & mask >= (index - gap) & mask {
                words[gap] = words[index]
                gap = index
            }
            index = (index + 1) & mask
        }
        words[gap] = 0
        count -= 1
    }

    /// Lets the word lead to another slot.
    mutating func move(_ slot: Int32, _ tag: UInt32, to other: Int32) {
        var index = Int(tag) & mask
        while words[index] != UInt64(tag) << 32 | UInt64(slot + 1) {
            index = (index + 1) & mask
        }
        words[index] = UInt64(tag) << 32 | UInt64(other + 1)
    }

    @inlinable
    mutating func enter(_ word: UInt64) {
        var index = Int(truncatingIfNeeded: word >> 32) & mask
        while words[index] != 0 { index = (index + 1) & mask }
        words[index] = word
    }

    @usableFromInline
    mutating func grow() {
        let old = words
        let end = mask + 1
        mask = 2 * mask + 1
        words = .allocate(capacity: mask + 1)
        words.initialize(repeating: 0, count: mask + 1)
        for index in 0..<end where old[index] != 0 { enter(old[index]) }
        old.deallocate()
    }
}
