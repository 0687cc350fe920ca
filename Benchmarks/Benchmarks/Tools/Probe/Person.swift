import Vellum

/// A struct with six fields, made from a number.
struct Person: ArchiveCodable, Sendable {
    static let archiveName = "Person"

    var primaryKey: String { id }

    let id: String
    let name: String
    let email: String
    let age: Int
    let score: Double
    let isActive: Bool

    init(_ index: Int) {
        id = Self.key(index)
        name = "Ann Example \(index % 1000)"
        email = "ann.\(id)@example.com"
        age = 18 + index % 80
        score = Double(index % 1000) / 8
        isActive = index.isMultiple(of: 3)
    }

    static func key(_ index: Int) -> String {
        "p" + String(index &* 0x9E_3779_B1 & 0xFF_FFFF_FFFF, radix: 16)
    }
}
