import Benchmark
import Foundation
import Samples
import Vellum

/// From nothing open to the first value read, after a clean close.
enum OpeningComparison<Value: Subject> {
    static func make(_ scale: Scale) -> Comparison {
        Comparison(
            work: .opening,
            subject: Value.title,
            scale: scale,
            sides: [("Vellum", nil), ("point read", nil), ("GRDB", nil)],
            limit: scale == .million ? 5_000_000 : nil,
            rounds: 300,
            seconds: 3
        ) { workspace in
            let fixture = StoreFixture<Value>(workspace: workspace, count: scale.rawValue)
            let folder = try fixture.folder(.vellum)
            let same = try fixture.path(.vellum, "same")
            let grdb = try fixture.path(.grdb)
            var key = ""
            var open: [() throws -> Void] = []
            let close = {
                for close in open { try close() }
                open = []
            }
            return Course(
                turns: [
                    Turn(
                        run: {
                            let factory = ArchivesFactory(directory: folder)
                            let store = try factory.store(
                                for: Value.self,
                                memoryLimit: 1.megaByte,
                                diskLimit: .everything
                            )
                            blackHole(try store.access(archiveWithKey: key))
                            open.append(factory.close)
                        },
                        undo: close
                    ),
                    Turn(
                        run: {
                            let reader = try SameSchemaReader<Value>(same)
                            blackHole(try reader.value(key))
                            open.append { withExtendedLifetime(reader) {} }
                        },
                        undo: close
                    ),
                    Turn(
                        run: {
                            let peer = try Peer<Value>(grdb, .crashSafe)
                            blackHole(try peer.value(key))
                            open.append(peer.close)
                        },
                        undo: close
                    ),
                ]
            ) { round in
                key = Value.key(round * 7_919 % scale.rawValue)
            }
        }
    }
}
