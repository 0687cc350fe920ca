import Benchmark
import Foundation
import Samples
import Vellum

/// A read that memory cannot answer: one row by its key, and one decode.
enum DiskHitComparison<Value: Subject> {
    /// - Parameter memory: So much that a few values have room and leave again before they are asked for a second time.
    static func make(_ scale: Scale, memory: DataSize = 1.kiloByte, rounds: Int = 10_000) -> Comparison {
        let hasFiles = scale != .million
        return Comparison(
            work: .diskHit, subject: Value.title, scale: scale,
            sides: [("Vellum", nil), ("point read", 1.5), ("GRDB", nil)] + (hasFiles ? [("a file each", nil)] : []),
            rounds: rounds
        ) { desk in
            let shelf = State<Value>(desk: desk, count: scale.rawValue)
            // A copy for the other: what Vellum writes down of uses would make its connection read its pages anew.
            let (folder, copy) = (try shelf.folder(.vellum), try shelf.path(.vellum, "same"))
            let factory = ArchivesFactory(directory: folder)
            let store = try factory.store(for: Value.self, memoryLimit: memory, diskLimit: .everything)
            let same = try SameSchemaReader<Value>(copy)
            let peer = try Peer<Value>(try shelf.path(.grdb), .crashSafe)
            let files = hasFiles ? Files<Value>(try shelf.folder(.files)) : nil

            var key = ""
            func found(_ value: Value?) throws {
                guard let value else { throw CocoaError(.fileNoSuchFile) }
                blackHole(value)
            }
            var turns = [
                Turn { try found(try store.access(archiveWithKey: key)) }, Turn { try found(try same.value(key)) },
                Turn { try found(try peer.value(key)) },
            ]
            if let files { turns.append(Turn { try found(try files.value(key)) }) }
            return Course(turns: turns) { round in
                // A stride that shares no factor with the count meets every entry before any a second time.
                key = Value.key(round * 7_919 % scale.rawValue)
            } end: {
                try factory.close()
                try peer.close()
            }
        }
    }
}
