import CBORCoding
import Foundation
import TestThreads
import Testing

/// A value that round-trips through JSON or property lists round-trips through CBOR.
@Suite("CBOR, JSON and property lists", .ownThreads)
struct DifferentialTests {
    private protocol Random: Codable, Equatable {
        static func random(_ random: inout SplitMix64, _ depth: Int) -> Self
    }

    private struct Box<Value: Random>: Random {
        var value: Value
        var other: Value?
        static func random(_ random: inout SplitMix64, _ depth: Int) -> Self {
            Box(
                value: .random(&random, depth),
                other: random.oneIn(2) ? nil : .random(&random, depth)
            )
        }
    }

    private struct Pair<First: Random, Second: Random>: Random {
        var first: First
        var second: [Second]
        static func random(_ random: inout SplitMix64, _ depth: Int) -> Self {
            let first = First.random(&random, depth)
            return Pair(
                first: first,
                second: (0..<random.below(4)).map { _ in .random(&random, depth) }
            )
        }
    }

    private struct Keyed<Value: Random>: Random {
        var texts: [String: Value]
        var numbers: [Int: Value]
        var scalars: Scalars
        static func random(_ random: inout SplitMix64, _ depth: Int) -> Self {
            var result = Keyed(texts: [:], numbers: [:], scalars: .random(&random, depth))
            for _ in 0..<random.below(4) { result.texts[random.text()] = .random(&random, depth) }
            for _ in 0..<random.below(4) {
                result.numbers[random.below(100) - 50] = .random(&random, depth)
            }
            return result
        }
    }

    private struct Scalars: Random {
        var bool: Bool
        var int: Int
        var small: Int8
        var wide: UInt32
        var double: Double
        var float: Float
        var text: String
        var data: Data
        var date: Date
        var uuid: UUID
        static func random(_ random: inout SplitMix64, _ depth: Int) -> Self {
            let bytes = random.bytes(16)
            let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
            return Scalars(
                bool: random.oneIn(2),
                int: Int(truncatingIfNeeded: random.next()) >> random.below(64),
                small: Int8(truncatingIfNeeded: random.next()),
                wide: UInt32(truncatingIfNeeded: random.next()) >> UInt32(random.below(32)),
                double: Double(random.below(1_000_000)) / 64,
                float: Float(random.below(1000)) / 8,
                text: random.text(),
                data: Data(random.bytes(random.below(30))),
                date: Date(timeIntervalSinceReferenceDate: Double(random.below(1 << 30)) / 4),
                uuid: uuid
            )
        }
    }

    private enum Choice<Value: Random>: Random {
        case none, one(Value)
        case named(value: Value, count: Int)
        indirect case both(Choice, right: Choice?)
        static func random(_ random: inout SplitMix64, _ depth: Int) -> Self {
            switch random.below(depth < 4 ? 4 : 3) {
            case 0: .none
            case 1: .one(.random(&random, depth))
            case 2: .named(value: .random(&random, depth), count: random.below(1000))
            default:
                .both(
                    .random(&random, depth + 1),
                    right: random.oneIn(2) ? nil : .random(&random, depth + 1)
                )
            }
        }
    }

    private final class Node<Value: Random>: Random {
        let value: Value
        let children: [Node]
        init(value: Value, children: [Node]) { (self.value, self.children) = (value, children) }
        static func == (left: Node, right: Node) -> Bool {
            left.value == right.value && left.children == right.children
        }
        static func random(_ random: inout SplitMix64, _ depth: Int) -> Self {
            let children = (0..<random.below(depth < 3 ? 3 : 1)).map { _ in
                Node.random(&random, depth + 1)
            }
            return Self(value: .random(&random, depth), children: children)
        }
    }

    private enum Suit: String, Random, CaseIterable {
        case clubs, hearts = "♥", one = "1"
        static func random(_ random: inout SplitMix64, _ depth: Int) -> Self {
            random.element(of: allCases)
        }
    }

    private struct Text: Random, RawRepresentable {
        var rawValue: String
        static func random(_ random: inout SplitMix64, _ depth: Int) -> Self {
            Text(rawValue: random.text())
        }
    }

    private func check<Value: Random>(_ type: Value.Type, seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let list = PropertyListEncoder()
        list.outputFormat = .binary
        for _ in 0..<LongRun.number(8, usually: 2) {
            let value = [Value.random(&random, 0)]
            let cbor = try encoded(value) { $0.isDeterministic = random.oneIn(2) }
            let read = try decoded([Value].self, cbor)
            #expect(read == value, "seed \(seed): \(Value.self)")
            #expect(
                try JSONDecoder().decode([Value].self, from: JSONEncoder().encode(value)) == read,
                "seed \(seed): \(Value.self)"
            )
            #expect(
                try PropertyListDecoder().decode([Value].self, from: list.encode(value)) == read,
                "seed \(seed): \(Value.self)"
            )
        }
    }

    /// Random types. Each contains the previous one.
    private func check<Value: Random>(
        growing type: Value.Type,
        _ random: inout SplitMix64,
        seed: UInt64,
        levels: Int
    ) throws {
        try check(type, seed: seed)
        guard levels > 0 else { return }
        switch random.below(6) {
        case 0: try check(growing: Box<Value>.self, &random, seed: seed, levels: levels - 1)
        case 1: try check(growing: Pair<Value, Suit>.self, &random, seed: seed, levels: levels - 1)
        case 2: try check(growing: Pair<Text, Value>.self, &random, seed: seed, levels: levels - 1)
        case 3: try check(growing: Keyed<Value>.self, &random, seed: seed, levels: levels - 1)
        case 4: try check(growing: Choice<Value>.self, &random, seed: seed, levels: levels - 1)
        default: try check(growing: Node<Value>.self, &random, seed: seed, levels: levels - 1)
        }
    }

    @Test(arguments: 0..<20)
    func randomValuesOfRandomTypesRoundTripAsWithOtherCoders(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        switch random.below(3) {
        case 0: try check(growing: Scalars.self, &random, seed: seed, levels: 3)
        case 1: try check(growing: Suit.self, &random, seed: seed, levels: 4)
        default: try check(growing: Text.self, &random, seed: seed, levels: 4)
        }
    }
}
