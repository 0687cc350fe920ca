import CBORCoding
import Foundation

/// Decoding closures for many types.
let anyTypes: [@Sendable (Data) throws -> any Sendable] = [
    { try CBORDecoder().decode(CBORValue.self, from: $0) },
    { try CBORDecoder().decode(Bool.self, from: $0) },
    { try CBORDecoder().decode(Int.self, from: $0) },
    { try CBORDecoder().decode(UInt8.self, from: $0) },
    { try CBORDecoder().decode(Int128.self, from: $0) },
    { try CBORDecoder().decode(UInt128.self, from: $0) },
    { try CBORDecoder().decode(Double.self, from: $0) },
    { try CBORDecoder().decode(Float.self, from: $0) },
    { try CBORDecoder().decode(String.self, from: $0) },
    { try CBORDecoder().decode(Data.self, from: $0) },
    { try CBORDecoder().decode(Date.self, from: $0) },
    { try CBORDecoder().decode(URL.self, from: $0) },
    { try CBORDecoder().decode(UUID.self, from: $0) },
    { try CBORDecoder().decode(Decimal.self, from: $0) },
    { try CBORDecoder().decode([Int].self, from: $0) },
    { try CBORDecoder().decode([Double].self, from: $0) },
    { try CBORDecoder().decode([Float].self, from: $0) },
    { try CBORDecoder().decode([String].self, from: $0) },
    { try CBORDecoder().decode([Int: String].self, from: $0) },
    { try CBORDecoder().decode([String: Tree].self, from: $0) },
    { try CBORDecoder().decode(Tree.self, from: $0) },
    { try CBORDecoder().decode(Sample.self, from: $0) },
    { try CBORDecoder().decode([Sample?].self, from: $0) },
    { try CBORDecoder().decode(Shape.self, from: $0) },
    { try decoded(Date.self, $0) { $0.dateDecodingStrategy = .iso8601 } },
    { try decoded(Data.self, $0) { $0.dataDecodingStrategy = .deferredToData } },
    { try decoded(Data.self, $0) { $0.dataDecodingStrategy = .base64 } },
    { try decoded(Sample.self, $0) { $0.keyDecodingStrategy = .convertFromSnakeCase } },
    {
        try decoded(Tree.self, $0) {
            $0.keyDecodingStrategy = .custom {
                TextKey(stringValue: ($0.last?.stringValue ?? "") + "?")
            }
        }
    },
]

/// An enum with associated values.
enum Shape: Codable, Hashable, Sendable {
    case point
    case circle(radius: Double)
    case rectangle(Double, Double)
    indirect case group([Shape], name: String?)
}

/// A value with properties of many types.
struct Sample: Codable, Equatable, Sendable {
    var int = 0
    var small: Int8?
    var large: UInt128?
    var double = 0.5
    var text = ""
    var texts: [String] = []
    var data: Data?
    var date: Date?
    var url: URL?
    var uuid: UUID?
    var decimal: Decimal?
    var shape: Shape?
    var counts: [String: Int] = [:]
    var numbers: [Int: Bool]?
    var children: [Sample] = []

    static let full = Sample(
        int: -300,
        small: 7,
        large: 1 << 100,
        double: 1.1,
        text: "text é",
        texts: ["a", "", "水"],
        data: Data([1, 2, 3]),
        date: Date(timeIntervalSinceReferenceDate: 700_000_000.25),
        url: URL(string: "https://example.com/a?b#c"),
        uuid: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
        decimal: Decimal(string: "-12.5"),
        shape: .group([.point, .circle(radius: 2), .rectangle(1, 2)], name: nil),
        counts: ["one": 1, "two": 2],
        numbers: [-1: true],
        children: [Sample(text: "child")]
    )
}
