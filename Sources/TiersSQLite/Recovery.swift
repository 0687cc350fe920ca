internal import Foundation
internal import Tiers

/// What happens to a file that cannot be read as it should.
enum Recovery {
    /// Beside a file in which damage was found lies a file of this name. It says where the damaged file is to go, once that is known.
    private static let markSuffix = "-damaged"

    /// Writes down that damage was found while the file was open: the next opening salvages what can be read.
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

    /// Moves the file and its side files to a new name, and returns that. A log that stayed behind would be replayed over
    /// the new file. Everyone who has it open is told.
    ///
    /// - Parameters:
    ///   - kind: What it is, for the new name.
    ///   - aside: The new name, where it was chosen before.
    static func setAside(_ path: String, at now: WallInstant, as kind: String = "damaged", to aside: String? = nil) throws -> String {
        let aside = aside ?? freeName(path, kind, now)
        try ChangesFile.retire(besides: path)
        for suffix in parts where FileIdentity(path: path + suffix) != nil {
            // Where a killed process had begun, what it moved is there already, and an empty file may have been made in its place.
            guard FileIdentity(path: aside + suffix) == nil, !suffix.isEmpty || FileSystem.size(path) > 0 else { continue }
            try FileSystem.move(path + suffix, to: aside + suffix)
            CrashPoint.reached(.damagedFileMoved)
        }
        if kind == "damaged" {
            Log.warning("A damaged archive file was set aside; what can be read of it is taken over into a new one.")
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
    static func mend(_ path: String, at now: WallInstant) throws -> [StoreEvent] {
        let replacement = replacement(of: path)
        markDamaged(path)
        // From here on nobody writes to it any more.
        try ChangesFile.retire(besides: path)
        CrashPoint.reached(.damagedFileRetired)
        try replacement.begin()
        _ = try salvage(path, into: replacement.partial, at: now)
        let aside = freeName(path, "damaged", now)
        try FileSystem.write(aside, to: path + markSuffix)
        CrashPoint.reached(.asideNamed)
        try replacement.finish()
        return try putInPlace(replacement, aside, at: now)
    }

    /// Finishes what a killed process began.
    ///
    /// - Returns: What there is to tell; `nil` if there was nothing to finish.
    static func resume(_ path: String, at now: WallInstant) throws -> [StoreEvent]? {
        let replacement = replacement(of: path)
        guard replacement.isWaiting else { return nil }
        let name = FileSystem.text(path + markSuffix)
        return try putInPlace(replacement, name.hasPrefix(path + ".damaged-") ? name : nil, at: now)
    }

    private static func replacement(of path: String) -> Replacement { Replacement(of: path, making: ".salvaging", made: ".salvaged") }

    private static func putInPlace(_ replacement: Replacement, _ aside: String?, at now: WallInstant) throws -> [StoreEvent] {
        let path = replacement.path
        let aside = try setAside(path, at: now, to: aside)
        CrashPoint.reached(.damagedFileAside)
        let salvaged = try Connection(path: replacement.complete).int(SQL.entryCount) ?? 0
        try replacement.moveToPlace()
        return [.setAside(to: URL(fileURLWithPath: aside), salvaged: Int(salvaged))]
    }

    /// Takes over every entry that can still be read and matches its checksum.
    ///
    /// - Returns: How many.
    static func salvage(_ aside: String, into path: String, at now: WallInstant) throws -> Int {
        let target = try Connection(path: path)
        try Schema.prepare(target)
        let writer = try Writer(target)
        guard let source = openForReading(aside) else { return 0 }
        CrashPoint.reached(.salvageBegins)
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
                CrashPoint.reached(.salvageBatchCommitted)
                salvaged += found.count
            }
        }
        CrashPoint.reached(.salvaged)
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
