internal import Foundation
internal import VellumCore

/// A file that is written beside another and replaces it once it is complete.
///
/// It is written under one name and renamed when it is complete; then the old file is moved aside, and the new one to its place. A process
/// that is killed in between leaves either the old file in its place, and the next opening begins again, or a complete file, which the next
/// opening moves to its place.
struct Replacement {
    let path: String
    /// Its path while it is written.
    let partial: String
    /// Its path once it is complete.
    let complete: String

    init(of path: String) { (self.path, partial, complete) = (path, path + ".salvaging", path + ".salvaged") }

    /// Whether there is a complete file that is not in its place yet.
    var isWaiting: Bool { FileIdentity(path: complete) != nil }

    /// Removes the files that a killed process left, and creates an empty one.
    func begin() throws {
        try discard()
        _ = try FileSystem.createIfMissing(partial)
        CrashPoint.reached(.replacementBegins)
    }

    /// Removes both files.
    func discard() throws {
        for name in [partial, complete] { try FilePaths.remove(name) }
    }

    /// Marks the file as complete.
    func finish() throws {
        guard FileSystem.size(partial + "-wal") == 0 else { throw POSIXError(.EIO) }
        try FileSystem.move(partial, to: complete)
        CrashPoint.reached(.replacementCompleted)
        try FileSystem.syncFolder(of: path)
    }

    /// Moves the complete file to its place. The old file must have been moved aside.
    func moveToPlace() throws {
        // Another process may have been faster.
        guard try FileSystem.moveIfPresent(complete, to: path) else { return }
        CrashPoint.reached(.replacementInPlace)
        try FileSystem.syncFolder(of: path)
    }
}
