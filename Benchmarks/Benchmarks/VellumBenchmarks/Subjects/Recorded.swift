import Foundation
import Vellum

/// A resident whose archive has some indexes and no others.
struct Recorded<Choice: IndexChoice>: ArchiveCodable, IndexedArchivable, Sendable {
    static var archiveName: String { "Recorded" }
    static var archiveIndexes: [ArchiveIndex<Recorded<Choice>>] { Choice.indexes() }

    let id: String
    let name: String
    let city: String
    let points: Int
    let score: Double
    let tags: [String]
    let email: String

    var primaryKey: String { id }

    init(_ resident: Resident) {
        (id, name, city, points) = (resident.id, resident.name, resident.city, resident.points)
        (score, tags, email) = (resident.score, resident.tags, resident.email)
    }
}

/// The indexes, and the columns that they need.
protocol IndexChoice: SendableMetatype {
    /// The name in the report.
    static var title: String { get }
    static var columns: [IndexedColumn] { get }
    static var hasTags: Bool { get }

    static func indexes() -> [ArchiveIndex<Recorded<Self>>]
}

/// A column that has an index of its own.
struct IndexedColumn: Sendable {
    var name: String
    /// Binds the column's value of a resident.
    var bind: @Sendable (Resident, RawStatement, Int32) -> Void

    static let points = IndexedColumn(name: "points") { $1.bind(Int64($0.points), $2) }
    static let city = IndexedColumn(name: "city") { $1.bind(text: $0.city, $2) }
    static let name = IndexedColumn(name: "name") { $1.bind(text: $0.name, $2) }
}

enum NoIndex: IndexChoice {
    static let title = ""
    static var columns: [IndexedColumn] { [] }
    static let hasTags = false

    static func indexes() -> [ArchiveIndex<Recorded<NoIndex>>] { [] }
}

enum OneIndex: IndexChoice {
    static let title = ", 1 index"
    static var columns: [IndexedColumn] { [.points] }
    static let hasTags = false

    static func indexes() -> [ArchiveIndex<Recorded<OneIndex>>] { [.index(\.points)] }
}

enum ThreeIndexes: IndexChoice {
    static let title = ", 3 indexes"
    static var columns: [IndexedColumn] { [.points, .city, .name] }
    static let hasTags = false

    static func indexes() -> [ArchiveIndex<Recorded<ThreeIndexes>>] {
        [.index(\.points), .index(\.city), .index(\.name)]
    }
}

/// An index of two tags each.
enum TagIndex: IndexChoice {
    static let title = ", each tag"
    static var columns: [IndexedColumn] { [] }
    static let hasTags = true

    static func indexes() -> [ArchiveIndex<Recorded<TagIndex>>] { [.each(\.tags)] }
}
