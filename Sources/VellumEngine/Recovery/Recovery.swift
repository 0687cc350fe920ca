internal import Foundation
package import VellumCore

/// Recovers from a damaged file: `+Repair` replaces it, `+Salvage` copies its entries (decision
/// 10).
package enum Recovery {
    /// The suffix of the file that marks another as damaged. It holds the name to which the damaged
    /// file is moved, once that is chosen.
    static let markSuffix = "-damaged"

    /// Returns the device's error if an error that looks like damage comes from a failing device;
    /// otherwise marks the file as damaged.
    static func classify(_ error: SQLiteError, of path: String) -> SQLiteError {
        guard error.isDamage, !isMarkedDamaged(path) else { return error }
        if let failure = readFailure(of: path) { return failure }
        markDamaged(path)
        return error
    }

    /// The error of a device that fails to read some part of the file.
    static func readFailure(of path: String) -> SQLiteError? {
        do throws(SQLiteError) {
            return try Connection(path: path).readFailure()
        } catch {
            return error.isDamage ? nil : error
        }
    }

    /// Whether a file that is marked as damaged is intact: the device may have failed for a moment.
    /// If it is intact, the mark is removed.
    ///
    /// - Throws: ``SQLiteError`` if the device fails to read, so that the state of the file is
    ///   unknown.
    static func isSoundAfterAll(_ path: String, _ kind: FileKind) throws -> Bool {
        guard !isLogWithoutDatabase(path) else { return false }
        if let failure = readFailure(of: path) { throw failure }
        do {
            let connection = try Schema.connect(path, kind)
            try connection.execute(SQL.begin)  // Others may write meanwhile.
            let report = try VerificationReport(reading: connection)
            guard !report.needsSalvage else { return false }
        } catch let error as SQLiteError where error.isDamage {
            return false
        } catch let error as VellumError where error.code == .foreignFile {
            return false
        }
        try FileSystem.remove(path + markSuffix)
        return true
    }

    /// Marks the file as damaged, so that the next opening verifies it and salvages what can be
    /// read.
    static func markDamaged(_ path: String) {
        do {
            _ = try FileSystem.createIfMissing(path + markSuffix)
            CrashPoint.reached(.damageMarked)
        } catch {
            Log.warning(
                """
                An archive file could not be marked as damaged; the next opening will not know of \
                it.
                """
            )
        }
    }

    static func isMarkedDamaged(_ path: String) -> Bool {
        FileIdentity(path: path + markSuffix) != nil
    }

    /// The suffixes of the files that move together, in this order, which ends with the mark of
    /// damage: a crash in between leaves a database without its log, never a log without its
    /// database.
    private static let parts = ["-wal", "-shm", "-journal", ChangesFile.suffix, "", markSuffix]

    /// Whether a file that SQLite does not recognize may be what is left of an archive file: by its
    /// header, by a log beside it, or by the definition of the table `archives` anywhere in it.
    static func mayHoldEntries(_ path: String, _ kind: FileKind) throws -> Bool {
        if try FileSystem.size(path + "-wal") > 0 || FileHeader.isOurs(path, kind) { return true }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        return bytes.range(of: Data(ArchiveTable.beginningOfCreate.utf8)) != nil
    }

    /// Whether there is a log without a database. SQLite would delete it.
    static func isLogWithoutDatabase(_ path: String) -> Bool {
        FileSystem.size(path) < FileHeader.size && FileSystem.size(path + "-wal") > 0
    }

    /// Moves the file and its side files to a new name, and returns that. A log that stayed behind
    /// would be replayed over the new file. Processes that have the file open are notified.
    ///
    /// - Parameters:
    ///   - kind: A word for the new name.
    ///   - aside: The new name, if it was chosen before.
    ///   - isResumed: Whether a killed process may have begun to move the files.
    package static func setAside(
        _ path: String,
        at now: WallInstant,
        as kind: String = "damaged",
        to aside: String? = nil,
        isResumed: Bool = false
    ) throws -> String {
        let aside = aside ?? freeName(path, kind, now)
        try ChangesFile.retire(besides: path)
        for suffix in parts where FileIdentity(path: path + suffix) != nil {
            // A killed process may have moved this file already, and an empty one may have been
            // created in its place.
            guard FileIdentity(path: aside + suffix) == nil,
                !suffix.isEmpty || !isResumed || FileSystem.size(path) > 0
            else { continue }
            if suffix.isEmpty {
                try FileSystem.move(path, to: aside)
            } else {
                // SQLite may have removed it when another process closed the file.
                guard try FileSystem.moveIfPresent(path + suffix, to: aside + suffix) else {
                    continue
                }
            }
            CrashPoint.reached(.damagedFileMoved)
        }
        return aside
    }

    static func freeName(_ path: String, _ kind: String, _ now: WallInstant) -> String {
        let stem = "\(path).\(kind)-\(now.rawValue)"
        var name = stem
        var attempt = 1
        while parts.contains(where: { FileIdentity(path: name + $0) != nil }) {
            attempt += 1
            name = "\(stem)-\(attempt)"
        }
        return name
    }
}
