import Foundation
import VellumCore
import VellumEngine
import VellumTestSupport

@testable import Vellum

/// An object with every kind of property that an index distinguishes.
struct QuerySample: IndexedArchivable, Codable {
    enum Kind: String, Codable, CaseIterable { case small, large, none = "" }

    struct Address: Codable {
        var city = "Oslo"
    }

    var primaryKey = "sample"
    var integer = 0
    var small: Int8?
    var large: UInt64 = 0
    var ratio = 0.0
    var share: Float?
    var name = ""
    var nick: String?
    var date: Date?
    var identifier: UUID = QuerySample.identifiers[0]
    var bytes: Data?
    var isMarked = false
    var mark: Bool?
    var tags: [String] = []
    var numbers: [Double]?
    var kind = Kind.small
    var otherKind: Kind?
    var kinds: [Kind] = []
    var address = Address()
    var otherAddress: Address?

    var isLarge: Bool { large > 10 }
    var isOdd: Bool { integer % 2 != 0 }

    static var archiveIndexes: [ArchiveIndex<QuerySample>] {
        [
            .index(\.integer), .index(\.small), .index(\.large, \.ratio), .index(\.share),
            .index(\.name, \.nick, \.date),
            .index(\.identifier), .index(\.bytes), .index(\.isMarked), .index(\.mark),
            .each(\.tags), .each(\.numbers),
            .index(\.kind), .index(\.otherKind), .each(\.kinds), .index(\.address.city),
            .index(\.isLarge), .index(\.isOdd),
        ]
    }
}

// MARK: Edge cases

extension QuerySample {
    static let integers = [0, 1, -1, 5, .max, .min]
    static let smalls: [Int8] = [0, 1, -1, .max, .min]
    static let larges: [UInt64] = [0, 1, 11, UInt64(Int64.max), UInt64(Int64.max) + 1, .max]
    static let ratios = [
        0.0, -0.0, 1, -1, 0.1, .nan, -.nan, .signalingNaN, .infinity, -.infinity,
        .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
        .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
    ]
    static let shares: [Float] = [
        0, -0.0, 0.1, .nan, .infinity, -.infinity, .leastNonzeroMagnitude,
    ]
    static let names = [
        "", "a", "A", "ab", "abc", "b", "\u{E9}", "e\u{301}", "e", "e\u{301}x", "\r\n", "\r", "\n",
        "a\r\n", "a\r", "👩‍👩‍👧", "👩", "👩‍👩",
        "\u{1100}\u{1161}", "\u{AC00}", "\u{1100}", "\u{AC01}", "\u{1112}\u{1161}\u{11AB}",
        "a\u{300}\u{316}", "a\u{316}\u{300}",
        "a\u{300}",
        "\u{FFFD}", "\u{FF5E}", "😀", "\0", "a\0", "🇳🇴", "🇳", "\u{1DC0}", "ß", "ss",
    ]
    static let dates = [
        Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: 0.1),
        Date(timeIntervalSinceReferenceDate: 0.1.nextUp),
        Date(timeIntervalSinceReferenceDate: -1e9),
        Date(timeIntervalSinceReferenceDate: .nan), .distantPast, .distantFuture,
    ]
    static let identifiers: [UUID] = [
        0x0000_0000, 0x0000_0001, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF,
    ].map { (start: UInt32) in
        let bytes = withUnsafeBytes(of: start.bigEndian, Array.init)
        return UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xFF
            )
        )
    }
    static let data = [Data(), Data([0]), Data([0, 0]), Data([255]), Data([1, 2, 3])]

    static func random(_ generator: inout SeededGenerator) -> QuerySample {
        var sample = QuerySample()
        sample.integer = integers.random(&generator)
        sample.small = smalls.randomOrNil(&generator)
        sample.large = larges.random(&generator)
        sample.ratio = ratios.random(&generator)
        sample.share = shares.randomOrNil(&generator)
        sample.name = names.random(&generator)
        sample.nick = names.randomOrNil(&generator)
        sample.date = dates.randomOrNil(&generator)
        sample.identifier = identifiers.random(&generator)
        sample.bytes = data.randomOrNil(&generator)
        sample.isMarked = Bool.random(using: &generator)
        sample.mark = [true, false].randomOrNil(&generator)
        sample.tags = names.randomSome(&generator)
        sample.numbers = Bool.random(using: &generator) ? nil : ratios.randomSome(&generator)
        sample.kind = Kind.allCases.random(&generator)
        sample.otherKind = Kind.allCases.randomOrNil(&generator)
        sample.kinds = Kind.allCases.randomSome(&generator)
        sample.address.city = names.random(&generator)
        sample.otherAddress =
            Bool.random(using: &generator) ? nil : Address(city: names.random(&generator))
        return sample
    }
}
