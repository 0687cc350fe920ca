import Foundation
import Vellum
import VellumFiles

@testable import VellumToolKit

/// Random numbers from a seed (SplitMix64, Steele et al., OOPSLA 2014).
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func one<Value>(of values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &self)]
    }

    /// Scalars of every kind that a parser may take for a part of another.
    mutating func text() -> String {
        let scalars: [Unicode.Scalar] = [
            "a", "b", "\u{301}", "\u{E34}", "\u{1F3FD}", "\u{FE0F}", "\"", "'", "\\", "\n", "\t",
            "\u{1B}", "\u{202E}", "\u{1F98A}", "\u{E9}", "\u{200D}", "`", ".", "u", "{", "1", " ",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...3, using: &self) { text.append(one(of: scalars)) }
        return String(text)
    }
}

/// A text, or a null that is stored.
struct Nullable: Codable, Equatable, Sendable {
    var text: String?

    init(_ text: String?) { self.text = text }
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = container.decodeNil() ? nil : try container.decode(String.self)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try text.map { try container.encode($0) } ?? container.encodeNil()
    }
}

/// An object with a field of every kind.
struct Thing: ArchiveCodable, IndexedArchivable, Sendable {
    enum Kind: String, Codable, CaseIterable { case bird, fish }
    enum State: Codable, Equatable { case wild, kept(String), between(Int, high: Int) }
    struct Home: Codable, Equatable {
        var city: String
        var zip: Int?
    }

    static var archiveName: String { "Thing" }
    static var archiveIndexes: [ArchiveIndex<Thing>] {
        [
            .index(\.name), .index(\.nick), .index(\.count), .index(\.weight), .index(\.born),
            .index(\.isOn), .index(\.tag), .each(\.labels), .index(\.big), .each(\.dates),
        ]
    }

    var primaryKey: String { "\(id)" }
    var id: Int
    var name: String
    var nick: String?
    var note: Nullable
    var count: Int
    var big: UInt64
    var weight: Double
    var price: Decimal
    var born: Date
    var dates: [Date]
    var data: Data
    var isOn: Bool
    var tag: UUID
    var link: URL?
    var kind: Kind
    var state: State
    var home: Home
    var labels: [String]
    var counts: [String: Int]
    var numbers: [Int: String]

    static let counts = [
        0, 1, -3, 432, 1_767_225_600, 1 << 53, 1 << 53 + 1, .max, .max - 1, .min,
    ]
    static let bigs = [0, 7, UInt64(Int64.max), UInt64(Int64.max) + 1, .max - 1, .max]
    static let weights = [
        0, 1.5, -2.25, 0.1, 1e300, .leastNonzeroMagnitude, 0x1p53, 0x1p63, 0x1p64, 1_767_225_600,
        -1e22,
    ]
    static let oddWeights = [-0.0, Double.nan, .infinity, -.infinity]
    static let prices = [
        "0", "-12.34", "0.1", "0.10000000000000001", "12345678901234567.89",
        "12345678901234567.88", "123456789012345678901234567890", "1e-20", "432",
        "9007199254740993",
    ].compactMap { Decimal(string: $0) }
    static let births = [
        "0001-01-01", "1500-02-28T12:00:00Z", "1582-10-14", "1600-02-29", "1969-12-31T23:59:59.5Z",
        "2000-02-29T23:59:59.25+01:00", "2001-01-01", "2026-03-01T08:00:00-01:30",
        "2026-03-01T08:00:00.123Z", "2026-03-01T08:00:00.123456Z", "9999-12-31",
    ]

    static func random(_ id: Int, _ random: inout Seeded) -> Thing {
        Thing(
            id: id,
            name: random.text(),
            nick: .random(using: &random) ? random.text() : nil,
            note: Nullable(.random(using: &random) ? random.text() : nil),
            count: random.one(of: counts),
            big: random.one(of: bigs),
            weight: random.one(of: weights + oddWeights),
            price: random.one(of: prices),
            born: Scalar.date(random.one(of: births)) ?? Date(),
            dates: [Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &random))],
            data: Data(random.text().utf8),
            isOn: .random(using: &random),
            tag: random.one(of: tags),
            link: .random(using: &random) ? URL(string: "https://example.org/\(id % 3)") : nil,
            kind: random.one(of: Kind.allCases),
            state: random.one(of: [
                .wild, .kept("zoo"), .kept(random.text()), .between(id, high: 3),
            ]),
            home: Home(city: random.text(), zip: random.one(of: [nil, 0, 3, 8000])),
            labels: (0..<Int.random(in: 0...3, using: &random)).map { _ in random.text() },
            counts: [random.text(): 1, "items": id % 3],
            numbers: [id % 4: random.text(), -1: "x"]
        )
    }

    static let tags = [
        "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "00000000-0000-0000-0000-000000000000",
    ].compactMap(UUID.init)
}

/// The same, without indexes.
struct PlainThing: ArchiveCodable, Sendable {
    static var archiveName: String { "PlainThing" }
    var primaryKey: String { thing.primaryKey }
    var thing: Thing

    init(_ thing: Thing) { self.thing = thing }
    init(from decoder: any Decoder) throws { thing = try Thing(from: decoder) }
    func encode(to encoder: any Encoder) throws { try thing.encode(to: encoder) }
}
