import CBORCoding
import Foundation

/// The random values of `Tests/Fixtures/CBOR/make.py`, in the same order.
struct ForeignValues {
    private static let letters = ["a", "b", "Z", "0", "1", " ", "\"", "\n", "é", "ß", "水", "😀"]
    private static let numerals = ["1", "01", "+1", "-1", "2", "0", "-0"]

    private var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// The first of ten thousand.
    static func maps(_ count: Int) -> [CBORValue] {
        var values = ForeignValues(seed: 48)
        return (0..<count).map { _ in values.map(depth: 0, limit: 8) }
    }

    private mutating func small() -> Int128 {
        let bits = random.next()
        return Int128(bits >> UInt64(random.below(64)))
    }

    private mutating func text() -> String {
        (0..<random.below(7)).map { _ in Self.letters[random.below(Self.letters.count)] }.joined()
    }

    private mutating func bytes() -> Data {
        Data((0..<random.below(7)).map { _ in UInt8(random.below(256)) })
    }

    private mutating func float() -> Double {
        guard random.below(2) > 0 else { return Double(random.below(1 << 20) - (1 << 19)) / 64 }
        let number = Double(bitPattern: random.next())
        return number.isNaN ? .infinity : number
    }

    private mutating func key() -> CBORValue {
        switch random.below(12) {
        case 0..<4: .text(text())
        case 4..<7: .text(Self.numerals[random.below(Self.numerals.count)])
        case 7..<10: .integer(Int128(random.below(5) - 2))
        case 10: .integer(small())
        default: .bytes(bytes())
        }
    }

    private mutating func map(depth: Int, limit: Int) -> CBORValue {
        var pairs: [CBORValue: CBORValue] = [:]
        for _ in 0..<random.below(limit) {
            let key = key()
            pairs[key] = value(depth: depth)
        }
        return .map(pairs)
    }

    private mutating func value(depth: Int) -> CBORValue {
        switch random.below(depth < 3 ? 12 : 8) {
        case 0: return .integer(small())
        case 1: return .integer(-1 - small())
        case 2:
            let words = UInt128(random.next()) << 64 | UInt128(random.next())
            let large = Int128(words >> UInt128(1 + random.below(70)))
            return .integer(random.below(2) == 0 ? ~large : large)
        case 3: return .float(float())
        case 4: return .text(text())
        case 5: return .bytes(bytes())
        case 6:
            let simple = random.below(5)
            return simple == 4
                ? .simple(UInt8(32 + random.below(200))) : [false, true, .null, .undefined][simple]
        case 7:
            let (digits, exponent) = (random.below(1_000_000) - 500_000, random.below(20) - 10)
            return .tagged(4, [.integer(Int128(exponent)), .integer(Int128(digits))])
        case 8:
            let tag = UInt64(40000 + random.below(1000))
            return .tagged(tag, value(depth: depth + 1))
        case 9: return .array((0..<random.below(4)).map { _ in value(depth: depth + 1) })
        default: return map(depth: depth + 1, limit: 4)
        }
    }
}
