/// A use of an entry, of which a ``UseSample`` may be.
@usableFromInline
struct UsedEntry: Sendable {
    @usableFromInline
    enum Kind: UInt8, Sendable {
        case read, write
        /// Nothing valid was found.
        case miss
    }

    /// The lower half of the hash of the key.
    var tag: UInt32
    /// The encoded bytes of the entry, at least one; 0 once it has left its place.
    var size: UInt32
    /// When the entry was written, in seconds. Of a miss, when it was.
    var written: UInt32
    /// When the entry ends by its own age, in seconds. Of a miss, which age of others the reader
    /// accepts.
    var end: UInt32
    var isOwn: Bool
    var kind: Kind
    /// The power of two of the entries that it stands for.
    var shift: UInt8 = 0

    init(
        _ kind: Kind,
        _ hash: UInt64,
        size: Int,
        _ validity: Validity,
        lastUse: WallInstant
    ) {
        self.kind = kind
        tag = Self.tag(hash)
        // So that it can stand for two to the power of 31 of them.
        self.size = UInt32(clamping: min(max(1, size), Int(Int32.max)))
        written = Self.seconds(validity.written)
        isOwn = validity.isOwn
        end = Self.seconds(
            validity.idle == .max
                ? validity.until
                : min(validity.until, lastUse.advanced(byMilliseconds: validity.idle))
        )
    }

    init(missAt now: WallInstant, _ hash: UInt64, under expiration: Expiration) {
        kind = .miss
        size = 0
        isOwn = false
        tag = Self.tag(hash)
        written = Self.seconds(now)
        end = Self.seconds(WallInstant(rawValue: expiration.age))
    }

    static func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash) }
    static func seconds(_ instant: WallInstant) -> UInt32 {
        UInt32(clamping: instant.rawValue / 1000)
    }

    /// Whether the reader who missed the entry would accept it if it was there.
    func isValid(for miss: UsedEntry) -> Bool {
        isOwn
            ? miss.written < end
            : miss.end == .max
                || Int64(miss.written) - Int64(written) <= Int64(miss.end)
    }
}

/// What the hit ratio would be with a limit.
struct HitRatios: Sendable {
    /// How many reads have at most the distances of each step: numbers of its own, because those of
    /// the sample go on to change.
    private var sums: [Float]
    var reads: Float
    fileprivate var sampled: Float
    fileprivate var unknown: Float
    /// Up to which distance the keys that are used all the time are.
    fileprivate var near: Int

    init(distances: Distances, reads: Float, sampled: Float, unknown: Float, near: Int) {
        sums = distances.sums
        self.reads = reads
        self.sampled = sampled
        self.unknown = unknown
        self.near = near
    }

    /// - Complexity: O(1).
    func callAsFunction(limit: Int) -> Double {
        // The keys that are sampled are not used as often as others, which shows most at keys that
        // are used all the time.
        let nearHits = hits(upTo: near)
        let scale = nearHits > 0 ? max(0, 1 + (reads - sampled) / nearHits) : 1
        let hits = hits(upTo: limit)
        let corrected = hits + (scale - 1) * (limit <= near ? hits : nearHits)
        return Double(
            min(1, max(0, corrected / max(1, reads - max(0, unknown))))
        )
    }

    private func hits(upTo distance: Int) -> Float {
        guard !sums.isEmpty, distance > 0 else { return 0 }
        let step = Distances.step(distance)
        // Of the step that the distance is within, the part below it.
        let start = Distances.start(of: step)
        let end = Distances.start(of: step + 1)
        let below = step > 0 ? sums[step - 1] : 0
        return below + (sums[step] - below) * Float(max(0, distance - start))
            / Float(max(1, end - start))
    }
}

/// How many reads had which distance: sixteen steps for each power of two, from sixteen bytes on.
struct Distances: Sendable {
    private var counts: [Float] = []

    mutating func add(_ distance: Int, _ weight: Float) {
        if counts.isEmpty {
            counts = Array(repeating: 0, count: Self.step(.max) + 1)
        }
        counts[Self.step(distance)] += weight
    }

    mutating func halve() { for index in counts.indices { counts[index] /= 2 } }

    /// The sum up to each step.
    fileprivate var sums: [Float] {
        var sum: Float = 0
        return counts.map { count in
            sum += count
            return sum
        }
    }

    fileprivate static func step(_ distance: Int) -> Int {
        let number = UInt64(max(16, distance))
        let power = 63 - number.leadingZeroBitCount
        return (power - 4) * 16 + Int(number >> UInt64(power - 4)) - 16
    }

    fileprivate static func start(of step: Int) -> Int {
        Int(clamping: UInt64(16 + step % 16) << UInt64(min(59, step / 16)))
    }
}
