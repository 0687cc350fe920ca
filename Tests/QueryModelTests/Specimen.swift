import Foundation
import VellumTestSupport
import Vellum

/// An object with every kind of property that an index supports, and some that it does not.
struct Specimen: ArchiveCodable, IndexedArchivable, Hashable {
    static var archiveName: String { "specimen" }
    var primaryKey: String { key }

    var key: String
    var flag: Bool
    var small: Int8
    var count: Int
    var huge: UInt64
    var ratio: Double
    var share: Float?
    var name: String
    var nick: String?
    var day: Date
    var seen: Date?
    var code: UUID
    var blob: Data
    var kind: Kind
    var level: Level?
    var home: Home
    var away: Home?
    var tags: [String]
    var marks: [Double]
    /// Not indexed.
    var note: String

    enum Kind: String, Codable, CaseIterable, IndexableValue {
        case plain, rare
        case odd = "é"
    }

    enum Level: Int, Codable, CaseIterable {
        case low = -1
        case high = 5
    }

    struct Home: Codable, Hashable {
        var city: String
        var zip: Int?
    }

    static var archiveIndexes: [ArchiveIndex<Specimen>] {
        [
            .index(\.flag), .index(\.small), .index(\.count, \.name), .index(\.huge),
            .index(\.ratio), .index(\.share), .index(\.name),
            .index(\.nick, \.count), .index(\.day), .index(\.seen), .index(\.code), .index(\.blob),
            .index(\.kind, \.ratio),
            .index(\.level), .index(\.level, \.small),
            .index(\.home.city), .index(\.home.zip, \.flag), .index(\.away?.city),
            .index(\.away?.zip, \.flag), .each(\.tags),
            .each(\.marks), .index(\.name, ignoring: .caseAndDiacritics),
            .index(\.nick, ignoring: .case),
        ]
    }
}

// MARK: Random specimens

/// Edge cases: bounds of ranges, similar values, and values that equal nothing.
enum Nasty {
    static let strings = [
        "", "a", "A", "ab", "abc", "b", "é", "e\u{301}", "e", "ée", "\r", "\r\n", "\n", "a\u{0}",
        "a\u{0}b", "🙂", "🙂\u{FE0F}", "👩‍👩‍👧", "👩",
        "가", "\u{1100}\u{1161}", "\u{1100}", "ß", "SS", "İ", "i", "q\u{307}\u{323}",
        "q\u{323}\u{307}", "ﬁ", "Å", "\u{212B}", "zz",
        "\u{10FFFF}",
        "a\u{10FFFF}", "a\u{301}", "ａ", "x\u{378}",
    ]
    static let integers = [Int.min, -1, 0, 1, 2, 3, 5, 5, 127, .max]
    static let numbers = [
        -Double.infinity, -1.5, -0.0, 0.0, Double.leastNonzeroMagnitude, 0.1, 1, 1.0.nextUp, 1.5,
        .greatestFiniteMagnitude, .infinity, .nan,
    ]
    static let unsigned = [UInt64.min, 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max]
    static let dates = [0.0, -1, 1e9, 1e9.nextUp, 1e9.nextDown, 700_000_000.123_456_7].map(
        Date.init(timeIntervalSinceReferenceDate:)
    )
    static let codes = (0..<4).map { number in
        UUID(
            uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number & 1) * 255, UInt8(number))
        )
    }
    static let blobs = [Data(), Data([0]), Data([0, 0]), Data([0xFF]), Data("a".utf8)]
}

extension Specimen {
    /// Whether an index covers it.
    var isCertain: Bool {
        let strings = [name, nick ?? "", home.city, away?.city ?? ""] + tags
        return !strings.contains("x\u{378}")
    }

    static func random(_ key: String, _ random: inout SeededGenerator) -> Specimen {
        func pick<Value>(_ values: [Value]) -> Value {
            values[Int.random(in: 0..<values.count, using: &random)]
        }
        func maybe<Value>(_ value: Value) -> Value? {
            Int.random(in: 0..<4, using: &random) == 0 ? nil : value
        }
        return Specimen(
            key: key,
            flag: pick([true, false]),
            small: pick([.min, -1, 0, 1, .max]),
            count: pick(Nasty.integers),
            huge: pick(Nasty.unsigned),
            ratio: pick(Nasty.numbers),
            share: maybe(Float(pick(Nasty.numbers))),
            name: pick(Nasty.strings),
            nick: maybe(pick(Nasty.strings)),
            day: pick(Nasty.dates),
            seen: maybe(pick(Nasty.dates)),
            code: pick(Nasty.codes),
            blob: pick(Nasty.blobs),
            kind: pick(Kind.allCases),
            level: maybe(pick(Level.allCases)),
            home: Home(city: pick(Nasty.strings), zip: maybe(pick(Nasty.integers))),
            away: maybe(Home(city: pick(Nasty.strings), zip: maybe(pick(Nasty.integers)))),
            tags: (0..<Int.random(in: 0...3, using: &random)).map { _ in pick(Nasty.strings) },
            marks: (0..<Int.random(in: 0...3, using: &random)).map { _ in pick(Nasty.numbers) },
            note: pick(Nasty.strings)
        )
    }
}
