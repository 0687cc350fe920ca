/// Generates random items, most of them well-formed.
struct RandomItems {
    var random: SplitMix64

    mutating func item(depth: Int) -> [UInt8] {
        switch random.below(depth < 4 ? 12 : 8) {
        case 0: return head(0, random.next() >> UInt64(random.below(64)))
        case 1: return head(1, random.next() >> UInt64(random.below(64)))
        case 2, 3:
            let type: UInt8 = random.oneIn(2) ? 2 : 3
            if random.oneIn(4) { return [type << 5 | 31] + string(type) + string(type) + [0xFF] }
            return string(type)
        case 4: return [random.element(of: [0xF4, 0xF5, 0xF6, 0xF7, 0xF0])]
        case 5: return [0xF9] + random.bytes(2)
        case 6: return random.oneIn(2) ? [0xFA] + random.bytes(4) : [0xFB] + random.bytes(8)
        case 7, 8:
            return head(6, random.element(of: [0, 1, 2, 3, 4, 5, 24, 32, 37, 100, 55799]))
                + item(depth: depth + 1)
        case 9, 10:
            let count = random.below(4)
            let elements = (0..<count).flatMap { _ in item(depth: depth + 1) }
            return random.oneIn(3) ? [0x9F] + elements + [0xFF] : head(4, UInt64(count)) + elements
        default:
            let count = random.below(4)
            let entries = (0..<count).flatMap { _ in
                (random.oneIn(4) ? item(depth: 4) : string(3)) + item(depth: depth + 1)
            }
            return random.oneIn(3) ? [0xBF] + entries + [0xFF] : head(5, UInt64(count)) + entries
        }
    }

    private mutating func string(_ type: UInt8) -> [UInt8] {
        let bytes =
            random.oneIn(8) ? random.bytes(random.below(20)) : Array(random.text(upTo: 5).utf8)
        return head(type, UInt64(bytes.count)) + bytes
    }

    private mutating func head(_ type: UInt8, _ argument: UInt64) -> [UInt8] {
        let size =
            argument < 24
            ? 0 : argument < 256 ? 1 : argument < 65536 ? 2 : argument < 1 << 32 ? 4 : 8
        // Sometimes not the shortest form.
        let sizes = [0, 1, 2, 4, 8].filter { $0 >= size }
        let written = random.oneIn(5) ? random.element(of: sizes) : size
        guard written > 0 else { return [type << 5 | UInt8(argument)] }
        let bytes = (0..<written).reversed().map {
            UInt8(truncatingIfNeeded: argument >> UInt64($0 * 8))
        }
        return [type << 5 | UInt8(24 + written.trailingZeroBitCount)] + bytes
    }
}
