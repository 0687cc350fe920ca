internal import Foundation
package import VellumCore

// Replaces a damaged file in steps, each of which a killed process may leave to the next opening.

extension Recovery {
    /// Replaces a damaged file by a new one with every entry that can be read (decision 28).
    ///
    /// - Returns: The events to report.
    static func repair(_ path: String, _ kind: FileKind, at now: WallInstant) throws -> [StoreEvent]
    {
        let replacement = Replacement(of: path)
        markDamaged(path)
        // From here on no process writes to it.
        try ChangesFile.retire(besides: path)
        CrashPoint.reached(.damagedFileRetired)
        try replacement.begin()
        _ = try salvage(path, into: replacement.partial, kind, at: now)
        let aside = freeName(path, "damaged", now)
        try FileSystem.write(aside, to: path + markSuffix)
        CrashPoint.reached(.asidePathRecorded)
        try replacement.finish()
        return try putInPlace(replacement, aside, isResumed: false, at: now)
    }

    /// Finishes the repair that a killed process began.
    ///
    /// - Returns: The events to report; `nil` if there was nothing to finish.
    package static func resume(
        _ path: String,
        _ kind: FileKind,
        at now: WallInstant
    ) throws -> [StoreEvent]? {
        let replacement = Replacement(of: path)
        guard replacement.isWaiting else { return nil }
        guard try isIntact(replacement.complete, kind) else {
            Log.warning(
                """
                The replacement of a damaged file is damaged itself. The entries that can be read \
                are salvaged again.
                """
            )
            if FileSystem.size(path) > 0 || FileSystem.size(replacement.complete) <= 1 {
                // The file from which it was made is still there.
                try replacement.discard()
            } else {
                try FileSystem.remove(path)
                try replacement.moveToPlace()
                markDamaged(path)
            }
            return nil
        }
        let name = FileSystem.text(path + markSuffix)
        return try putInPlace(
            replacement,
            name.hasPrefix(path + ".damaged-") ? name : nil,
            isResumed: true,
            at: now
        )
    }

    /// Whether the file can be opened as an archive file.
    private static func isIntact(_ path: String, _ kind: FileKind) throws -> Bool {
        guard FileSystem.size(path) > 1 else { return false }
        do {
            _ = try Schema.connect(path, kind)
            return true
        } catch let error as SQLiteError where error.isDamage {
            return false
        }
    }

    private static func putInPlace(
        _ replacement: Replacement,
        _ aside: String?,
        isResumed: Bool,
        at now: WallInstant
    ) throws -> [StoreEvent] {
        let path = replacement.path
        let aside = try setAside(path, at: now, to: aside, isResumed: isResumed)
        Log.warning(
            """
            A damaged archive file was moved to \(aside); the entries that can be read are copied \
            into a new one.
            """
        )
        CrashPoint.reached(.damagedFileAside)
        let salvaged = try Connection(path: replacement.complete).int(EntryTable.count)?.int ?? 0
        try replacement.moveToPlace()
        return [.setAside(to: URL(fileURLWithPath: aside), salvaged: Int(salvaged))]
    }
}

/// A file that is written beside another and replaces it once it is complete.
///
/// It is written under one name and renamed when it is complete; then the old file is moved aside,
/// and the new one to its place. A process that is killed in between leaves either the old file in
/// its place, and the next opening begins again, or a complete file, which the next opening moves
/// to its place.
package struct Replacement {
    let path: String
    /// Its path while it is written.
    let partial: String
    /// Its path once it is complete.
    let complete: String

    package init(of path: String) {
        partial = path + ".salvaging"
        complete = path + ".salvaged"
        self.path = path
    }

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
        try complete(by: partial)
    }

    /// Takes a complete file that was written elsewhere in the folder, and is closed.
    package func take(_ whole: String) throws {
        try discard()
        try complete(by: whole)
    }

    private func complete(by whole: String) throws {
        try FileSystem.move(whole, to: complete)
        CrashPoint.reached(.replacementCompleted)
        try FileSystem.syncFolder(of: path)
    }

    /// Moves the complete file to its place. The old file must have been moved aside.
    package func moveToPlace() throws {
        // Another process may have been faster.
        guard try FileSystem.moveIfPresent(complete, to: path) else { return }
        CrashPoint.reached(.replacementInPlace)
        try FileSystem.syncFolder(of: path)
    }
}
