import CBORCoding
import Foundation
import TestThreads
import Testing

@Suite("Numbers", .ownThreads)
struct NumberTests {
    /// The limits of each head and integer width, and their neighbors.
    private static let edges: [Int128] = {
        let powers: [Int128] = [
            0, 23, 24, 255, 256, 65535, 65536, 1 << 32, (1 << 32) - 1, 127, 128, 32767, 32768,
            1 << 31, 1 << 53, 1 << 63, 1 << 64,
        ]
        let around = powers.flatMap { [$0 - 1, $0, $0 + 1, -$0 - 1, -$0, -$0 + 1] }
        return around + [.max, .max - 1, .min, .min + 1, (1 << 100) - 7, -(1 << 100)]
    }()

    private func check<Number: FixedWidthInteger & Codable>(_ type: Number.Type) throws {
        for edge in Self.edges {
            let data = try encoded(edge)
            guard let number = Number(exactly: edge) else {
                #expect(
                    decodingError { try decoded(Number.self, data) }?.kind == "dataCorrupted",
                    "\(edge) as \(Number.self)"
                )
                continue
            }
            #expect(try encoded(number) == data, "\(edge) as \(Number.self)")
            #expect(try decoded(Number.self, data) == number, "\(edge) as \(Number.self)")
            #expect(try roundTrip([number]) == [number])
            #expect(try roundTrip(["key": number]) == ["key": number])
            #expect(try roundTrip(Number?.some(number)) == number)
        }
    }

    @Test func integersRoundTripAndOverflowThrows() throws {
        try check(Int.self)
        try check(Int8.self)
        try check(Int16.self)
        try check(Int32.self)
        try check(Int64.self)
        try check(Int128.self)
        try check(UInt.self)
        try check(UInt8.self)
        try check(UInt16.self)
        try check(UInt32.self)
        try check(UInt64.self)
        try check(UInt128.self)
        #expect(try roundTrip(UInt128.max) == .max)
        #expect(try roundTrip([UInt128.max - 1, 1 << 127]) == [.max - 1, 1 << 127])
    }

    @Test(arguments: [
        ("17", 23), ("1818", 24), ("18ff", 255), ("190100", 256), ("19ffff", 65535),
        ("1a00010000", 65536), ("1affffffff", 0xFFFF_FFFF),
        ("1b0000000100000000", 0x1_0000_0000), ("37", -24), ("3818", -25), ("38ff", -256),
        ("390100", -257),
    ])
    func anIntegerHasTheShortestHead(_ hex: String, _ number: Int) throws {
        #expect(try encoded(number).hex == hex)
    }

    @Test(arguments: [
        "1800", "190000", "1a00000000", "1b0000000000000000", "c240", "c24100", "c2420000",
        "f90000", "fa00000000", "d9d9f700",
        "c25f4100ff",
    ])
    func zeroDecodesFromAnyForm(_ hex: String) throws {
        #expect(try decoded(Int.self, hex: hex) == 0)
        #expect(try decoded(UInt8.self, hex: hex) == 0)
        #expect(try decoded(UInt128.self, hex: hex) == 0)
        #expect(try decoded(Double.self, hex: hex) == 0)
    }

    @Test func aBignumThatIsTooLargeThrows() throws {
        let hex = "c2 51 0100000000000000000000000000000000"
        #expect(decodingError { try decoded(UInt128.self, hex: hex) }?.kind == "dataCorrupted")
        #expect(decodingError { try decoded(Int.self, hex: hex) }?.kind == "dataCorrupted")
        #expect(
            decodingError {
                try decoded(Int128.self, hex: "c3 50 ffffffffffffffffffffffffffffffff")
            }?.kind == "dataCorrupted"
        )
    }

    @Test func aNumberDecodesAsAnyTypeThatCanRepresentIt() throws {
        #expect(try decoded(Int.self, encoded(2.0)) == 2)
        #expect(try decoded(Double.self, encoded(2)) == 2)
        #expect(try decoded(Float.self, encoded(Int64(1) << 40)) == Float(Int64(1) << 40))
        #expect(decodingError { try decoded(Int.self, encoded(2.5)) }?.kind == "dataCorrupted")
        #expect(decodingError { try decoded(Int8.self, encoded(200.0)) }?.kind == "dataCorrupted")
        #expect(
            decodingError { try decoded(Int.self, encoded(Double.infinity)) }?.kind
                == "dataCorrupted"
        )
        #expect(
            decodingError { try decoded(Int.self, encoded(Double.nan)) }?.kind == "dataCorrupted"
        )
        #expect(decodingError { try decoded(Float.self, encoded(1e300)) }?.kind == "dataCorrupted")
        #expect(decodingError { try decoded(Int.self, encoded("1")) }?.kind == "typeMismatch")
        #expect(decodingError { try decoded(Int.self, encoded(true)) }?.kind == "typeMismatch")
        #expect(decodingError { try decoded(Bool.self, encoded(1)) }?.kind == "typeMismatch")
    }

    /// An integer is rounded only once, to the nearest floating-point number.
    @Test(
        arguments: edges + [
            (1 << 53) + 2, -(1 << 53) - 2, -(1 << 54) - 4, -(1 << 63) - 2048, -(1 << 64) - 4096,
        ]
    )
    func anIntegerDecodesAsTheNearestDouble(_ number: Int128) throws {
        #expect(try decoded(Double.self, encoded(number)) == Double(number))
    }

    @Test func allHalfPrecisionNumbersKeepTheirBits() throws {
        // In every run each fifth, and the first and last of each exponent.
        let step = UInt16(LongRun.number(1, usually: 5))
        for bits in UInt16.min...UInt16.max where bits % step == 0 || (bits &+ 2) & 0x3FF < 4 {
            let data = Data([0xF9, UInt8(bits >> 8), UInt8(bits & 0xFF)])
            let (double, float) = (try decoded(Double.self, data), try decoded(Float.self, data))
            let half = Float16(bitPattern: bits)
            if half.isNaN {
                #expect(double.isNaN && float.isNaN)
                #expect(float.bitPattern & 0x7F_FFFF == UInt32(bits & 0x3FF) << 13)
            } else {
                #expect(double == Double(half) && float == Float(half) && double.sign == half.sign)
            }
            #expect(try encoded(double) == data && encoded(float) == data, "\(bits)")
        }
    }

    private static let doubleBits: [UInt64] = [
        0, 1, 2, 0xF_FFFF_FFFF_FFFF, 1 << 52, 0x7FEF_FFFF_FFFF_FFFF, 0x7FF0_0000_0000_0000,
        0x7FF0_0000_0000_0001, 0x7FF4_0000_0000_0000,
        0x7FF7_FFFF_FFFF_FFFF, 0x7FF8_0000_0000_0000, 0x7FF8_0000_0000_0001, 0x7FF8_0000_2000_0000,
        0x7FF8_0400_0000_0000,
        0x7FFF_FFFF_FFFF_FFFF, 0x7FF0_0000_2000_0000, 0x36A0_0000_0000_0000, 0x3690_0000_0000_0000,
        0x3680_0000_0000_0000,
        0x3E70_0000_0000_0000, 0x3E60_0000_0000_0000, 0x3E68_0000_0000_0000, 0x3F0F_F800_0000_0000,
        0x3F0F_FC00_0000_0000,
        0x47EF_FFFF_E000_0000, 0x47EF_FFFF_F000_0000, 0x47F0_0000_0000_0000, 0x40EF_FC00_0000_0000,
        0x40EF_FE00_0000_0000,
        0x40F0_0000_0000_0000, 0x3810_0000_0000_0000, 0x380F_FFFF_E000_0000, 0x380F_FFFF_C000_0000,
        0x3FF0_0000_0000_0001,
    ]

    @Test(arguments: doubleBits.flatMap { [$0, $0 | 1 << 63] })
    func aDoubleKeepsItsBits(_ bits: UInt64) throws {
        #expect(try roundTrip(Double(bitPattern: bits)).bitPattern == bits)
        #expect(try roundTrip([Double(bitPattern: bits)])[0].bitPattern == bits)
    }

    @Test(arguments: 0..<4)
    func randomFloatsKeepTheirBits(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<LongRun.number(5000, usually: 1250) {
            // Some have many trailing zeros and fit in a narrower form.
            let bits = random.next() & ~0 << UInt64(random.below(60))
            #expect(try roundTrip(Double(bitPattern: bits)).bitPattern == bits, "seed \(seed)")
            let narrow = UInt32(truncatingIfNeeded: bits >> 32)
            #expect(try roundTrip(Float(bitPattern: narrow)).bitPattern == narrow, "seed \(seed)")
            let data = try encoded(Double(bitPattern: bits))
            let number = Double(bitPattern: bits)
            let size =
                number.isNaN
                ? data.count
                : number == Double(Float16(number)) ? 3 : number == Double(Float(number)) ? 5 : 9
            #expect(data.count == size, "seed \(seed): \(number)")
        }
    }
}
