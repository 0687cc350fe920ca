internal import Foundation
internal import VellumCore

/// Takes the entries of an original MiniCache file over into a new file at the same path, and keeps the original aside.
///
/// ``Replacement`` describes what a killed process leaves and how the next opening goes on.
struct Takeover {
    let path: String
    let original: OriginalCache

    private var replacement: Replacement { Replacement(of: path, making: ".taking-over", made: ".taken-over") }

    struct Outcome {
        /// The path of the original now; `nil` if another process moved it.
        var aside: String?
        var taken = 0
        var skipped = 0

        var events: [StoreEvent] {
            guard let aside else { return [] }
            var events = [StoreEvent.setAside(to: URL(fileURLWithPath: aside), salvaged: taken)]
            if skipped > 0 {
                events.append(
                    .failure(VellumError(.notDecodable, "\(skipped) entries of the original file could not be read. It was kept aside.")))
            }
            return events
        }
    }

    /// Finishes an interrupted takeover. Returns whether it moved a new file to the path.
    func resume() throws -> Bool {
        guard replacement.isWaiting, FileSystem.size(path) == 0 else { return false }
        try replacement.moveToPlace()
        return true
    }

    /// Takes the file over and returns the events to report, or `nil` if it is not a readable file of the original.
    func run(_ identity: FileIdentity, at now: WallInstant) throws -> [StoreEvent]? {
        do {
            return try takeOver(identity, at: now)?.events
        } catch let error as SQLiteError where error.isDamage {
            Log.error("A database of another program is damaged.", error)
            return nil
        }
    }

    private func takeOver(_ identity: FileIdentity, at now: WallInstant) throws -> Outcome? {
        guard try Connection(path: path).int(OriginalTable.columnCount) == 5 else { return nil }
        // If another process was faster, its file is there now.
        guard let source = try openAlone(identity) else { return Outcome() }
        CrashPoint.reached(.originalLocked)
        try replacement.begin()
        var outcome = try copy(from: source, at: now)
        CrashPoint.reached(.takeoverCopied)
        try replacement.finish()
        outcome.aside = try Recovery.setAside(path, at: now, as: "original")
        CrashPoint.reached(.originalMoved)
        try replacement.moveToPlace()
        Log.notice(
            "A file of the original MiniCache was taken over: \(outcome.taken) entries, \(outcome.skipped) could not be read. It was kept aside."
        )
        return outcome
    }

    /// Opens the original, removes its log and locks it against every other process. Returns `nil` if it is no longer there.
    ///
    /// The locking transaction writes nothing, so there is nothing to roll back. The log can be removed only while no other process has the
    /// file open, so two processes that try at the same time release it in between, for random times.
    private func openAlone(_ identity: FileIdentity) throws -> Connection? {
        var triesLeft = 100  // Three seconds: an older program may have it open while it runs.
        while FileIdentity(path: path) == identity {
            do throws(SQLiteError) {
                let source = try Connection(path: path)
                try source.execute(OriginalTable.endLog)
                try source.execute(SQL.beginWriting)
                return FileIdentity(path: path) == identity ? source : nil
            } catch {
                triesLeft -= 1
                guard VellumError(error).code == .busy, triesLeft > 0 else { throw error }
            }
            BusyRetry.milliseconds(.random(in: 2...60))
        }
        return nil
    }

    private func copy(from source: Connection, at now: WallInstant) throws -> Outcome {
        // Closed on return: the last connection copies its log into the file.
        let target = try Connection(path: replacement.partial)
        try Schema.prepare(target, .caches)
        let writer = try WriteConnection(target)
        var archives: [String: ArchiveWriter] = [:]
        let lastVersions = try OriginalTable.lastVersions(on: source)
        var versions: Set<Int64> = []
        var outcome = Outcome()
        let rows = OriginalRows(try source.prepare(OriginalTable.entries))
        while let batch = rows.next(512) {
            let placed = batch.map { row in (row, row.entry.flatMap(original.place)) }
            for case (_, let place?) in placed where archives[place.archive] == nil {
                let added = try writer.archive(named: place.archive, withLimit: .unknown)
                let archive = ArchiveWriter(added, name: place.archive, connection: target)
                archive.isUnlimited = true
                writer.add(archive)
                archives[place.archive] = archive
            }
            try writer.transaction { () throws(SQLiteError) in
                for (row, place) in placed {
                    guard let place, let archive = archives[place.archive] else {
                        outcome.skipped += 1
                        continue
                    }
                    try archive.load()
                    // Of several versions the one that was written last is taken over. A cache that is opened with another one is emptied.
                    guard let last = lastVersions[place.archive], last == place.version else { continue }
                    if versions.insert(archive.id).inserted {
                        try ArchiveTable.setVersion(
                            EntryKey(last).normalized, since: WallInstant(rawValue: 0), of: archive.id, on: target)
                    }
                    try archive.salvage(Entry(bytes: place.bytes, written: row.written), place.key, at: now)
                    outcome.taken += 1
                }
            }
            CrashPoint.reached(.takeoverBatchCommitted)
        }
        // Closing would not report a full disk.
        try target.restartLog()
        return outcome
    }
}

/// The rows of an original file that can be read.
private final class OriginalRows {
    private let statement: Statement
    private var isAtEnd = false

    init(_ statement: Statement) { self.statement = statement }

    /// Returns the next rows, or `nil` at the end.
    func next(_ count: Int) -> [OriginalRow]? {
        var rows: [OriginalRow] = []
        while !isAtEnd, rows.count < count {
            do throws(SQLiteError) {
                if try statement.step() { rows.append(OriginalRow(statement)) } else { isAtEnd = true }
            } catch {
                Log.error("A file of the original MiniCache cannot be read to its end.", error)
                isAtEnd = true
            }
        }
        return rows.isEmpty ? nil : rows
    }
}
