/// What is told of many samples.
public struct Distribution: Sendable {
    private let sorted: [Double]

    /// The distribution of samples in any order.
    public init(_ samples: [Double]) { sorted = samples.sorted() }

    /// How many samples there are.
    public var count: Int { sorted.count }
    /// The sample that half of all do not exceed.
    public var median: Double { percentile(0.5) }
    /// The sample that 999 of 1000 do not exceed.
    public var p999: Double { percentile(0.999) }
    /// The largest sample.
    public var maximum: Double { sorted.last ?? .nan }

    /// The smallest sample that at least this part of all does not exceed.
    public func percentile(_ part: Double) -> Double {
        guard !sorted.isEmpty else { return .nan }
        let rank = Int((part * Double(sorted.count)).rounded(.up))
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }
}
