import Benchmark
import Foundation
import Samples
import Vellum

/// A read from the disk: one row by its key, and one decode.
enum DiskHitComparison<Value: Subject> {
    /// - Parameter memory: Room for a few values, which are evicted before they are read again.
    static func make(
        _ scale: Scale,
        memory: DataSize = 1.kiloByte,
        rounds: Int = 10_000
    ) -> Comparison {
        let hasFiles = scale != .million
        // The row of a large value has only the number of its file.
        let isInFile = Value.isLarge
        let libraries = LibraryStore.measured(.diskHit)
        return Comparison(
            work: .diskHit,
            subject: Value.title,
            scale: scale,
            sides: [("Vellum", nil)] + (isInFile ? [] : [("point read", 1.2)]) + [("GRDB", nil)]
                + (hasFiles ? [("a file each", nil)] : [])
                + libraries.map { ($0.name, nil) },
            notRun: LibraryStore.notRun(.diskHit).merging(
                isInFile ? ["point read": "the value is in a file"] : [:]
            ) { $1 },
            rounds: rounds
        ) { workspace in
            let fixture = StoreFixture<Value>(workspace: workspace, count: scale.rawValue)
            // The other side has a copy: when Vellum writes touches, another connection to the same
            // file would read its pages again.
            let (folder, copy) = (try fixture.folder(.vellum), try fixture.path(.vellum, "same"))
            let factory = ArchivesFactory(directory: folder)
            let store = try factory.store(
                for: Value.self,
                memoryLimit: memory,
                diskLimit: .everything
            )
            let same = try SameSchemaReader<Value>(copy)
            let peer = try Peer<Value>(try fixture.path(.grdb), .crashSafe)
            let files = hasFiles ? Files<Value>(try fixture.folder(.files)) : nil

            let stores = try libraries.map { try $0.open(fixture) }

            var key = ""
            func found(_ value: Value?) throws {
                guard let value else { throw CocoaError(.fileNoSuchFile) }
                blackHole(value)
            }
            var turns = [Turn { try found(try store.access(archiveWithKey: key)) }]
            if !isInFile { turns.append(Turn { try found(try same.value(key)) }) }
            turns.append(Turn { try found(try peer.value(key)) })
            if let files { turns.append(Turn { try found(try files.value(key)) }) }
            for store in stores {
                turns.append(Turn { try found(try store.bytes(key).map(Value.decode)) })
            }
            return Course(turns: turns) { round in
                // A stride that is coprime to the count visits every entry once before it repeats.
                key = Value.key(round * 7_919 % scale.rawValue)
            } end: {
                try factory.close()
                try peer.close()
                for store in stores { store.close() }
            }
        }
    }
}
