import Foundation
import Samples
import Vellum

/// One record that is on disk when the call returns.
enum RecordComparison<Value: Subject> {
    /// - Parameter changed: The object of an index as a round of overwriting records it; `nil` if each round records a new object.
    static func make(
        _ work: Work, _ scale: Scale, rounds: Int = 2000, seconds: Double = 5,
        changed: ((_ index: Int, _ round: Int) -> Value)? = nil
    ) -> Comparison {
        let isMeasuredAgainstLimits = work == .recordNew || work == .recordOver
        let hasFiles = scale != .million
        return Comparison(
            work: work, subject: Value.title, scale: scale,
            sides: [
                ("Vellum", nil), ("same statements", isMeasuredAgainstLimits ? 1.2 : nil),
                ("leanest table", isMeasuredAgainstLimits ? 1.6 : nil), ("GRDB", nil),
            ] + (hasFiles ? [("a file each", nil)] : []),
            rounds: rounds, seconds: seconds
        ) { workspace in
            let fixture = StoreFixture<Value>(workspace: workspace, count: scale.rawValue)
            let synchronous: Synchronous = work == .recordPowerSafe ? .powerSafe : .crashSafe
            let (folder, copy) = (try fixture.folder(.vellum), try fixture.path(.vellum, "same"))
            let factory = ArchivesFactory(
                directory: folder, durability: work == .recordPowerSafe ? .powerSafe : .crashSafe)
            let store = try factory.store(for: Value.self, memoryLimit: 16.megaByte, diskLimit: .everything)
            let same = try SameSchema<Value>(copy, synchronous)
            let lean = try LeanTable<Value>(try fixture.path(.lean), synchronous)
            let peer = try Peer<Value>(try fixture.path(.grdb), synchronous)
            let files = hasFiles ? Files<Value>(try fixture.folder(.files)) : nil

            let fresh = Scatter.fresh()
            var value = Value.make(0)
            var turns = [
                Turn { try store.record(value) }, Turn { try same.record(value) }, Turn { try lean.record(value) },
                Turn { try peer.record(value) },
            ]
            if let files { turns.append(Turn { try files.record(value) }.once(in: 25)) }
            return Course(turns: turns) { round in
                value = changed?(Scatter.place(round) % scale.rawValue, round) ?? Value.make(fresh + round)
            } end: {
                try factory.close()
                same.close()
                lean.close()
                try peer.close()
            }
        }
    }
}
