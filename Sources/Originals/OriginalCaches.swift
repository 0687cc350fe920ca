package import Foundation
package import VellumCore
package import VellumEngine

/// The file of the original MiniCache, a Core Data store at the very path of a new cache file.
///
/// The first process that opens the new file renames it. The entries of a cache are imported once,
/// when a handle of that cache and its type of keys is first opened. The renamed file stays.
package struct OriginalCaches: Sendable {
    private static let suffix = ".original"
    /// In place of the name of a cache: all caches.
    private static let all: EntryKey = ""

    private let path: String

    /// - Parameter database: The path of the new file.
    /// - Returns: `nil` if there is no file of the original.
    package init?(besides database: URL) {
        path = database.path + Self.suffix
        guard FileIdentity(path: path) != nil else { return nil }
    }

    // MARK: Renaming the file

    /// Renames the file of the original, if it is one.
    ///
    /// Its log is copied into it first, so that one rename is all, and a process that is killed
    /// leaves either name. No other process may have it open then: two that try at the same time
    /// close it in between, for random times.
    ///
    /// - Returns: Whether the path is free, or holds the new file of another process.
    package static func moveAside(_ path: String) throws(VellumError) -> Bool {
        do {
            guard let identity = FileIdentity(path: path),
                try Connection(path: path).int(columnCount) == 5
            else { return false }
            var triesLeft = 100  // Three seconds: an older program may have it open while it runs.
            while FileIdentity(path: path) == identity, try !isMoved(path, identity) {
                triesLeft -= 1
                guard triesLeft > 0 else { throw SQLiteError.busy }
                BusyRetry.milliseconds(.random(in: 2...60))
            }
            return true
        } catch let error as SQLiteError {
            guard error.isDamage else { throw VellumError(error) }
            Log.error("A database of another program is damaged.", error)
            return false
        } catch {
            throw VellumError(
                .cannotOpen,
                "The file of the original MiniCache cannot be renamed.",
                path: path,
                cause: error
            )
        }
    }

    /// - Returns: `false` if another process has the file open.
    private static func isMoved(_ path: String, _ identity: FileIdentity) throws -> Bool {
        let connection: Connection
        do throws(SQLiteError) {
            connection = try Connection(path: path)
            try connection.execute("PRAGMA journal_mode = DELETE")
            // Writes nothing, but locks the file.
            try connection.execute("BEGIN IMMEDIATE")
        } catch {
            guard VellumError(error).code == .busy else { throw error }
            return false
        }
        guard FileIdentity(path: path) == identity else { return true }
        try FileSystem.move(path, to: path + suffix)
        CrashPoint.reached(.originalMoved)
        Log.notice("The file of the original MiniCache was renamed to end in \(suffix).")
        return withExtendedLifetime(connection) { true }
    }

    /// How many of the columns that the original's model leads to are there.
    private static let columnCount = """
        SELECT count(*) FROM pragma_table_info('ZCACHEENTRY') \
        WHERE name IN ('ZCACHE', 'ZCACHEVERSION', 'ZKEY', 'ZVALUE', 'ZDATE')
        """

    // MARK: Importing

    /// Imports the entries of a cache that were not imported before. Blocks for the disk, and while
    /// another process imports.
    ///
    /// An entry that is in the cache already stays. Of several original entries under one key the
    /// newest is imported. Those whose keys are of another type wait for a handle of that type.
    /// Each transaction also records how far the import came: an entry that is removed afterwards
    /// never returns, and a process that is killed leaves the rest to the next opening. Entries of
    /// another version than that of the cache are not imported, now or later.
    ///
    /// - Parameters:
    ///   - cache: The name and the version of the cache.
    ///   - file: The file of the store.
    ///   - key: Returns the key for the key of the original, which is JSON; `nil` if it is of
    ///     another type.
    ///   - value: Returns the value for that of the original, which is JSON.
    /// - Complexity: O(n log n) for n entries, once; then O(1).
    package func importEntries<Value>(
        of cache: (name: String, version: String),
        into store: Store<Value>,
        of file: DatabaseFile,
        key: @escaping (String) -> EntryKey?,
        value: @escaping (String) throws -> Value
    ) throws(VellumError) {
        let counts = try alone(store.name) {
            let progress = try file.importProgress(of: OriginalCachesProgress.self)
            guard try progress.value(forKey: Self.all) == nil else { return ImportCounts() }
            var work = CacheImport(
                name: cache.name,
                store: store,
                progress: progress,
                key: key,
                value: value
            )
            return try work.run(path, cache.version)
        }
        if counts.imported > 0 || counts.skipped > 0 { store.report(.imported(counts)) }
    }

    /// Commits a transaction that removes entries, and with it that nothing is imported any more:
    /// for a cache, or for all.
    ///
    /// Waits until nobody imports: a batch of an import must not follow the removal.
    package func commit(
        _ transaction: StoreTransaction,
        forgetting cache: String?,
        of file: DatabaseFile
    ) throws(VellumError) {
        var transaction = transaction
        try alone(nil) {
            let progress = try file.importProgress(of: OriginalCachesProgress.self)
            let key = cache.map { EntryKey($0) } ?? Self.all
            try transaction.record(
                OriginalCachesProgress(isComplete: true),
                forKey: key,
                in: progress
            )
            try transaction.commit()
        }
    }

    /// Runs `body` while no other process or thread imports from the file or forgets it.
    ///
    /// - Parameter archive: The archive that an error names.
    private func alone<Result>(
        _ archive: String?,
        _ body: () throws -> Result
    ) throws(VellumError) -> Result {
        do {
            return try FileLock.hold(file: path + "-lock", body)
        } catch let error as VellumError {
            throw error
        } catch let error as SQLiteError {
            throw VellumError(error).located(archive: archive, path: path)
        } catch {
            throw VellumError(
                .inputOutput,
                "The entries of the original MiniCache cannot be imported.",
                path: path,
                cause: error
            )
        }
    }
}

