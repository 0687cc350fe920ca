import Foundation

/// The statements of `Sources/VellumEngine/Tables/IndexTables.swift` for a record under a new key,
/// executed directly.
///
/// Omits the rest of Vellum's work: no normal form of strings, no sorting of tags, no kinds.
final class IndexRows {
    private let columns: [IndexedColumn]
    private let insert: RawStatement
    private let addTag: RawStatement?

    /// - Returns: `nil` if there is no index.
    init?(_ choice: (some IndexChoice).Type, _ database: RawDatabase) throws {
        columns = choice.columns
        let count = 1 + columns.count + (choice.hasTags ? 1 : 0)
        guard count > 1 else { return nil }
        insert = try database.prepare(
            "INSERT INTO columns_1 VALUES (\((1...count).map { "?\($0)" }.joined(separator: ", ")))"
        )
        addTag =
            choice.hasTags
            ? try database.prepare("INSERT INTO elements_1_0(value, id) VALUES (?1, ?2)") : nil
    }

    func add(_ row: Int64, _ resident: Resident) throws {
        insert.bind(row, 1)
        for (index, column) in columns.enumerated() {
            column.bind(resident, insert, Int32(index + 2))
        }
        // The tags in one value, so that they can be found again.
        if addTag != nil {
            insert.bind(text: resident.tags.joined(separator: "\n"), Int32(columns.count + 2))
        }
        try insert.run()
        guard let addTag else { return }
        for tag in resident.tags {
            addTag.bind(text: tag, 1)
            addTag.bind(row, 2)
            try addTag.run()
        }
    }
}
