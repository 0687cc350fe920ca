import Foundation
import Samples
import Vellum

/// One record that is on disk when the call returns.
enum RecordComparison<Value: Subject> {
    /// - Parameter changed: The object of an index as a round of overwriting records it; `nil` if
    ///   each round records a new object.
    static func make(
        _ work: Work,
        _ scale: Scale,
        rounds: Int = 2000,
        seconds: Double = 5,
        changed: ((_ index: Int, _ round: Int) -> Value)? = nil
    ) -> Comparison {
        let isMeasuredAgainstLimits = work == .recordNew || work == .recordOver
        let hasFiles = scale != .million
        let libraries = LibraryStore.measured(work)
        return Comparison(
            work: work,
            subject: Value.title,
            scale: scale,
            sides: [
                ("Vellum", nil), ("same statements", isMeasuredAgainstLimits ? 1.2 : nil),
                ("leanest table", isMeasuredAgainstLimits ? 1.3 : nil), ("GRDB", nil),
            ] + (hasFiles ? [("a file each", nil)] : [])
                + libraries.map { ($0.name, nil) },
            durability: durability(work, libraries),
            notRun: LibraryStore.notRun(work),
            rounds: rounds,
            seconds: seconds
        ) { workspace in
            let fixture = StoreFixture<Value>(workspace: workspace, count: scale.rawValue)
            let synchronous: Synchronous = work == .recordPowerSafe ? .powerSafe : .crashSafe
            let (folder, copy) = (try fixture.folder(.vellum), try fixture.path(.vellum, "same"))
            let factory = ArchivesFactory(
                directory: folder,
                durability: work == .recordPowerSafe ? .powerSafe : .crashSafe
            )
            let store = try factory.store(
                for: Value.self,
                memoryLimit: 16.megaByte,
                diskLimit: .everything
            )
            let same = try SameSchema<Value>(copy, synchronous)
            let lean = try LeanTable<Value>(try fixture.path(.lean), synchronous)
            let peer = try Peer<Value>(try fixture.path(.grdb), synchronous)
            let files = hasFiles ? Files<Value>(try fixture.folder(.files)) : nil

            let stores = try libraries.map { try $0.open(fixture) }

            let fresh = Scatter.fresh()
            var value = Value.make(0)
            var turns = [
                Turn { try store.record(value) }, Turn { try same.record(value) },
                Turn { try lean.record(value) },
                Turn { try peer.record(value) },
            ]
            if let files { turns.append(Turn { try files.record(value) }.once(in: 25)) }
            for (library, store) in zip(libraries, stores) {
                let turn = Turn {
                    try store.record([(key: value.primaryKey, bytes: try value.archive())])
                }
                turns.append(turn.once(in: library.every(work)))
            }
            return Course(turns: turns) { round in
                value =
                    changed?(Scatter.place(round) % scale.rawValue, round)
                    ?? Value.make(fresh + round)
            } end: {
                try factory.close()
                same.close()
                lean.close()
                try peer.close()
                for store in stores { store.close() }
            }
        }
    }

    private static func durability(_ work: Work, _ libraries: [LibraryStore]) -> [String: String] {
        var durability = ["a file each": "synced file"]
        if Value.isLarge, work != .recordPowerSafe { durability["Vellum"] = "synced file" }
        for library in libraries { durability[library.name] = library.durability }
        return durability
    }
}
