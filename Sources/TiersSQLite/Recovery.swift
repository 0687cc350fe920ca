internal import Foundation
internal import Tiers

/// What happens to a file that cannot be read as it should.
enum Recovery {
    /// Beside a file in which damage was found lies an empty file of this name.
    private static func mark(_ path: String) -> String { path + "-damaged" }

    /// What an error that looks like damage is: that of a device that fails to read, or damage, which is written down.
    static func judge(_ error: SQLiteError, of path: String) -> SQLiteError {
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
    static func isSoundAfterAll(_ path: String) throws -> Bool {
        if let failure = readFailure(of: path) { throw failure }
        do {
            let connection = try Connection(path: path)
            try Schema.prepare(connection)
            try connection.execute(SQL.begin)  // Others may write meanwhile.
            let report = try SQLiteFile.report(reading: connection)
            guard report.structuralProblems.isEmpty, report.archives.allSatisfy({ $0.hasRightTotals && $0.hasRightIndex }) else {
                return false
            }
        } catch let error as SQLiteError where error.isDamage {
            return false
        } catch let error as StoreError where error.code == .foreignFile {
            return false
        }
        try FileSystem.remove(mark(path))
        return true
    }

    /// Writes down that damage was found while the file was open: the next opening looks, and salvages what can be read.
    static func markDamaged(_ path: String) {
        do {
            _ = try FileSystem.createIfMissing(mark(path))
        } catch {
            Log.warning("Damage of an archive file could not be written down; the next opening will not know of it.")
        }
    }

    static func isMarkedDamaged(_ path: String) -> Bool { FileIdentity(path: mark(path)) != nil }

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
        guard let source = openForReading(aside) else { return 0 }
        var salvaged = 0
        for archive in archives(in: source) {
            let number = try writer.archiveNumber(named: archive.name)
            let rows = ArchiveWriter(id: number, name: archive.name, capacity: .unlimited, connection: target)
            rows.family = archive.family
            try writer.transaction { () throws(SQLiteError) in try rows.writePresence(at: now) }
            writer.add(rows)
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

    private static func openForReading(_ path: String) -> Connection? {
        do {
            let connection = try Connection(path: path)
            // Of an older format it lacks columns that are read.
            try Schema.prepare(connection)
            return connection
        } catch {
            Log.warning("A damaged archive file could not be brought to today's format; what can be read of it as it is is taken over.")
        }
        do throws(SQLiteError) {
            return try Connection(path: path)
        } catch {
            Log.error("Nothing can be read of a damaged archive file.", error)
            return nil
        }
    }

    private static func archives(in source: Connection) -> [(number: Int64, name: String, family: String?)] {
        var archives: [(number: Int64, name: String, family: String?)] = []
        do throws(SQLiteError) {
            let list = try source.prepare(SQL.listArchives)
            while try list.step() {
                if let name = list.text(1) { archives.append((list.int(0), name, list.text(2))) }
            }
        } catch {
            Log.error("The list of archives is damaged.", error)
        }
        return archives
    }
}

/// The readable entries of one archive of a damaged file: forward to the first damage, then back from the end to it.
private final class Salvage {
    private let source: Connection
    private let archive: Int64
    private let checksum: Checksum
    private var isForward = true
    private var first: Int64 = .min
    private var last: Int64 = .max

    init(source: Connection, archive: Int64, checksum: Checksum) {
        self.source = source
        self.archive = archive
        self.checksum = checksum
    }

    /// The next few entries; `nil` when there are no more.
    func next(_ count: Int) -> [(key: EntryKey, entry: Entry)]? {
        var found: [(key: EntryKey, entry: Entry)] = []
        while true {
            do throws(SQLiteError) {
                let isAtEnd = try read(count, &found)
                if isAtEnd { return finished(found) }
            } catch {
                guard isForward else { return finished(found) }
                isForward = false
            }
            if found.count >= count { return found }
        }
    }

    private func finished(_ found: [(key: EntryKey, entry: Entry)]) -> [(key: EntryKey, entry: Entry)]? {
        isForward = false
        last = .min
        return found.isEmpty ? nil : found
    }

    /// - Returns: Whether the end was reached.
    private func read(_ count: Int, _ found: inout [(key: EntryKey, entry: Entry)]) throws(SQLiteError) -> Bool {
        let statement = try source.prepare(isForward ? SQL.entriesAfter(archive) : SQL.entriesBefore(archive))
        statement.bind(isForward ? first : last, at: 1)
        while found.count < count {
            guard try statement.step() else { return true }
            let number = statement.int(0)
            guard isForward || number > first else { return true }
            if isForward { first = number } else { last = number }
            let entry = statement.entry
            let keyBytes = statement.entryKey
            guard checksum.of(entry, key: keyBytes) == statement.checksum else { continue }
            found.append((EntryKey(String(decoding: keyBytes, as: UTF8.self)), entry))
        }
        return false
    }
}
