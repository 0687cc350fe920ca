import Foundation
import Vellum

/// An object with an index.
struct City: ArchiveCodable, IndexedArchivable, Equatable {
    var primaryKey: String { name }
    var name: String
    var country: String
    var people: Int
    var founded: Date?
    var tags: [String] = []

    static var archiveIndexes: [ArchiveIndex<City>] {
        [.index(\.country, \.people), .index(\.founded), .each(\.tags)]
    }

    static let examples = [
        City(
            name: "Bern",
            country: "CH",
            people: 134,
            founded: Date(timeIntervalSince1970: 0),
            tags: ["capital", "river"]
        ),
        City(name: "Basel", country: "CH", people: 173, tags: ["river", "border"]),
        City(name: "Ulm", country: "DE", people: 126, tags: ["river"]),
        City(name: "Kiel", country: "DE", people: 246, founded: Date(timeIntervalSince1970: 1000)),
        City(name: "Graz", country: "AT", people: 291, tags: ["border"]),
    ]

    /// Returns different cities.
    static func many(_ count: Int) -> [City] {
        (0..<count).map {
            City(
                name: "city \($0)",
                country: "country \($0 % 10)",
                people: $0,
                tags: ["tag \($0 % 3)"]
            )
        }
    }
}
