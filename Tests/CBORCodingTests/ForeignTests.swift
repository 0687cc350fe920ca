import CBORCoding
import Foundation
import TestThreads
import Testing

/// What another library, cbor2 for Python, wrote, and what it read in our encodings:
/// `Tests/Fixtures/CBOR/make.py`.
@Suite("Another library's CBOR", .ownThreads)
struct ForeignTests {
    private static let folder = URL(fileURLWithPath: #filePath).appendingPathComponent(
        "../../Fixtures/CBOR"
    ).standardizedFileURL

    /// The items of a file, each of which follows its length in two bytes.
    private static func items(_ name: String) throws -> [Data] {
        let data = try Data(contentsOf: folder.appendingPathComponent(name))
        var (items, offset): ([Data], Int) = ([], 0)
        while offset < data.count {
            let start = offset + 2
            offset = start + Int(data[offset]) << 8 + Int(data[offset + 1])
            items.append(data[start..<offset])
        }
        return items
    }

    /// The entries that a dictionary has, or `nil` if it would lose one.
    private func entries<Key: Hashable>(
        _ value: CBORValue,
        _ key: (CBORValue) -> Key?
    ) -> [Key:
        CBORValue]?
    {
        guard case .map(let pairs) = value else { return nil }
        let entries = Dictionary(
            pairs.compactMap { pair in key(pair.key).map { ($0, pair.value) } }
        ) { first, _ in first }
        return entries.count == pairs.count ? entries : nil
    }

    private func texts(_ value: CBORValue) -> [String: CBORValue]? {
        entries(value) { key in
            if case .text(let text) = key { return text }
            return key.intValue.map { "\($0)" }
        }
    }

    private func integers(_ value: CBORValue) -> [Int: CBORValue]? {
        entries(value) { key in
            if case .text(let text) = key { return Int(text) }
            return key.intValue
        }
    }

