/// What the hit ratio of a store would be with other limits, estimated from a sample of its uses.
///
/// ```swift
/// let sizing = try photos.statistics().sizing
/// print(sizing?.limit(keeping: 0.95) ?? "not enough reads yet")
/// ```
///
/// A hit is a read that finds a valid object. Ratios are those of the reads and writes of this
/// process since it opened the store, of which older ones count less: they answer how large a limit
/// should have been. The mean error is about 0.01, and up to 0.07 where memory answers nearly every
/// read in a busy loop.
public struct Sizing: Hashable, Sendable, Codable {
    /// The hit ratio with a limit.
    public struct Point: Hashable, Sendable, Codable {
        /// In bytes of encoded values.
        public var limit: DataSize
        /// The part of reads that are hits, from 0 to 1.
        public var hitRatio: Double
    }

    /// How many reads it is of. Older ones count less, so that it is at most about a million.
    public let reads: Int
    /// The part of reads that memory would answer, with 1/8, 1/4, 1/2, 1, 2, 4 and 8 times its
    /// limit; without one, of what it holds.
    public let memory: [Point]
    /// The part of reads that memory or the disk would answer, with as many times the limit of the
    /// disk; without one, of what it holds.
    public let disk: [Point]
    /// The hit ratio by the limit, eight points for each power of two, from the smallest limit
    /// above to the greatest.
    public let curve: [Point]

    init(memory: Int, disk: Int, reads: Int, _ hitRatio: (Int) -> Double) {
        func points(_ limits: [Double]) -> [Point] {
            limits.map { limit in
                let bytes = Int(min(limit, 0x1p62))
                return Point(limit: DataSize(bytes: bytes), hitRatio: hitRatio(bytes))
            }
        }
        func powers(of limit: Int) -> [Point] {
            points(
                [0.125, 0.25, 0.5, 1, 2, 4, 8].map {
                    Double(max(1, limit)) * $0
                }
            )
        }
        self.reads = reads
        self.memory = powers(of: memory)
        self.disk = powers(of: disk)
        let first = Double(max(1, min(memory, disk))) / 8
        let last = Double(max(1, memory, disk)) * 8
        curve = points(
            Array(
                sequence(first: first) { $0 < last ? min(last, $0 * Self.step) : nil }
            )
        )
    }

    /// The eighth root of two.
    private static let step = 1.090_507_732_665_257_7

    /// Whether it can be of this package: it may be read from a file.
    package var isPossible: Bool {
        memory.count <= 7 && disk.count <= 7 && curve.count <= 1000
            && (memory + disk + curve).allSatisfy { 0...1 ~= $0.hitRatio && $0.limit.bytes >= 0 }
    }

    /// Returns the smallest limit with which there would be this part of the hits that the greatest
    /// limit of ``curve`` has.
    ///
    /// - Parameter part: From 0 to 1.
    /// - Returns: `nil` if no limit has any hits.
    /// - Complexity: O(points of ``curve``).
    public func limit(keeping part: Double = 0.95) -> DataSize? {
        guard let most = curve.last?.hitRatio, most > 0 else { return nil }
        return curve.first { $0.hitRatio >= part * most }?.limit
    }
}
