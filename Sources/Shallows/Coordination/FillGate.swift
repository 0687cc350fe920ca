/// Says when a value that was read from the back may still be put in the front: only if nothing was written under its key since.
///
/// A pure value without a lock; ``WriteGate`` is its locked shell. Keys share counters, a stripe of them each: two keys of one
/// stripe cost each other a fill at worst.
///
/// - Complexity: O(1) for every call, but for those of all keys.
struct FillGate: Sendable {
    static let stripeCount = 64

    /// Proof that nothing was being written under a key when its reader went to the back.
    struct Ticket: Sendable {
        let stripe: Int
        fileprivate let generation: UInt64
    }

    private struct Stripe: Sendable {
        var generation: UInt64 = 0
        var writes = 0
        var fills = 0
        /// The thread of the one write that is being made, where no other is.
        var soleWriter: UInt?

        func blocks(_ thread: UInt) -> Bool { fills > 0 || soleWriter.map { $0 != thread } ?? false }
    }

    private var stripes = [Stripe](repeating: Stripe(), count: stripeCount)

    /// - Returns: `nil` while something is being written: what the back has may be old already.
    func ticket(_ stripe: Int) -> Ticket? {
        stripes[stripe].writes == 0 ? Ticket(stripe: stripe, generation: stripes[stripe].generation) : nil
    }

    /// Whether nothing was written since.
    func isCurrent(_ ticket: Ticket) -> Bool { stripes[ticket.stripe].generation == ticket.generation }

    /// Whether the reader may fill the front now. Writes wait until it ends.
    mutating func beginFill(_ ticket: Ticket) -> Bool {
        guard isCurrent(ticket) else { return false }
        stripes[ticket.stripe].fills += 1
        return true
    }

    /// The same for a write that takes back what it did: it needs no ticket, because no later write has begun under its key.
    mutating func beginUndoing(_ stripe: Int) {
        stripes[stripe].fills += 1
    }

    /// Returns whether writes that wait may go on.
    mutating func endFill(_ stripe: Int) -> Bool {
        stripes[stripe].fills -= 1
        return stripes[stripe].fills == 0
    }

    /// Whether a write of that thread must wait: for a fill, or for the only write there is, unless that is what makes this one.
    func blocks(_ stripe: Int, _ thread: UInt) -> Bool { stripes[stripe].blocks(thread) }

    /// From now on no older read fills. Returns whether the write may go on, or must wait.
    mutating func beginWrite(_ stripe: Int, _ thread: UInt) -> Bool {
        stripes[stripe].generation &+= 1
        stripes[stripe].writes += 1
        return !stripes[stripe].blocks(thread)
    }

    /// Begins a write where there is neither a fill nor another write. Returns whether it did.
    mutating func beginSoleWrite(_ stripe: Int, _ thread: UInt) -> Bool {
        guard stripes[stripe].fills == 0, stripes[stripe].writes == 0 else { return false }
        stripes[stripe].soleWriter = thread
        return beginWrite(stripe, thread)
    }

    /// Lets other writes go on beside it: they wait for their turn elsewhere.
    mutating func admitOtherWrites(_ stripe: Int) {
        stripes[stripe].soleWriter = nil
    }

    mutating func endWrite(_ stripe: Int) {
        stripes[stripe].writes -= 1
    }
}

extension FillGate {
    /// The stripe of a key, where keys can be compared; else they have one in common.
    static func striping<Key: Sendable>(of: Key.Type) -> @Sendable (Key) -> Int {
        func ofHashable<Other: Hashable & SendableMetatype>(_: Other.Type) -> @Sendable (Key) -> Int {
            // `Other` is `Key`, of which the compiler does not know that it is Hashable.
            { UInt(bitPattern: unsafeBitCast($0, to: Other.self).hashValue).remainder }
        }
        guard let type = Key.self as? any (Hashable & SendableMetatype).Type else { return { _ in 0 } }
        return ofHashable(type)
    }
}

extension UInt {
    fileprivate var remainder: Int { Int(self % UInt(FillGate.stripeCount)) }
}
