/// What is told of many samples.
public struct Distribution: Sendable {
    private let sorted: [Double]

    public init(_ samples: [Double]) { sorted = samples.sorted() }

    public var count: Int { sorted.count }
    public var median: Double { percentile(0.5) }
    public var p999: Double { percentile(0.999) }
    public var maximum: Double { sorted.last ?? .nan }

    /// The smallest sample that at least this part of all does not exceed.
    public func percentile(_ part: Double) -> Double {
        guard !sorted.isEmpty else { return .nan }
        let rank = Int((part * Double(sorted.count)).rounded(.up))
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }
}
