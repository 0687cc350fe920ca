internal import Foundation
internal import VellumCore

/// What happens to a file that cannot be read as it should.
enum Recovery {
    /// Beside a file in which damage was found lies a file of this name. It says where the damaged file is to go, once that is known.
    private static let markSuffix = "-damaged"

    /// What an error that looks like damage is: that of a device that fails to read, or damage, which is written down.
    static func classify(_ error: SQLiteError, of path: String) -> SQLiteError {
        guard error.isDamage, !isMarkedDamaged(path) else { return error }
        if let failure = readFailure(of: path) { return failure }
        markDamaged(path)
        return error
    }

    /// The failure of a device on which the file cannot be read from end to end.
    static func readFailure(of path: String) -> SQLiteError? {
        do throws(SQLiteError) {
            return try Connection(path: path).readFailure()
        } catch {
            return error.isDamage ? nil : error
        }
    }

    /// Whether the file is sound after all: what looked like damage may have been a device that failed for a moment. Then what was
    /// written down of it is taken back.
    ///
    /// - Throws: ``SQLiteError`` if the device fails to read; then nothing is known of the file.
    static func isSoundAfterAll(_ path: String, _ kind: FileKind) throws -> Bool {
        guard !isLogWithoutDatabase(path) else { return false }
        if let failure = readFailure(of: path) { throw failure }
        do {
            let connection = try DatabaseFile.connect(path, kind)
            try connection.execute(SQL.begin)  // Others may write meanwhile.
            let report = try DatabaseFile.report(reading: connection)
            guard !report.mustBeMadeAnew else { return false }
        } catch let error as SQLiteError where error.isDamage {
            return false
        } catch let error as StoreError where error.code == .foreignFile {
            return false
        }
        try FileSystem.remove(path + markSuffix)
        return true
    }

    /// Writes down that damage was found while the file was open: the next opening looks, and salvages what can be read.
    static func markDamaged(_ path: String) {
        do {
            _ = try FileSystem.createIfMissing(path + markSuffix)
            CrashPoint.reached(.damageMarked)
        } catch {
            Log.warning("Damage of an archive file could not be written down; the next opening will not know of it.")
        }
    }

    static func isMarkedDamaged(_ path: String) -> Bool { FileIdentity(path: path + markSuffix) != nil }

    /// What lies beside a database and goes where it goes, in this order, which ends on what says that there was damage: a crash in
    /// between leaves a database whose log is gone, never a log without its database.
    private static let parts = ["-wal", "-shm", "-journal", ChangesFile.suffix, "", markSuffix]

    /// Whether a file that SQLite does not take for a database may be what is left of one of ours: by its header, by a log beside it, or by
    /// the definition of a table of ours anywhere in it.
    static func mayHoldEntries(_ path: String, _ kind: FileKind) throws -> Bool {
        if try FileSystem.size(path + "-wal") > 0 || FileHeader.isOurs(path, kind) { return true }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        return bytes.range(of: Data(SQL.beginningOfArchivesTable.utf8)) != nil
    }

    /// Whether there is a log of a database that is gone. SQLite would remove it.
    static func isLogWithoutDatabase(_ path: String) -> Bool {
        FileSystem.size(path) < FileHeader.size && FileSystem.size(path + "-wal") > 0
    }

    /// Moves the file and its side files to a new name, and returns that. A log that stayed behind would be replayed over
    /// the new file. Everyone who has it open is told.
    ///
    /// - Parameters:
    ///   - kind: What it is, for the new name.
    ///   - aside: The new name, where it was chosen before.
    ///   - isResumed: Whether a killed process may have begun with it.
    static func setAside(_ path: String, at now: WallInstant, as kind: String = "damaged", to aside: String? = nil, isResumed: Bool = false)
        throws -> String
    {
        let aside = aside ?? freeName(path, kind, now)
        try ChangesFile.retire(besides: path)
        for suffix in parts where FileIdentity(path: path + suffix) != nil {
            // Where a killed process had begun, what it moved is there already, and an empty file may have been made in its place.
            guard FileIdentity(path: aside + suffix) == nil, !suffix.isEmpty || !isResumed || FileSystem.size(path) > 0 else { continue }
            if suffix.isEmpty {
                try FileSystem.move(path, to: aside)
            } else {
                // SQLite may have removed it when another process closed the file.
                guard try FileSystem.moveIfPresent(path + suffix, to: aside + suffix) else { continue }
            }
            CrashPoint.reached(.damagedFileMoved)
        }
        return aside
    }

