import Samples

/// The cost of reliability: the sync of power-safe writes, checkpoints in the background, and the
/// another process on the same file.
enum Reliability {
    static func measure(_ workspace: Workspace) throws {
        try workspace.write(
            try SharedSync.measure(workspace) + CheckpointPauses.measure(workspace)
                + TwoWriters.measure(workspace)
                + StoppedReader.measure(workspace),
            named: "2 reliability"
        )
    }
}
