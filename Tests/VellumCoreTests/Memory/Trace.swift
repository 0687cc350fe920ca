import Foundation
import VellumTestSupport

/// The uses of a cache in their order: keys by their numbers, with the sizes of their entries.
struct Trace: Sendable {
    var name: String
    var sizes: [Int] = []
    var keys: [Int] = []

    var total: Int { sizes.reduce(0, +) }

    /// Those of real programs (`Tests/Fixtures/Traces/README.md`).
    static func recorded(_ name: String) throws -> Trace {
        let folder = URL(fileURLWithPath: #filePath).appendingPathComponent(
            "../../../Fixtures/Traces"
        ).standardizedFileURL
        let data = try Data(contentsOf: folder.appendingPathComponent("\(name).trace"))
        return data.withUnsafeBytes { bytes in
            func number(_ place: Int) -> Int {
                Int(
                    UInt32(
                        littleEndian: bytes.loadUnaligned(
                            fromByteOffset: 4 * place,
                            as: UInt32.self
                        )
                    )
                )
            }
            let (sizes, uses) = (number(0), number(1))
            return Trace(
                name: name,
                sizes: (0..<sizes).map { number(2 + $0) },
                keys: (0..<uses).map { use in
                    Int(
                        UInt16(
                            littleEndian: bytes.loadUnaligned(
                                fromByteOffset: 8 + 4 * sizes + 2 * use,
                                as: UInt16.self
                            )
                        )
                    )
                }
            )
        }
    }

    /// The shapes that uses are known to have.
    enum Shape: CaseIterable, Sendable {
        /// A few keys take most uses.
        case zipf
        /// The same, and sizes from 50 bytes to 50 kB.
        case sizes
        /// Round and round.
        case loop
        /// Some keys again and again, between long scans of keys that are used once.
        case scan
        /// The keys that are used most change.
        case drift
        /// One after the other.
        case mixture
    }

    static func made(_ shape: Shape, uses: Int, seed: UInt64) -> Trace {
        var trace = Trace(name: "\(shape), seed \(seed)")
        trace.add(shape, uses, SeededGenerator(seed: seed))
        return trace
    }

    private mutating func add(_ shape: Shape, _ uses: Int, _ generator: SeededGenerator) {
        var generator = generator
        let first = sizes.count
        func key(_ number: Int) -> Int { first + number }
        func grow(to count: Int, _ size: (Int) -> Int = { 200 + $0 * 2_654_435_761 % 400 }) {
            for number in max(0, sizes.count - first)..<max(sizes.count - first, count) {
                sizes.append(size(number))
            }
        }
        switch shape {
        case .zipf:
            let pick = Zipf(12_000, 0.9, &generator)
            grow(to: 12_000)
            for _ in 0..<uses { keys.append(key(pick(&generator))) }
        case .sizes:
            let pick = Zipf(6000, 0.8, &generator)
            grow(to: 6000) { _ in Int(pow(10, Double.random(in: 1.7...4.7, using: &generator))) }
            for _ in 0..<uses { keys.append(key(pick(&generator))) }
        case .loop:
            grow(to: 4000)
            for use in 0..<uses { keys.append(key(use % 4000)) }
        case .scan:
            let pick = Zipf(2000, 0.7, &generator)
            grow(to: 2000)
            var use = 0
            while use < uses {
                for _ in 0..<min(1600, uses - use) { keys.append(key(pick(&generator))) }
                for _ in 0..<max(0, min(1000, uses - use - 1600)) {
                    grow(to: sizes.count - first + 1)
                    keys.append(sizes.count - 1)
                }
                use += 2600
            }
        case .drift:
            let pick = Zipf(1500, 0.9, &generator)
            grow(to: 1500 + uses / 40)
            for use in 0..<uses { keys.append(key(pick(&generator) + use / 40)) }
        case .mixture:
            for part in Shape.allCases where part != .mixture {
                add(part, uses / 5, SeededGenerator(seed: generator.next()))
            }
        }
    }
}

/// Picks numbers, the n-th most frequent as often as n to the power of -s.
private struct Zipf {
    private var sums: [Double] = []
    private var order: [Int]

    init(_ count: Int, _ exponent: Double, _ generator: inout SeededGenerator) {
        var sum = 0.0
        for number in 1...count {
            sum += pow(Double(number), -exponent)
            sums.append(sum)
        }
        order = Array(0..<count).shuffled(using: &generator)
    }

    func callAsFunction(_ generator: inout SeededGenerator) -> Int {
        let wanted = Double.random(in: 0..<(sums.last ?? 1), using: &generator)
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return order[low]
    }
}

/// A cache that evicts the least recently used, exactly: the oracle.
struct ExactLRU {
    private(set) var total = 0
    private let limit: Int
    private var next: [Int32]
    private var previous: [Int32]
    private var isHeld: [Bool]
    private let sizes: [Int]
    private let end: Int

    init(_ trace: Trace, limit: Int) {
        (self.limit, sizes, end) = (limit, trace.sizes, trace.sizes.count)
        // A ring through a place that is no key's.
        next = Array(repeating: Int32(end), count: end + 1)
        previous = next
        isHeld = Array(repeating: false, count: end)
    }

    /// Returns whether it had the key.
    mutating func use(_ key: Int) -> Bool {
        let wasHeld = isHeld[key]
        if wasHeld { remove(key) } else if sizes[key] > limit { return false }
        (next[key], previous[key]) = (next[end], Int32(end))
        previous[Int(next[end])] = Int32(key)
        next[end] = Int32(key)
        isHeld[key] = true
        total += sizes[key]
        while total > limit { remove(Int(previous[end])) }
        return wasHeld
    }

    private mutating func remove(_ key: Int) {
        next[Int(previous[key])] = next[key]
        previous[Int(next[key])] = previous[key]
        isHeld[key] = false
        total -= sizes[key]
    }

    static func hitRatio(_ trace: Trace, limit: Int) -> Double {
        var cache = ExactLRU(trace, limit: limit)
        return Double(trace.keys.count { cache.use($0) }) / Double(max(1, trace.keys.count))
    }
}