    private static func freeName(_ path: String, _ kind: String, _ now: WallInstant) -> String {
        let stem = "\(path).\(kind)-\(now.rawValue)"
        var (name, attempt) = (stem, 1)
        while parts.contains(where: { FileIdentity(path: name + $0) != nil }) {
            attempt += 1
            name = "\(stem)-\(attempt)"
        }
        return name
    }

    // MARK: Mending

    /// Puts a new file, with everything that can be read of the damaged one, in the place of that.
    ///
    /// - Returns: What there is to tell.
    static func repair(_ path: String, _ kind: FileKind, at now: WallInstant) throws -> [StoreEvent] {
        let replacement = replacement(of: path)
        markDamaged(path)
        // From here on nobody writes to it any more.
        try ChangesFile.retire(besides: path)
        CrashPoint.reached(.damagedFileRetired)
        try replacement.begin()
        _ = try salvage(path, into: replacement.partial, kind, at: now)
        let aside = freeName(path, "damaged", now)
        try FileSystem.write(aside, to: path + markSuffix)
        CrashPoint.reached(.asideNamed)
        try replacement.finish()
        return try putInPlace(replacement, aside, isResumed: false, at: now)
    }

    /// Finishes what a killed process began.
    ///
    /// - Returns: What there is to tell; `nil` if there was nothing to finish.
    static func resume(_ path: String, _ kind: FileKind, at now: WallInstant) throws -> [StoreEvent]? {
        let replacement = replacement(of: path)
        guard replacement.isWaiting else { return nil }
        guard try isIntact(replacement.complete, kind) else {
            Log.warning("A file that was to take the place of a damaged one is damaged itself. What can be read is taken over once more.")
            if FileSystem.size(path) > 0 || FileSystem.size(replacement.complete) <= 1 {
                // The file that it was made of is still there.
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

    /// Whether a file can be opened as one of ours.
    private static func isIntact(_ path: String, _ kind: FileKind) throws -> Bool {
        guard FileSystem.size(path) > 1 else { return false }
        do {
            _ = try DatabaseFile.connect(path, kind)
            return true
        } catch let error as SQLiteError where error.isDamage {
            return false
        }
    }

    private static func replacement(of path: String) -> Replacement { Replacement(of: path, making: ".salvaging", made: ".salvaged") }

    private static func putInPlace(_ replacement: Replacement, _ aside: String?, isResumed: Bool, at now: WallInstant) throws
        -> [StoreEvent]
    {
        let path = replacement.path
        let aside = try setAside(path, at: now, to: aside, isResumed: isResumed)
        Log.warning("A damaged archive file was moved to \(aside); what can be read of it is taken over into a new one.")
        CrashPoint.reached(.damagedFileAside)
        let salvaged = try Connection(path: replacement.complete).int(SQL.entryCount) ?? 0
        try replacement.moveToPlace()
        return [.setAside(to: URL(fileURLWithPath: aside), salvaged: Int(salvaged))]
    }

    /// Takes over every entry that can still be read and matches its checksum.
    ///
    /// - Returns: How many.
    static func salvage(_ aside: String, into path: String, _ kind: FileKind, at now: WallInstant) throws -> Int {
        let target = try Connection(path: path)
        try Schema.prepare(target, kind)
        let writer = try WriteConnection(target)
        var copy = try FileHeader.mendedCopy(of: aside, kind)
        defer { forget(copy) }
        guard let source = try openSource(aside, &copy) else { return 0 }
        CrashPoint.reached(.salvageBegins)
        var salvaged = 0
        for (archive, found) in try archives(in: source) {
            let number = try writer.archiveNumber(named: archive.name, withLimit: found.limit ?? .unknown)
            let rows = ArchiveWriter(id: number, name: archive.name, connection: target)
            rows.isUnlimited = true
            rows.versionGroup = found.versionGroup
            try writer.transaction { () throws(SQLiteError) in try rows.writeHeartbeat(at: now) }
            writer.add(rows)
            prepareForSalvage(archive.number, source)
            let entries = Salvage(source: source, archive: archive.number, checksum: rows.checksum)
            while let found = entries.next(512) {
                try writer.transaction { () throws(SQLiteError) in
                    try rows.load()
                    for (key, entry) in found { try rows.salvage(entry, key, at: now) }
                }
                CrashPoint.reached(.salvageBatchCommitted)
                salvaged += found.count
            }
        }
        // Closing would not tell if there is no room to copy it.
        try target.restartLog()
        CrashPoint.reached(.salvaged)
        return salvaged
    }

    /// The file that entries are read from: the damaged one, or a copy whose header or schema was repaired. A schema that is not ours could
    /// make a reader of a table run what stands there.
    private static func openSource(_ aside: String, _ copy: inout String?) throws -> Connection? {
        if let check = try foreignSchema(of: copy ?? aside) {
            Log.warning("The schema of a damaged archive file holds what this package did not write. None of it is run.")
            let place = try copy ?? FileHeader.copy(of: aside)
            copy = place
            try SchemaRepair.run(place, check)
        }
        return try openForReading(copy ?? aside)
    }

    /// The schema of the file, if it holds anything that is not ours; `nil` also if it cannot be read. The file is closed again.
    ///
    /// Read as salvage reads it: a definition that SQLite cannot parse must not hide one that salvage would run.
    private static func foreignSchema(of path: String) throws(SQLiteError) -> SchemaCheck? {
        guard let source = try openForReading(path) else { return nil }
        do throws(SQLiteError) {
            let check = try SchemaCheck(source)
            return check.items.allSatisfy(check.isOurs) ? nil : check
        } catch {
            guard error.isDamage else { throw error }
            return nil
        }
    }

    private static func forget(_ copy: String?) {
        guard let copy else { return }
        do {
            try FileHeader.removeCopy(copy)
        } catch {
            Log.warning("A copy of a damaged archive file could not be removed.")
        }
    }

    /// - Throws: ``SQLiteError`` if it is not the file that cannot be read: the process may have no descriptor or no memory left.
    private static func openForReading(_ path: String) throws(SQLiteError) -> Connection? {
        do throws(SQLiteError) {
            let connection = try Connection(path: path, isDefensive: false)
            try connection.execute(SQL.salvageSettings)
            do throws(SQLiteError) {
                _ = try connection.int(SQL.tableCount)
            } catch {
                guard error.isDamage else { throw error }
                Log.error("The list of tables is damaged.", error)  // From now on what could be read of it counts.
            }
            return connection
        } catch {
            guard error.isDamage else { throw error }
            Log.error("Nothing can be read of a damaged archive file.", error)
            return nil
        }
    }

    /// Entries are read together with their last uses: where there are none left, that must not hide them.
    private static func prepareForSalvage(_ number: Int64, _ source: Connection) {
        do throws(SQLiteError) {
            _ = try source.prepare(SQL.entriesAfter(number))
        } catch {
            Log.error("The order of use of an archive cannot be read.", error)
            do throws(SQLiteError) {
                try source.execute(SQL.createNoTouches(number))
            } catch {
                Log.error("The entries of an archive cannot be read.", error)
            }
        }
    }

    private struct Archive: Hashable {
        var number: Int64
        var name: String
    }

    /// What else the list of archives says of one.
    private struct Description {
        var versionGroup: String?
        var limit: StoredLimit?
    }

    /// The archives of the file, by whatever way can be read. Ways that disagree are all tried: no entry matches its checksum under the
    /// name of another archive.
    private static func archives(in source: Connection) throws(SQLiteError) -> [(archive: Archive, description: Description)] {
        var archives: [Archive: Description] = [:]
        for sql in [SQL.listArchivesByName, SQL.listArchivesBackwards, SQL.listArchives] {
            do throws(SQLiteError) {
                let list = try source.prepare(sql)
                while try list.step() {
                    guard let name = list.text(1), list.int(0) > 0 else { continue }
                    let limit = StoredLimit(bytes: list.int(3), isGiven: list.int(4))
                    var description = archives[Archive(number: list.int(0), name: name)] ?? Description()
                    description.versionGroup = list.text(2) ?? description.versionGroup
                    if limit.isPossible { description.limit = limit }
                    archives[Archive(number: list.int(0), name: name)] = description
                }
            } catch {
                guard error.isDamage else { throw error }
                Log.error("The list of archives is damaged.", error)
            }
        }
        return archives.sorted { $0.key.number < $1.key.number }.map { ($0.key, $0.value) }
    }
}
