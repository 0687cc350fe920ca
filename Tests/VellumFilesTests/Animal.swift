import Foundation
import Vellum
import VellumTestSupport

/// An object with fields of every kind that a query of fields can compare.
struct Animal: ArchiveCodable, IndexedArchivable, Sendable, Equatable {
    enum Kind: String, Codable, CaseIterable { case bird, fish, mammal }
    enum State: Codable, Equatable { case wild, kept(String) }
    struct Home: Codable, Sendable, Equatable {
        var city: String
        var zip: Int?
    }

    static var archiveName: String { "Animal" }
    static var archiveIndexes: [ArchiveIndex<Animal>] {
        [
            .index(\.name), .index(\.nick), .index(\.legs), .index(\.weight), .index(\.born),
            .index(\.isWild), .index(\.tag),
            .index(\.kind), .index(\.home.city, \.home.zip), .each(\.labels), .index(\.big),
        ]
    }

    var primaryKey: String { id }
    var id: String
    var name: String
    var nick: String?
    var legs: Int
    var weight: Double
    var born: Date
    var isWild: Bool
    var tag: UUID
    var kind: Kind
    var state: State
    var home: Home
    var labels: [String]
    var big: UInt64

    static func random(_ id: Int, _ random: inout SeededGenerator) -> Animal {
        Animal(
            id: "\(id)",
            name: names.random(&random),
            nick: Bool.random(using: &random) ? names.random(&random) : nil,
            legs: .random(in: -2...4, using: &random),
            weight: weights.random(&random),
            born: dates.random(&random),
            isWild: .random(using: &random),
            tag: tags.random(&random),
            kind: Kind.allCases.random(&random),
            state: Bool.random(using: &random) ? .wild : .kept("zoo"),
            home: Home(
                city: names.random(&random),
                zip: Bool.random(using: &random) ? .random(in: 0...3, using: &random) : nil
            ),
            labels: (0..<Int.random(in: 0...3, using: &random)).map { _ in names.random(&random) },
            big: [0, 1, UInt64(Int64.max), .max].random(&random)
        )
    }

    static let names = [
        "", "a", "A", "ab", "e\u{301}", "\u{E9}", "z", "\u{1F98A}", "it's \"so\"", "back\\slash",
        "\n",
    ]
    static let weights = [0, -0.0, 1, 1.5, -2.25, 1e300, .infinity, -.infinity, .nan, 0.1]
    static let dates = ["2026-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2001-01-01T00:00:00Z"]
        .compactMap {
            ISO8601DateFormatter().date(from: $0)
        }
    static let tags = [
        "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "00000000-0000-0000-0000-000000000000",
    ].compactMap(UUID.init)
}

/// The same, without indexes.
struct PlainAnimal: ArchiveCodable, Sendable {
    static var archiveName: String { "PlainAnimal" }
    var primaryKey: String { animal.id }
    var animal: Animal

    init(_ animal: Animal) { self.animal = animal }
    init(from decoder: any Decoder) throws { animal = try Animal(from: decoder) }
    func encode(to encoder: any Encoder) throws { try animal.encode(to: encoder) }
}
