/// The count, the median, a percentile and the maximum of samples.
public struct Distribution: Sendable {
    private let sorted: [Double]

    /// The distribution of samples in any order.
    public init(_ samples: [Double]) { sorted = samples.sorted() }

    /// How many samples there are.
    public var count: Int { sorted.count }
    /// The median.
    public var median: Double { percentile(0.5) }
    /// The 99.9th percentile.
    public var p999: Double { percentile(0.999) }
    /// The largest sample.
    public var maximum: Double { sorted.last ?? .nan }

    /// The percentile of a fraction.
    public func percentile(_ part: Double) -> Double {
        guard !sorted.isEmpty else { return .nan }
        let rank = Int((part * Double(sorted.count)).rounded(.up))
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }
}