    @Test func tenThousandMapsDecodeAsTheyWereMade() throws {
        let items = try Self.items("maps.bin")
        #expect(items.count == 10000)
        let values = ForeignValues.maps(LongRun.number(items.count, usually: 2500))
        var counts = (texts: 0, integers: 0)
        for (index, (item, value)) in zip(items, values).enumerated() {
            guard try decoded(CBORValue.self, item) == value else {
                Issue.record("map \(index): \(item.hex) is not \(value)")
                continue
            }
            if let texts = texts(value) {
                #expect(try decoded([String: CBORValue].self, item) == texts, "map \(index)")
                counts.texts += 1
            } else {
                #expect(throws: DecodingError.self, "map \(index)") {
                    try decoded([String: CBORValue].self, item)
                }
            }
            if let integers = integers(value) {
                #expect(try decoded([Int: CBORValue].self, item) == integers, "map \(index)")
                counts.integers += 1
            } else {
                #expect(throws: DecodingError.self, "map \(index)") {
                    try decoded([Int: CBORValue].self, item)
                }
            }
        }
        #expect(counts.texts > LongRun.number(4000, usually: 1000))
        #expect(counts.texts < LongRun.number(9000, usually: 2250))
        #expect(counts.integers > LongRun.number(1000, usually: 250))
    }

    private struct Moment: Decodable {
        var seconds: Int
        var microseconds: Int
        var text, day, epochSeconds, epochDay: Date

        init(from decoder: any Decoder) throws {
            var array = try decoder.unkeyedContainer()
            (seconds, microseconds) = (try array.decode(Int.self), try array.decode(Int.self))
            (text, day) = (try array.decode(Date.self), try array.decode(Date.self))
            (epochSeconds, epochDay) = (try array.decode(Date.self), try array.decode(Date.self))
        }
    }

    @Test func datesFromYear1To9999DecodeAsTheyWereMade() throws {
        let items = try Self.items("dates.bin")
        #expect(items.count > 3000)
        for item in items {
            let moment = try decoded(Moment.self, item)
            let fraction = Double(moment.microseconds) / 1_000_000
            let date = Date(
                timeIntervalSinceReferenceDate: Double(moment.seconds - 978_307_200) + fraction
            )
            #expect(moment.text == date, "\(moment)")
            // As a floating-point number the time has fewer digits.
            #expect(
                abs(moment.epochSeconds.timeIntervalSince(date))
                    < (moment.microseconds == 0 ? 1e-9 : 1e-4),
                "\(moment)"
            )
            let day = Date(
                timeIntervalSince1970: (Double(moment.seconds) / 86400).rounded(.down) * 86400
            )
            #expect(moment.day == day && moment.epochDay == day, "\(moment)")
        }
    }

    private struct Pair<First: Decodable, Second: Decodable>: Decodable {
        var first: First
        var second: Second

        init(from decoder: any Decoder) throws {
            var array = try decoder.unkeyedContainer()
            (first, second) = (try array.decode(First.self), try array.decode(Second.self))
        }
    }

    @Test func decimalsAndLargeIntegersDecodeAsTheyWereMade() throws {
        let items = try Self.items("numbers.bin")
        #expect(items.count == 3000)
        for item in LongRun.cases(Array(items.prefix(2000)), usually: 500) {
            // Of a text and of a decimal fraction.
            let pair = try decoded(Pair<Decimal, Decimal>.self, item)
            #expect(pair.first == pair.second, "\(item.hex)")
            let text = try decoded(Pair<String, Decimal>.self, item).first
            #expect(Decimal(string: text) == pair.second, "\(text)")
        }
        for item in LongRun.cases(Array(items.suffix(1000)), usually: 250) {
            let pair = try decoded(Pair<Double, Double>.self, item)
            #expect(pair.first == pair.second, "\(item.hex)")
        }
    }

    private func date(_ item: Data) throws -> Date {
        Date(timeIntervalSince1970: Double(try decoded(Moment.self, item).seconds))
    }

    /// Makes our encodings, in the order in which the other library reads them.
    private func ours() throws -> [() throws -> Data] {
        var items: [() throws -> Data] = []
        for value in ForeignValues.maps(10000) {
            items.append { try encoded(value) }
            if let texts = texts(value) {
                items.append { try encoded(texts) { $0.isDeterministic = true } }
            }
        }
        for item in try Self.items("dates.bin") {
            items.append { try encoded(date(item)) { $0.dateEncodingStrategy = .iso8601 } }
            items.append { try encoded(date(item)) { $0.dateEncodingStrategy = .secondsSince1970 } }
        }
        for item in try Self.items("numbers.bin").prefix(2000) {
            items.append { try encoded(decoded(Pair<Decimal, Decimal>.self, item).second) }
        }
        return items
    }

    /// Where the other library is at hand, `make.py` decodes the file that this test writes, and
    /// records the digests.
    @Test func ourEncodingsAreThoseThatTheOtherLibraryRead() throws {
        let items = try ours()
        if let path = ProcessInfo.processInfo.environment["VELLUM_CBOR_FILE"] {
            let framed = try items.map { try $0() }.flatMap {
                [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0
            }
            try Data(framed).write(to: URL(fileURLWithPath: path))
            return
        }
        let file = Self.folder.appendingPathComponent("ours.txt")
        let recorded = try String(contentsOf: file, encoding: .utf8)
            .split(separator: "\n").map(String.init)
        try #require(recorded.count == (items.count + 999) / 1000)
        // In every run some thousands of the maps, two of the dates, and the last numbers.
        for block in LongRun.cases(Array(recorded.indices), usually: 7) {
            let start = block * 1000
            let bytes = try items[start..<min(start + 1000, items.count)].map { try $0() }.joined()
            let digest = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
                ($0 ^ UInt64($1)) &* 0x100_0000_01B3
            }
            let zeros = String(repeating: "0", count: digest.leadingZeroBitCount / 4)
            #expect(zeros + String(digest, radix: 16) == recorded[block], "from \(start)")
        }
    }
}
