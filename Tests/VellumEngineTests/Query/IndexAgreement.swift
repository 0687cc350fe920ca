import Foundation
import Testing

@testable import VellumCore
@testable import VellumEngine

extension Store<Person> {
    /// The names of the people whose index rows are wrong.
    func disagreements() throws -> [String] {
        let catalog = try #require(self.catalog)
        return try disk.file.reading(disk.archive) { (archive) throws(SQLiteError) in
            var wrong: [String] = []
            for stored in try archive.allEntries() {
                let held = try archive.indexed(stored.entry.id, catalog.shape)
                let person = try? JSONDecoder().decode(Person.self, from: stored.entry.bytes)
                if held != person.flatMap(catalog.values(of:)) {
                    wrong.append(stored.key.normalized)
                }
            }
            return wrong
        }
    }

    func waitForIndex() throws { disk.file.waitForMaintenance() }

    func names(_ steps: QueryDescription<Person>.Step...) throws -> [String] {
        try fetch(QueryDescription(steps)).map(\.name)
    }
}

extension ArchiveTables {
    func allEntries() throws(SQLiteError) -> [StoredEntry] {
        var scan = EntryScan(through: .max)
        return try entries(of: &scan, ReadLimit(entries: .max, bytes: .max))
    }
}
