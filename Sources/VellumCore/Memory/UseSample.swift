/// How far apart the uses of the same entries are, from a sample: what the hit ratio would be with
/// another limit (decision 84).
///
/// After SHARDS (Waldspurger, Park, Garthwaite and Ahmad, FAST 2015). A read of an entry has a
/// distance: the bytes of the entry and of all others that were used since the entry was used last.
/// A cache that evicts the least recently used has the entry if its limit is at least that
/// distance. Distances are estimated from some entries, each of which stands for a power of two of
/// them:
///
/// - Of the keys, those whose hashes are below a threshold are sampled. It is low only where memory
///   answers nearly everything: a processed use is paid by 128 hits, or by one use that reads or
///   writes the disk. Where few keys are left, the sample pauses instead.
/// - Of these, fewer are kept the longer ago they were used, so that small and large distances are
///   known with the same relative precision.
///
/// A pure value; its owner has the lock. It takes at most 128 KB. Unchecked because nothing else
/// has the memory that it owns.
///
/// - Complexity: O(√capacity) for each use, and O(capacity) once for as many uses.
@usableFromInline
package struct UseSample: ~Copyable, @unchecked Sendable {
    /// Keys whose tags are below it are sampled. Zero during a pause, and before the sample began.
    @usableFromInline private(set) var threshold: UInt32 = 0
    /// The last uses of the sampled keys, the oldest first.
    private var uses: UnsafeMutablePointer<UsedEntry>
    /// For each, the bytes that it stands for.
    private var weights: UnsafeMutablePointer<Int>
    /// The sums of blocks of them.
    // Not a constant: under ThreadSanitizer the compiler of Swift 6.3 fails where one that is a
    // member of a type that cannot be copied is written through.
    private var sums: UnsafeMutablePointer<Int>
    private var count = 0
    /// How many have memory.
    private var allocated = 64
    /// Leads from tags to positions.
    private var table = SlotTable()

    private var distances = Distances()
    /// The reads whose distance nobody knows, because this process had not used the entry before.
    private var unknown: Float = 0
    /// How many reads there were, and for how many the sampled ones stand.
    private var reads: Float = 0
    private var sampled: Float = 0

    /// The shift of the next use.
    private var shift: UInt8 = 0
    /// Where the sequence of random numbers is: the same uses have the same result.
    private var random: UInt64 = 0x9E37_79B9_7F4A_7C15
    /// Up to which distance every key is sampled that ``shift`` allows.
    private var dense = Int.max
    /// Up to which distance an entry is of interest.
    private var horizon = Int.max
    /// When the sample began, in seconds; 0 if it has not.
    private var start: UInt32 = 0
    /// How much work is allowed now, in hits.
    private var credit = UseSample.mostCredit
    /// How much was allowed since positions were made the last time.
    private var earned = 0
    /// How many uses were left then.
    private var known = 0
    /// When time allowed work the last time.
    private var lastNoted: Int64 = 0
    /// How many uses to ignore, because the keys of a pause are missing before them.
    private var ignored = 0

    /// The number of uses that have a position. A table of 4096 words leads to as many.
    private static let capacity = 3071
    private static let block = 64
    private static let blocks = (capacity + block - 1) / block
    /// What a processed use costs, in hits, and what a use of the disk pays.
    static let cost = 128
    static let paidByDisk = 128
    private static let mostCredit = 8192 * cost
    private static let usesEachSecond = 200
    /// The number of keys below which sampling fewer says nothing any more.
    private static let fewKeys = 256

    init() {
        uses = .allocate(capacity: allocated)
        weights = .allocate(capacity: allocated)
        sums = .allocate(capacity: Self.blocks)
        sums.initialize(repeating: 0, count: Self.blocks)
    }

    deinit {
        uses.deallocate()
        weights.deallocate()
        sums.deallocate()
    }

    /// Begins to sample, or changes the horizon.
    mutating func start(at now: WallInstant, upTo horizon: Int) {
        self.horizon = horizon
        guard start == 0 else { return }
        start = UsedEntry.seconds(now)
        resume()
    }

    private mutating func resume() { threshold = Self.threshold(shift) }

    private static func threshold(_ shift: UInt8) -> UInt32 { .max >> shift }

    /// Whether the use of a key with that hash is sampled.
    @inlinable
    func mayTake(_ hash: UInt64) -> Bool { UInt32(truncatingIfNeeded: hash) < threshold }

    // MARK: Uses

    mutating func add(_ use: UsedEntry) {
        guard use.tag < threshold else { return }
        credit -= Self.cost
        guard let position = position(of: use.tag) else {
            if use.kind != .write {
                noteRead(mayBeUnknown: use.kind == .read && use.written < start)
            }
            if use.kind != .miss { append(use) }
            return
        }
        switch use.kind {
        case .write: move(position, use)
        case .read:
            noteRead(at: position, size: use.size, mayBeUnknown: use.written < start)
            move(position, use)
        case .miss:
            // A valid entry that was evicted is what a greater limit keeps.
            guard uses[position].isValid(for: use) else {
                remove(position)
                return noteRead(mayBeUnknown: false)
            }
            noteRead(at: position, size: uses[position].size, mayBeUnknown: false)
            move(position, uses[position])
        }
    }

    /// The entry is not there any more, and would not be with any limit.
    @usableFromInline
    mutating func remove(_ hash: UInt64) {
        if let position = position(of: UsedEntry.tag(hash)) { remove(position) }
    }

    @usableFromInline
    mutating func removeAll() {
        count = 0
        known = 0
        sums.update(repeating: 0, count: Self.blocks)
        table = SlotTable()
    }

    /// Notes reads, sampled or not, and allows as much more work as is paid by so many hits.
    mutating func noteReads(_ count: Int, paying hits: Int) {
        if threshold > 0, ignored == 0 { reads += Float(count) }
        earned += hits
        credit = min(Self.mostCredit, credit + hits)
        guard threshold == 0, start > 0,
            credit >= min(Self.mostCredit, Self.cost * 16 * max(64, table.count))
        else { return }
        ignored = table.count
        resume()
    }

    /// Allows so much work in a second, however few hits there are.
    mutating func allowWork(until now: WallInstant) {
        let passed = now.rawValue - lastNoted
        guard passed > 0 else { return }
        lastNoted = now.rawValue
        noteReads(
            0,
            paying: Int(min(1000, passed)) * Self.usesEachSecond * Self.cost / 1000
        )
    }

    /// A read of a key that has no position.
    private mutating func noteRead(mayBeUnknown: Bool) {
        guard isCounted() else { return }
        if mayBeUnknown { unknown += Self.weight(shift) }
    }

    private mutating func noteRead(at position: Int, size: UInt32, mayBeUnknown: Bool) {
        guard isCounted() else { return }
        let weight = Self.weight(uses[position].shift)
        distances.add(distance(behind: position) &+ Int(size), weight)
        // It also stands for those that were not kept, and were found without a position.
        if mayBeUnknown { unknown -= weight - Self.weight(shift) }
    }

    private mutating func isCounted() -> Bool {
        guard ignored == 0 else {
            ignored -= 1
            return false
        }
        sampled += Self.weight(shift)
        // The past counts less and less.
        if sampled > 1_048_576 {
            reads /= 2
            sampled /= 2
            unknown /= 2
            distances.halve()
        }
        return true
    }

    private static func weight(_ shift: UInt8) -> Float {
        Float(UInt64(1) << UInt64(shift))
    }

    /// How many bytes were used after the use in that position.
    private func distance(behind position: Int) -> Int {
        let next = position / Self.block + 1
        var sum = 0
        for index in position + 1..<max(position + 1, min(count, next * Self.block)) {
            sum &+= weights[index]
        }
        for index in next..<Self.blocks { sum &+= sums[index] }
        return sum
    }

    // MARK: The answer

    /// What is known now; `nil` before a thousand reads were sampled.
    var estimate: HitRatios? {
        sampled < 1000
            ? nil
            : HitRatios(
                distances: distances,
                reads: reads,
                sampled: sampled,
                unknown: unknown,
                near: horizon / 64
            )
    }

    // MARK: Positions

    private func position(of tag: UInt32) -> Int? {
        table.first(tag) { _ in true }.map(Int.init)
    }

    private mutating func append(_ use: UsedEntry) {
        if count == allocated { grow() }
        table.insert(Int32(count), use.tag)
        put(use, shift)
    }

    private mutating func move(_ position: Int, _ use: UsedEntry) {
        // What makes room may move the position, or remove it.
        guard count < allocated else {
            remove(position)
            return append(use)
        }
        table.move(Int32(position), use.tag, to: Int32(count))
        clear(position)
        put(use, shift)
    }

    private mutating func remove(_ position: Int) {
        table.remove(Int32(position), uses[position].tag)
        clear(position)
    }

    private mutating func clear(_ position: Int) {
        sums[position / Self.block] &-= weights[position]
        weights[position] = 0
        uses[position].size = 0
    }

    private mutating func put(_ use: UsedEntry, _ shift: UInt8) {
        (uses + count).initialize(to: use)
        uses[count].shift = shift
        let weight = Int(use.size) << Int(shift)
        (weights + count).initialize(to: weight)
        sums[count / Self.block] &+= weight
        count += 1
    }

    private mutating func grow() {
        if allocated == Self.capacity { return thin() }
        let old = uses
        let oldWeights = weights
        let larger = min(Self.capacity, 2 * allocated)
        uses = .allocate(capacity: larger)
        weights = .allocate(capacity: larger)
        allocated = larger
        uses.moveInitialize(from: old, count: count)
        weights.moveInitialize(from: oldWeights, count: count)
        old.deallocate()
        oldWeights.deallocate()
    }

    /// Makes room: removes what left its position, what is of no interest, and the more keys the
    /// farther they are.
    private mutating func thin() {
        let old = shift
        let spent = Self.cost * (count - known)
        var left = thinOnce()
        while left > Self.capacity / 2 {
            dense = min(dense, horizon, weighed()) / 2
            left = thinOnce()
        }
        if left < Self.capacity / 4 {
            dense = dense > horizon / 2 ? horizon : max(1, 2 * dense)
        }
        if credit < 0 {
            while left > Self.fewKeys, earned << Int(shift - old) < spent {
                shift += 1
                left = thinOnce()
            }
            if shift == old { threshold = 0 } else { credit = 0 }
        } else if shift > 0, credit == Self.mostCredit, earned > 3 * spent {
            // Keys that were not sampled are not known until they are used again.
            shift -= 1
            ignored = Self.capacity
        }
        if threshold > 0 { resume() }
        compact()
        earned = 0
        known = left
    }

    private func weighed() -> Int {
        (0..<Self.blocks).reduce(0) { $0 &+ sums[$1] }
    }

    /// Clears the positions of keys that are too many where they are. Returns how many are left.
    private mutating func thinOnce() -> Int {
        var left = 0
        var distance = 0
        for position in (0..<count).reversed() where weights[position] > 0 {
            let known = max(shift, uses[position].shift)
            let needed = max(
                known,
                UInt8(min(31, Int.bitWidth - (distance / max(1, dense)).leadingZeroBitCount))
            )
            let isKept =
                distance <= horizon && uses[position].tag < Self.threshold(shift)
                && isChosen(oneIn: needed - known)
            distance &+= weights[position]
            guard isKept else {
                clear(position)
                continue
            }
            left += 1
            guard needed > uses[position].shift else { continue }
            sums[position / Self.block] &-= weights[position]
            uses[position].shift = needed
            weights[position] = Int(uses[position].size) << Int(needed)
            sums[position / Self.block] &+= weights[position]
        }
        return left
    }

    /// Moves all to the front.
    private mutating func compact() {
        let end = count
        removeAll()
        table = SlotTable(places: 4096)
        for position in 0..<end where weights[position] > 0 {
            let use = uses[position]
            table.insert(Int32(count), use.tag)
            put(use, use.shift)
        }
    }

    /// Whether a random number says so: once in that power of two.
    private mutating func isChosen(oneIn power: UInt8) -> Bool {
        guard power > 0 else { return true }
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return random >> (64 - UInt64(power)) == 0
    }
}