/// How far the entries of a cache were imported.
private struct OriginalCachesProgress: Codable, Sendable {
    /// How many rows were imported, in the order of their dates.
    var rows = 0
    /// Those of them whose keys are of another type, by their numbers in the original's table.
    var otherKeys: [Int64] = []
    var isComplete = false
}

/// The import of one cache.
private struct CacheImport<Value> {
    let name: String
    let store: Store<Value>
    let progress: Store<OriginalCachesProgress>
    let key: (String) -> EntryKey?
    let value: (String) throws -> Value
    var counts = ImportCounts()

    mutating func run(_ path: String, _ version: String) throws -> ImportCounts {
        var done = try progress.value(forKey: EntryKey(name)) ?? OriginalCachesProgress()
        guard !done.isComplete else { return counts }
        let original = try Connection(path: path)
        let rows = try isNewest(version, original) ? keys(version, original) : nil
        let waiting = Set(done.otherKeys)
        let all = rows ?? []
        let rest = all.filter { waiting.contains($0.id) } + all.dropFirst(done.rows)
        // Of several with one key the last counts.
        let newest = Dictionary(
            rest.compactMap { row in row.key.map { ($0, row.id) } },
            uniquingKeysWith: { $1 }
        )
        let content = try original.prepare("SELECT ZVALUE, ZDATE FROM ZCACHEENTRY WHERE rowid = ?1")
        var next = rest[...]
        var left = waiting
        repeat {
            var transaction = StoreTransaction()
            for row in next.prefix(512) {
                guard let key = row.key else {
                    left.insert(row.id)
                    continue
                }
                left.remove(row.id)
                if newest[key] == row.id {
                    try add(row.id, key, content, to: &transaction)
                }
            }
            next = next.dropFirst(512)
            // Those that wait come first, and were counted before.
            done.rows = max(done.rows, (rows?.count ?? 0) - next.count)
            done.otherKeys = left.sorted()
            // A cache that holds another version imports nothing, now or later.
            done.isComplete = rows == nil || next.isEmpty && left.isEmpty
            try transaction.record(done, forKey: EntryKey(name), in: progress)
            counts.imported += try transaction.commit().dropLast().count { $0 }
            CrashPoint.reached(.originalsImported)
        } while !next.isEmpty
        return counts
    }

    /// Whether the original wrote this version last. It removed the others when it opened a cache.
    private func isNewest(_ version: String, _ original: Connection) throws(SQLiteError) -> Bool {
        let read = try original.prepare(
            "SELECT ZCACHEVERSION, max(ZDATE) FROM ZCACHEENTRY WHERE ZCACHE = ?1"
        )
        read.bind(name, at: 1)
        return try read.step() && read.text(0) == version
    }

    /// The rows of the cache in the order of their dates, with their keys; `nil` for a key of
    /// another type.
    private mutating func keys(
        _ version: String,
        _ original: Connection
    ) throws -> [(
        id: Int64, key: EntryKey?
    )] {
        let read = try original.prepare(
            """
            SELECT rowid, ZKEY FROM ZCACHEENTRY WHERE ZCACHE = ?1 AND ZCACHEVERSION = ?2 \
            ORDER BY ZDATE, rowid
            """
        )
        read.bind(name, at: 1)
        read.bind(version, at: 2)
        var rows: [(id: Int64, key: EntryKey?)] = []
        do throws(SQLiteError) {
            while try read.step() {
                rows.append(
                    (read.int(0).value, read.text(1).flatMap(key))
                )
            }
        } catch {
            // What can be read of a damaged file is imported.
            guard error.isDamage else { throw error }
            counts.skip("The file of the original MiniCache cannot be read to its end", error)
        }
        return rows
    }

    private mutating func add(
        _ id: Int64,
        _ key: EntryKey,
        _ content: Statement,
        to transaction: inout StoreTransaction
    ) throws {
        defer { content.reset() }
        content.bind(id, at: 1)
        do {
            guard try content.step() else { return }
            // Core Data counts seconds from 2001.
            let date = WallInstant(Date(timeIntervalSinceReferenceDate: content.double(1)))
            try transaction.add(
                imported: try value(content.text(0) ?? ""),
                forKey: key,
                writtenAt: date,
                in: store
            )
        } catch {
            // A device that fails is not a value that is damaged.
            if let error = error as? SQLiteError, !error.isDamage { throw error }
            counts.skip("A value of the original MiniCache cannot be read", error)
        }
    }
}
