import CBORCoding
import Foundation
import TestThreads
import Testing

/// Decoding any bytes returns a value or throws a `DecodingError`.
@Suite("Mutated and random bytes", .ownThreads)
struct MutationTests {
    /// Decodes the data as all types, or as a selected seventh of them.
    private func checkAll(_ data: Data, _ note: @autoclosure () -> String, types: Int? = nil) {
        for (index, decode) in anyTypes.enumerated() where types == nil || index % 7 == types {
            do {
                _ = try decode(data)
            } catch is DecodingError {
                continue
            } catch {
                Issue.record("\(note()): \(data.hex) as type \(index) throws \(error)")
            }
        }
    }

    @Test(arguments: [Sample.full, Sample()])
    func everyTruncationThrows(_ sample: Sample) throws {
        let data = try encoded(sample)
        // Each as some types, and each type for some lengths.
        let step = LongRun.number(1, usually: 4)
        for count in 0..<data.count {
            for (index, decode) in anyTypes.enumerated() where (index + count) % step == 0 {
                let error = decodingError { try decode(data.prefix(count)) }
                #expect(error?.kind == "dataCorrupted", "\(count)")
            }
        }
    }

    @Test func everyTruncationOfTheExamplesThrows() throws {
        let examples = [
            "1bffffffffffffffff", "c249010000000000000000", "fb3ff199999999999a", "f97c00",
            "c074323031332d30332d32315432303a30343a30305a",
            "d82076687474703a2f2f7777772e6578616d706c652e636f6d", "a26161016162820203",
            "5f42010243030405ff", "7f657374726561646d696e67ff",
            "9f018202039f0405ffff", "bf6346756ef563416d7421ff",
        ]
        for data in examples.map({ Data(hex: $0) }) {
            for count in 0..<data.count {
                #expect(
                    decodingError { try decoded(Tree.self, data.prefix(count)) }?.kind
                        == "dataCorrupted",
                    "\(data.hex) \(count)"
                )
            }
        }
    }

    /// A quarter of the values at each place, others at the next one; in `make long` all.
    private func isTried(_ number: Int) -> Bool {
        number.isMultiple(of: LongRun.number(1, usually: 4))
    }

    @Test func everyByteChangedToEveryValueDecodesOrThrows() throws {
        let data = try encoded(
            Sample(
                int: 5,
                small: 1,
                text: "t",
                date: Date(timeIntervalSinceReferenceDate: 0.1),
                decimal: 1.5
            )
        )
        for index in data.indices {
            for byte in UInt8.min...UInt8.max
            where byte != data[index] && isTried(index + Int(byte)) {
                var damaged = data
                damaged[index] = byte
                // Each mutation is decoded as some types; each type is used for some mutations.
                checkAll(damaged, "byte \(index)", types: Int(byte) % 7)
            }
        }
    }

    @Test(arguments: 0..<8)
    func severalMutationsDecodeOrThrow(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let data = try encoded(Sample.full)
        for _ in 0..<LongRun.number(100, usually: 25) {
            var damaged = Array(data)
            for _ in 0...random.below(6) {
                switch random.below(4) {
                case 0:
                    damaged[random.below(damaged.count)] = UInt8(truncatingIfNeeded: random.next())
                case 1: damaged[random.below(damaged.count)] ^= 1 << UInt8(random.below(8))
                case 2:
                    damaged.insert(
                        random.element(of: [
                            0x9F, 0xBF, 0xFF, 0xC1, 0x5F, 0x7F, 0xF6, 0xF7, 0xC2, 0xC4,
                        ]),
                        at: random.below(damaged.count)
                    )
                default: damaged.remove(at: random.below(damaged.count))
                }
            }
            checkAll(Data(damaged), "seed \(seed)")
        }
    }

    @Test(arguments: 0..<8)
    func randomBytesDecodeOrThrow(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<LongRun.number(200, usually: 50) {
            checkAll(Data(random.bytes(random.below(24))), "seed \(seed)")
        }
        // One type for each string, so that more strings are tried.
        for _ in 0..<LongRun.number(12_500, usually: 3000) {
            let data = Data(random.bytes(1 + random.below(12)))
            do { _ = try random.element(of: anyTypes)(data) } catch {
                #expect(error is DecodingError, "seed \(seed): \(data.hex)")
            }
        }
    }

    /// Random items, most of them well-formed.
    @Test(arguments: 0..<8)
    func randomItemsDecodeOrThrow(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<LongRun.number(200, usually: 50) {
            var items = RandomItems(random: random)
            let data = Data(items.item(depth: 0))
            random = items.random
            checkAll(data, "seed \(seed)")
        }
    }

    @Test(arguments: 0..<4)
    func randomDecimalFractionsDecodeOrThrow(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<LongRun.number(2000, usually: 500) {
            let exponent =
                random.oneIn(2)
                ? Int(truncatingIfNeeded: random.next()) >> random.below(64)
                : random.below(400) - 200
            let mantissa =
                Int128(truncatingIfNeeded: UInt128(random.next()) << 64 | UInt128(random.next()))
                >> random.below(128)
            let data = Data([0xC4, 0x82]) + (try encoded(exponent)) + (try encoded(mantissa))
            do {
                let decimal = try decoded(Decimal.self, data)
                #expect(!decimal.isNaN, "seed \(seed): \(data.hex)")
                let scaled = try decoded(Decimal.self, encoded(decimal))
                #expect(scaled == decimal, "seed \(seed): \(data.hex)")
            } catch {
                #expect(error is DecodingError, "seed \(seed): \(data.hex)")
            }
        }
    }
}
