import Benchmark
import Foundation
import Samples
import Shallows
import ShallowsSQLite

/// A SQLite storage compared with a folder of files, both without memory in front.
enum ShallowsSQLiteComparison<Value: Blob> {
    static func make(_ work: Work, _ scale: Scale, rounds: Int) -> Comparison {
        Comparison(
            work: work,
            subject: Value.title,
            scale: scale,
            sides: ["SQLite, sync", "SQLite, async", "folder, sync", "folder, async"].map {
                ($0, nil)
            },
            rounds: rounds,
            seconds: 5
        ) { workspace in
            let workspace = try workspace.folder(
                "scratch/\(work.rawValue)-\(Value.size)-\(UUID().uuidString)"
            )
            let durability: Durability =
                work == .shallowsSQLiteSetPowerSafe ? .powerSafe : .crashSafe
            // Too little memory for any value.
            let tables = ["sync", "task"].map { name in
                SQLiteStorage<Data>(
                    fileURL: workspace.appendingPathComponent(name + ".sqlite"),
                    options: .init(memoryLimit: DataSize(bytes: 1), durability: durability)
                )
            }
            let folders = ["sync", "task"].map { name in
                DiskFolderStorage(
                    folderURL: workspace.appendingPathComponent(name),
                    durability: durability
                )
            }
            let storages = tables.map { $0.asStorage() } + folders.map { $0.asStorage() }
            let sync = storages.map { $0.makeSyncStorage() }
            let keys = (0..<scale.rawValue).map { Filename(rawValue: Value.key($0)) }
            let value = Data(Array(Value.contents))
            for storage in sync {
                for key in keys {
                    try storage.set(value, forKey: key)
                    guard try storage.retrieve(forKey: key) == value else {
                        throw CocoaError(.fileReadCorruptFile)
                    }
                }
            }

            var key = keys[0]
            let turns = storages.indices.map { index in
                let (storage, sync, isRead) = (
                    storages[index], sync[index], work == .shallowsSQLiteHit
                )
                if index.isMultiple(of: 2) {
                    return isRead
                        ? Turn { blackHole(try sync.retrieve(forKey: key)) }
                        : Turn { try sync.set(value, forKey: key) }
                }
                return isRead
                    ? Turn.inTask {
                        let key = key
                        return { blackHole(try await storage.retrieve(forKey: key)) }
                    }
                    : Turn.inTask {
                        let key = key
                        return { try await storage.set(value, forKey: key) }
                    }
            }
            return Course(turns: turns) { round in
                key = keys[round * 7_919 % keys.count]
            } end: {
                for table in tables { try table.closeAndWait() }
                try FileManager.default.removeItem(at: workspace)
            }
        }
    }
}
