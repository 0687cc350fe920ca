import Foundation
import Samples
import Vellum

/// The cost that each index adds to a record, and to the same statements by hand: each side with no
/// index, one, three, and one of tags.
enum IndexCostComparison {
    private static let ours = "Vellum"
    private static let same = "same statements"
    private static let table = "own table"

    static func make(_ work: Work, _ scale: Scale) -> Comparison {
        let titles = [NoIndex.title, OneIndex.title, ThreeIndexes.title, TagIndex.title]
        let isBulk = work == .bulkIndexed
        return Comparison(
            work: work,
            subject: Resident.title,
            scale: scale,
            sides: titles.flatMap { title in [ours, same, table].map { ($0 + title, nil) } },
            increments: [same, table].flatMap { side in
                titles.dropFirst().map { title in
                    Outcome.Increment(
                        title: String(title.dropFirst(2)),
                        ours: [ours, ours + title],
                        theirs: [side, side + title],
                        limit: side == same ? 1.3 : nil
                    )
                }
            },
            batch: isBulk ? 1000 : 1,
            rounds: isBulk ? 60 : 3000,
            seconds: isBulk ? 20 : 12
        ) { workspace in
            let first = (0..<scale.rawValue).map { Resident.make($0, of: scale.rawValue) }
            let stores = [
                try Stores(NoIndex.self, workspace, first),
                try Stores(OneIndex.self, workspace, first),
                try Stores(ThreeIndexes.self, workspace, first),
                try Stores(TagIndex.self, workspace, first),
            ]
            let count = isBulk ? 1000 : 1
            var residents: [Resident] = []
            let turns = stores.flatMap { stores in
                stores.sides.map { record in Turn { try record(residents) } }
            }
            return Course(turns: turns) { round in
                let start = scale.rawValue + round * count
                residents = (start..<start + count).map { Resident.make($0, of: scale.rawValue) }
            } end: {
                for store in stores { try store.close() }
            }
        }
    }

    /// The three sides with the same indexes, filled with the same residents.
    private struct Stores {
        /// In the order Vellum, same statements, table.
        let sides: [([Resident]) throws -> Void]
        let close: () throws -> Void

        init<Choice: IndexChoice>(
            _ choice: Choice.Type,
            _ workspace: Workspace,
            _ first: [Resident]
        ) throws {
            let name =
                "scratch/indexed"
                + Choice.title.replacing(", ", with: "-").replacing(" ", with: "-")
            try? FileManager.default.removeItem(at: workspace.folder.appendingPathComponent(name))
            let folder = try workspace.folder(name)
            let (own, copy) = (
                folder.appendingPathComponent("vellum"), folder.appendingPathComponent("same")
            )
            try Self.fill(choice, own, first)
            try FileManager.default.copyItem(at: own, to: copy)

            let factory = ArchivesFactory(directory: own)
            let store = try factory.store(
                for: Recorded<Choice>.self,
                memoryLimit: 16.megaByte,
                diskLimit: .everything
            )
            let same = try SameSchema<Resident>(
                copy.appendingPathComponent("Archives.sqlite").path,
                .crashSafe
            ) { database in
                guard let rows = try IndexRows(choice, database) else { return nil }
                return { row, value in try rows.add(row, value) }
            }
            let table = try IndexedTable(
                choice,
                folder.appendingPathComponent("table.sqlite").path,
                .crashSafe
            )
            try table.record(first)
            sides = [
                { residents in
                    if residents.count == 1 {
                        try store.record(Recorded(residents[0]))
                    } else {
                        try store.record(contentsOf: residents.map(Recorded.init))
                    }
                },
                { try same.record($0) },
                { try table.record($0) },
            ]
            close = {
                try factory.close()
                same.close()
                table.close()
            }
        }

        private static func fill<Choice: IndexChoice>(
            _ choice: Choice.Type,
            _ folder: URL,
            _ residents: [Resident]
        ) throws {
            let factory = ArchivesFactory(directory: folder)
            let store = try factory.store(
                for: Recorded<Choice>.self,
                memoryLimit: 1.megaByte,
                diskLimit: .everything
            )
            try store.record(contentsOf: residents.map(Recorded.init))
            try factory.close()
        }
    }
}
