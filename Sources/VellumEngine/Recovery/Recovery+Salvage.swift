internal import Foundation
internal import VellumCore

// Copies the readable entries of a damaged file.

extension Recovery {
    /// Copies every entry that can be read and matches its checksum from the damaged file `aside`
    /// into a new file at `path`.
    ///
    /// - Returns: How many entries were copied.
    static func salvage(
        _ aside: String,
        into path: String,
        _ kind: FileKind,
        at now: WallInstant
    ) throws -> Int {
        let target = try Connection(path: path)
        try Schema.prepare(target, kind)
        let writer = try Writer(target)
        var copy = try FileHeader.repairedCopy(of: aside, kind)
        defer { forget(copy) }
        guard let source = try openSource(aside, &copy) else { return 0 }
        CrashPoint.reached(.salvageBegins)
        var salvaged = 0
        prepareForSalvage(source)
        let members = try SalvagedMembers(of: source)
        for (archive, found) in try archives(in: source) {
            let added = try writer.archive(named: archive.name, withLimit: found.limit ?? .unknown)
            if let version = found.cacheVersion {
                _ = try writer.setVersion(version, of: added, mayReplace: true, at: now)
            }
            let rows = Archive(
                added,
                name: archive.name,
                limit: KnownLimit(entries: .max, isIgnored: true)
            )
            let entries = Salvage(
                source: source,
                archive: archive.number,
                checksum: rows.checksum,
                cleared: found.cleared
            )
            while let read = entries.next(512) {
                let found = read.compactMap { stored in
                    members.groups(of: stored.entry).map { (stored, $0) }
                }
                _ = try writer.transaction { transaction throws(SQLiteError) in
                    let edit = try transaction.edit(of: rows)
                    for (stored, groups) in found { try edit.salvage(stored, in: groups, at: now) }
                }
                CrashPoint.reached(.salvageBatchCommitted)
                salvaged += found.count
            }
        }
        // Closing would not report that there is no room for the rest of the log.
        try target.restartLog()
        CrashPoint.reached(.salvaged)
        return salvaged
    }

    /// Opens the file from which entries are read: the damaged one, or a copy whose header or
    /// schema was repaired. Reading a table could run code that a foreign schema contains.
    private static func openSource(_ aside: String, _ copy: inout String?) throws -> Connection? {
        if let check = try foreignSchema(of: copy ?? aside) {
            Log.warning(
                """
                The schema of a damaged archive file contains definitions that this package did \
                not write. None of them is run.
                """
            )
            let place = try copy ?? FileHeader.copy(of: aside)
            copy = place
            do throws(SQLiteError) {
                try SchemaRepair.run(place, check)
                guard try foreignSchema(of: place) == nil else { return nil }
            } catch {
                guard error.isDamage else { throw error }
                Log.error(
                    """
                    The schema of a damaged archive file could not be repaired, so its entries \
                    cannot be read.
                    """,
                    error
                )
                return nil
            }
        }
        return try openForReading(copy ?? aside)
    }

    /// Opens a damaged file as it is; `nil` if nothing can be read of it without a repair.
    static func openDamaged(
        _ path: String,
        access: FileAccess
    ) throws(SQLiteError) -> Connection? {
        guard try foreignSchema(of: path, access: access) == nil else { return nil }
        return try openForReading(path, access: access)
    }

    /// The schema of the file, if it contains anything that this package does not write; `nil` also
    /// if it cannot be read. The file is closed again.
    ///
    /// It is read with the settings of salvage: a definition that SQLite cannot parse must not hide
    /// one that salvage would run.
    private static func foreignSchema(
        of path: String,
        access: FileAccess = .writing
    ) throws(SQLiteError) -> SchemaCheck? {
        guard let source = try openForReading(path, access: access) else { return nil }
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
            try FilePaths.remove(copy)
        } catch {
            Log.warning("A copy of a damaged archive file could not be removed.")
        }
    }

    /// Opens the file with the settings of salvage; `nil` if nothing of it can be read.
    ///
    /// - Throws: ``SQLiteError`` if the cause is not the file: the process may have no descriptor
    ///   or no memory left.
    private static func openForReading(
        _ path: String,
        access: FileAccess = .writing
    ) throws(SQLiteError) -> Connection? {
        do throws(SQLiteError) {
            let connection = try Connection(path: path, access: access, isDefensive: false)
            try connection.execute(SQL.salvageSettings)
            do throws(SQLiteError) {
                _ = try connection.int(SQL.tableCount)
            } catch {
                guard error.isDamage else { throw error }
                // The tables that could be read are used.
                Log.error("The list of tables is damaged.", error)
            }
            return connection
        } catch {
            guard error.isDamage else { throw error }
            Log.error("Nothing can be read of a damaged archive file.", error)
            return nil
        }
    }

    /// Creates an empty table of touches where there is none: the statements that read entries use
    /// it, and must not fail for that.
    static func prepareForSalvage(_ source: Connection) {
        do throws(SQLiteError) {
            _ = try source.prepare(EntryTable.after(1))
        } catch {
            Log.error("The order of use of the entries cannot be read.", error)
            do throws(SQLiteError) {
                try source.execute(RecencyTables.createEmptyTouches)
            } catch {
                Log.error("The entries cannot be read.", error)
            }
        }
    }

    struct FoundArchive: Hashable {
        var number: Int64
        var name: String
    }

    typealias Description = (cacheVersion: String?, limit: StoredLimit?, cleared: Int64)

    /// The archives of the file, by each of three ways to list them. If they disagree, all are
    /// used: no entry matches its checksum under the name of another archive.
    static func archives(
        in source: Connection
    ) throws(SQLiteError) -> [(
        archive: FoundArchive, description: Description
    )] {
        var archives: [FoundArchive: Description] = [:]
        for sql in [ArchiveTable.listByName, ArchiveTable.listBackwards, ArchiveTable.list] {
            do throws(SQLiteError) {
                let list = try source.prepare(sql)
                while try list.step() {
                    let listed = ArchiveTable.Listed(list)
                    guard let name = listed.name, 1...EntryID.lastArchive ~= listed.id else {
                        continue
                    }
                    let archive = FoundArchive(number: listed.id, name: name)
                    var description = archives[archive] ?? (nil, nil, 0)
                    description.cacheVersion = listed.cacheVersion ?? description.cacheVersion
                    if 0..<Int64(1) << EntryID.bits ~= listed.cleared {
                        description.cleared = max(description.cleared, listed.cleared)
                    }
                    if listed.limit.isPossible { description.limit = listed.limit }
                    archives[archive] = description
                }
            } catch {
                guard error.isDamage else { throw error }
                Log.error("The list of archives is damaged.", error)
            }
        }
        return archives.sorted {
            $0.key.number < $1.key.number
        }.map { ($0.key, $0.value) }
    }
}
