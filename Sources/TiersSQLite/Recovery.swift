internal import Foundation
internal import Tiers

/// What happens to a file that cannot be read as it should.
enum Recovery {
    /// Beside a file in which damage was found lies an empty file of this name.
    private static func mark(_ path: String) -> String { path + "-damaged" }

    /// Writes down that damage was found while the file was open: the next opening salvages what can be read.
    static func markDamaged(_ path: String) {
        do {
            _ = try FileSystem.createIfMissing(mark(path))
        } catch {
            Log.warning("Damage of an archive file could not be written down; the next opening will not know of it.")
        }
    }

    static func isMarkedDamaged(_ path: String) -> Bool { FileIdentity(path: mark(path)) != nil }

    /// Whether there is a log of a database that is gone. SQLite would remove it.
    static func isLogWithoutDatabase(_ path: String) -> Bool {
        FileSystem.size(path) < FileHeader.size && FileSystem.size(path + "-wal") > 0
    }

    /// Moves the file and its side files to a new name, and returns that. A log that stayed behind would be replayed over
    /// the new file.
    ///
    /// - Parameter kind: What it is, for the new name.
    static func setAside(_ path: String, at now: WallInstant, as kind: String = "damaged") throws -> String {
        let stem = "\(path).\(kind)-\(now.rawValue)"
        var aside = stem
        var attempt = 1
        while FileIdentity(path: aside) != nil {
            attempt += 1
            aside = "\(stem)-\(attempt)"
        }
        // The side files first: a crash in between leaves a database whose log is gone, never a log without its database.
        for suffix in ["-wal", "-shm", "-journal", "", "-damaged"] where FileIdentity(path: path + suffix) != nil {
            try FileSystem.move(path + suffix, to: aside + suffix)
        }
        if kind == "damaged" {
            Log.warning("A damaged archive file was set aside; what can be read of it is taken over into a new one.")
        }
        return aside
    }

    /// Takes over every entry that can still be read and matches its checksum.
    ///
    /// - Returns: How many.
    static func salvage(_ aside: String, into path: String, at now: WallInstant) throws -> Int {
        let target = try Connection(path: path)
        try Schema.prepare(target)
        let writer = try Writer(target)
        let mended = try FileHeader.mendedCopy(of: aside)
        defer { forget(mended) }
        guard let source = openForReading(mended ?? aside) else { return 0 }
        var salvaged = 0
        for (archive, family) in archives(in: source) {
            let number = try writer.archiveNumber(named: archive.name)
            let rows = ArchiveWriter(id: number, name: archive.name, capacity: .unlimited, connection: target)
            rows.family = family
            try writer.transaction { () throws(SQLiteError) in try rows.writePresence(at: now) }
            writer.add(rows)
            prepareForSalvage(archive.number, source)
            let entries = Salvage(source: source, archive: archive.number, checksum: rows.checksum)
            while let found = entries.next(512) {
                try writer.transaction { () throws(SQLiteError) in
                    try rows.load()
                    for (key, entry) in found { try rows.salvage(entry, key, at: now) }
                }
                salvaged += found.count
            }
        }
        return salvaged
    }

    private static func forget(_ copy: String?) {
        guard let copy else { return }
        do {
            try FileHeader.removeCopy(copy)
        } catch {
            Log.warning("A copy of a damaged archive file could not be removed.")
        }
    }

    private static func openForReading(_ path: String) -> Connection? {
        do {
            let connection = try Connection(path: path)
            // Of an older format it lacks columns that are read.
            try Schema.prepare(connection)
        } catch {
            Log.warning("A damaged archive file could not be brought to today's format; what can be read of it as it is is taken over.")
        }
        do throws(SQLiteError) {
            let connection = try Connection(path: path)
            try connection.execute(SQL.salvageSettings)
            do throws(SQLiteError) {
                _ = try connection.int(SQL.tableCount)
            } catch {
                Log.error("The list of tables is damaged.", error)  // From now on what could be read of it counts.
            }
            return connection
        } catch {
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
                try source.execute(SQL.createNoUses(number))
            } catch {
                Log.error("The entries of an archive cannot be read.", error)
            }
        }
    }

    private struct Archive: Hashable {
        var number: Int64
        var name: String
    }

    /// The archives of the file and their families, by whatever way can be read. Ways that disagree are all tried: no entry matches
    /// its checksum under the name of another archive.
    private static func archives(in source: Connection) -> [(archive: Archive, family: String?)] {
        var archives: [Archive: String?] = [:]
        for sql in [SQL.listArchivesByName, SQL.listArchivesBackwards, SQL.listArchives] {
            do throws(SQLiteError) {
                let list = try source.prepare(sql)
                while try list.step() {
                    guard let name = list.text(1), list.int(0) > 0 else { continue }
                    let archive = Archive(number: list.int(0), name: name)
                    archives[archive] = .some(list.text(2) ?? archives[archive] ?? nil)
                }
            } catch {
                Log.error("The list of archives is damaged.", error)
            }
        }
        return archives.sorted { $0.key.number < $1.key.number }.map { ($0.key, $0.value) }
    }
}
