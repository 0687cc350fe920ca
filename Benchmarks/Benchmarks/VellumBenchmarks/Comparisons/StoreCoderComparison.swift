import Benchmark
import Foundation
import Samples
import Vellum

/// The same struct in two stores: one with the default coder, and one of a type that writes JSON.
enum StoreCoderComparison {
    private static func comparison(
        _ work: Work,
        _ scale: Scale,
        limit: Double,
        rounds: Int,
        seconds: Double = 4,
        prepare: @escaping (Sides, Scale) throws -> Course
    ) -> Comparison {
        Comparison(
            work: work,
            subject: User.title,
            scale: scale,
            sides: [("Vellum", nil), ("Vellum with JSON", limit)],
            rounds: rounds,
            seconds: seconds
        ) { workspace in
            try prepare(
                Sides(
                    workspace,
                    scale,
                    memory: work == .coderRecordOver ? 16.megaByte : 1.kiloByte
                ),
                scale
            )
        }
    }

    static func recordOver(_ scale: Scale) -> Comparison {
        comparison(.coderRecordOver, scale, limit: 1 / 1.5, rounds: 3000, seconds: 5) {
            sides,
            scale in
            var (user, inJSON) = (User.make(0), UserInJSON.make(0))
            return Course(
                turns: [
                    Turn { try sides.own.record(user) }, Turn { try sides.inJSON.record(inJSON) },
                ],
                begin: { round in
                    user = User.make(Scatter.place(round) % scale.rawValue, changedIn: round)
                    inJSON = UserInJSON(user)
                },
                end: sides.close
            )
        }
    }

    /// Reads from the disk: memory has room for a few users.
    static func diskHit(_ scale: Scale) -> Comparison {
        comparison(.coderDiskHit, scale, limit: 1 / 1.5, rounds: 10_000) { sides, scale in
            var key = ""
            func found<Value>(_ value: Value?) throws {
                guard let value else { throw CocoaError(.fileNoSuchFile) }
                blackHole(value)
            }
            return Course(
                turns: [
                    Turn { try found(try sides.own.access(archiveWithKey: key)) },
                    Turn { try found(try sides.inJSON.access(archiveWithKey: key)) },
                ],
                // A stride that is coprime to the count visits every entry once before it repeats.
                begin: { key = User.key($0 * 7_919 % scale.rawValue) },
                end: sides.close
            )
        }
    }

    /// A condition on a property without an index: every object is decoded.
    static func unindexed(_ scale: Scale) -> Comparison {
        comparison(.coderUnindexed, scale, limit: 1 / 2.0, rounds: 20, seconds: 40) {
            sides,
            scale in
            // One of a thousand names.
            let name = "Ann Example 77"
            func check(_ count: Int) {
                precondition(count == scale.rawValue / 1000, "\(count) objects")
            }
            return Course(
                turns: [
                    Turn {
                        check(try sides.own.fetch(where: #Predicate { $0.name == name }).count)
                    },
                    Turn {
                        check(try sides.inJSON.fetch(where: #Predicate { $0.name == name }).count)
                    },
                ],
                end: sides.close
            )
        }
    }

    /// The two stores, filled with the same users.
    private struct Sides {
        let own: ArchiveStore<User>
        let inJSON: ArchiveStore<UserInJSON>
        let close: () throws -> Void

        init(_ workspace: Workspace, _ scale: Scale, memory: DataSize) throws {
            let factory = ArchivesFactory(
                directory: try StoreFixture<User>(workspace: workspace, count: scale.rawValue)
                    .folder(.vellum)
            )
            let factoryInJSON = ArchivesFactory(
                directory: try StoreFixture<UserInJSON>(workspace: workspace, count: scale.rawValue)
                    .folder(.vellum)
            )
            own = try factory.store(for: User.self, memoryLimit: memory, diskLimit: .everything)
            inJSON = try factoryInJSON.store(
                for: UserInJSON.self,
                memoryLimit: memory,
                diskLimit: .everything
            )
            close = {
                try factory.close()
                try factoryInJSON.close()
            }
        }
    }
}
