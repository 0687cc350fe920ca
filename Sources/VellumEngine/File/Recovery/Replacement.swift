internal import Foundation
internal import VellumCore

/// A file that is made beside another and takes its place once it is complete.
///
/// It is made under one name, and gets a second one when it is complete; then the old file is moved aside, and the new one to its place.
/// Whoever is killed in between leaves either the old file where it was, and the next opening begins anew, or a complete file, which the
/// next opening moves to its place.
struct Replacement {
    let path: String
    /// Where it is made.
    let partial: String
    /// Where it lies once it is complete.
    let complete: String

    init(of path: String, making: String, made: String) {
        self.path = path
        partial = path + making
        complete = path + made
    }

    /// Whether there is a complete one that is not in its place yet.
    var isWaiting: Bool { FileIdentity(path: complete) != nil }

    /// Removes what a killed process left, and makes an empty file.
    func begin() throws {
        try discard()
        _ = try FileSystem.createIfMissing(partial)
        CrashPoint.reached(.replacementBegins)
    }

    /// Removes what was made.
    func discard() throws {
        for name in [partial, complete] {
            for suffix in ["", "-wal", "-shm"] where FileIdentity(path: name + suffix) != nil {
                try FileManager.default.removeItem(atPath: name + suffix)
            }
        }
    }

    /// Nothing is missing any more.
    func finish() throws {
        guard FileSystem.size(partial + "-wal") == 0 else { throw POSIXError(.EIO) }
        try FileSystem.move(partial, to: complete)
        CrashPoint.reached(.replacementCompleted)
        try FileSystem.syncFolder(of: path)
    }

    /// Moves the complete file to its place, where there must be none any more.
    func moveToPlace() throws {
        // Another process may have been faster.
        guard try FileSystem.moveIfPresent(complete, to: path) else { return }
        CrashPoint.reached(.replacementInPlace)
        try FileSystem.syncFolder(of: path)
    }
}
