import CRawSQLite
import Dispatch
import Foundation
import Samples

/// Empties the log of a raw database on another thread, by the same rule as Vellum, so that no side
/// pays for a checkpoint that the other one does not pay for: after 512 pages as much as possible,
/// then the rest while the writer waits.
final class LogKeeper: @unchecked Sendable {
    // Unchecked because the frames are written and read inside the lock of the writer,
    // `checkpointer` is used on `queue` alone, and `isDue` is protected by a lock of its own.
    private let frames: UnsafeMutablePointer<Int32>
    private let checkpointer: RawDatabase
    private let queue = DispatchQueue(label: "vellum.benchmarks.checkpoints", qos: .utility)
    private let isDue = LockedBox(false)
    private let withWriter: (() throws -> Void) throws -> Void
    private let writer: OpaquePointer

    /// - Parameter withWriter: Runs a closure while no one else uses the writing connection.
    init(
        _ path: String,
        writer: RawDatabase,
        _ synchronous: Synchronous,
        withWriter: @escaping (() throws -> Void) throws -> Void
    ) throws {
        frames = .allocate(capacity: 1)
        frames.initialize(to: 0)
        checkpointer = try RawDatabase(path, RawDatabase.writing(synchronous))
        self.withWriter = withWriter
        self.writer = writer.handle
        sqlite3_wal_hook(
            writer.handle,
            { context, _, _, frames in
                context?.assumingMemoryBound(to: Int32.self).pointee = frames
                return SQLITE_OK
            },
            frames
        )
    }

    deinit { frames.deallocate() }

    /// To be called after a commit, inside the lock of the writer.
    var isLong: Bool { frames.pointee >= 512 }

    /// To be called after a commit that left a long log, outside of the lock.
    func schedule() {
        let wasDue = isDue.withLock { due in
            defer { due = true }
            return due
        }
        guard !wasDue else { return }
        queue.async { [self] in
            isDue.withLock { $0 = false }
            var logged: Int32 = 0
            sqlite3_wal_checkpoint_v2(
                checkpointer.handle,
                "main",
                SQLITE_CHECKPOINT_PASSIVE,
                &logged,
                nil
            )
            guard logged >= 512 else { return }
            try? withWriter {
                sqlite3_wal_checkpoint_v2(writer, "main", SQLITE_CHECKPOINT_RESTART, nil, nil)
            }
        }
    }

    /// Waits until no work is running.
    func finish() { queue.sync {} }
}
