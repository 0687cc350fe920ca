import Samples

/// What reliability costs: the sync that power safety waits for, the checkpoint behind a writer's back, and the
/// other process on the same file.
enum Reliability {
    static func measure(_ desk: Desk) throws {
        try desk.write(
            try SharedSync.measure(desk) + CheckpointPauses.measure(desk) + TwoWriters.measure(desk)
                + StoppedReader.measure(desk),
            named: "2 reliability")
    }
}
