internal import Foundation
internal import VellumCore

// Replaces a damaged file in steps, each of which a killed process may leave to the next opening.

extension Recovery {
    /// Replaces a damaged file by a new one with every entry that can be read (decision 28).
    ///
    /// - Returns: The events to report.
    static func repair(_ path: String, _ kind: FileKind, at now: WallInstant) throws -> [StoreEvent] {
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
    static func resume(_ path: String, _ kind: FileKind, at now: WallInstant) throws -> [StoreEvent]? {
        let replacement = Replacement(of: path)
        guard replacement.isWaiting else { return nil }
        guard try isIntact(replacement.complete, kind) else {
            Log.warning("The replacement of a damaged file is damaged itself. The entries that can be read are salvaged again.")
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
        return try putInPlace(replacement, name.hasPrefix(path + ".damaged-") ? name : nil, isResumed: true, at: now)
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

    private static func putInPlace(_ replacement: Replacement, _ aside: String?, isResumed: Bool, at now: WallInstant) throws
        -> [StoreEvent]
    {
        let path = replacement.path
        let aside = try setAside(path, at: now, to: aside, isResumed: isResumed)
        Log.warning("A damaged archive file was moved to \(aside); the entries that can be read are copied into a new one.")
        CrashPoint.reached(.damagedFileAside)
        let salvaged = try Connection(path: replacement.complete).int(EntryTable.count)?.int ?? 0
        try replacement.moveToPlace()
        return [.setAside(to: URL(fileURLWithPath: aside), salvaged: Int(salvaged))]
    }
}
