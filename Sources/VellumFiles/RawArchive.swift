public import CBORCoding
public import Foundation
internal import MiniCache
public import VellumCore
internal import VellumEngine

/// An archive, a cache or a storage of a file, without its type.
///
/// ```swift
/// let file = try ArchiveFile(at: url)
/// for archive in try file.archives() {
///     let summary = try archive.summary()
///     print(archive.name, summary.entries, summary.size)
/// }
/// ```
///
/// Every call reads the file, and blocks for the disk; none reads or changes memory of the program,
/// or the eviction order. Entries whose age has ended are there until they are deleted: listings
/// have them, queries do not.
///
/// Safe on any thread.
public struct RawArchive: Sendable {
    /// The name: `archiveName` of the type, or that of the cache.
    public let name: String

    let file: DatabaseFile
    let archive: Archive

    init(_ row: ArchiveTable.Listed, in file: DatabaseFile) {
        self.init(
            name: row.name ?? "",
            ArchiveTable.Found(id: row.id, hash: row.hash),
            in: file
        )
    }

    init(name: String, _ found: ArchiveTable.Found, in file: DatabaseFile) {
        self.name = name
        self.file = file
        archive = Archive(found, name: name)
    }

    /// Runs `body` with the tables of the archive, in one snapshot, and names the archive in its
    /// errors.
    func reading<Result: Sendable>(
        _ body: (ArchiveTables) throws(SQLiteError) -> Result
    ) throws(VellumError) -> Result {
        do throws(VellumError) {
            return try file.reading(archive, body)
        } catch {
            throw error.located(archive: Log.displayed(name), path: file.path)
        }
    }
}

// MARK: Summaries

extension RawArchive {
    /// An index that an archive has.
    public struct Index: Hashable, Sendable {
        /// The properties, most significant first.
        public let properties: [String]
        /// Whether it has an entry for each element of a collection.
        public let isOfElements: Bool
    }

    /// What an archive holds.
    public struct Summary: Hashable, Sendable {
        /// How many entries there are, also those whose age has ended.
        public internal(set) var entries = 0
        /// The sum of their encoded bytes.
        public internal(set) var size = DataSize.zero
        /// The disk limit; `nil` for none.
        public internal(set) var limit: DataSize?
        /// Whether a program has set the limit: otherwise it is the default.
        public internal(set) var isLimitGiven = false
        /// When the least recently used entry was last used, which is evicted next; `nil` if there
        /// is none.
        public internal(set) var oldest: Date?
        /// When an entry was last used.
        public internal(set) var newest: Date?
        /// The version of the cache; `nil` for an archive or a storage.
        public internal(set) var cacheVersion: String?
        /// The version of the type that the newest entry was recorded with; 0 for none.
        public internal(set) var typeVersion = 0
        /// The indexes.
        public internal(set) var indexes: [Index] = []
        /// How many entries were removed with all others, and are being deleted.
        public internal(set) var waiting = 0
        /// What the hit ratio would be with other limits, as the program wrote it that used the
        /// archive last; `nil` if none did for long enough.
        public internal(set) var sizing: Sizing?
        /// When it was written.
        public internal(set) var sizingWritten: Date?
    }

    /// Returns what the archive holds, without reading the entries.
    ///
    /// - Complexity: O(log n), and O(waiting entries).
    /// - Throws: ``VellumError`` if the file cannot be read.
    public func summary() throws(VellumError) -> Summary {
        try reading { tables throws(SQLiteError) in
            var summary = Summary()
            let usage = try tables.totals()
            summary.entries = usage.entries
            summary.size = DataSize(bytes: usage.bytes)
            let read = try tables.connection.prepare(RawRows.archive, tables.id)
            if try read.step() {
                let row = RawRows.ArchiveRow(read)
                summary.limit =
                    row.limit < Int64.max >> 1
                    ? DataSize(bytes: Int(row.limit))
                    : nil
                summary.isLimitGiven = row.isLimitGiven
                summary.cacheVersion = row.cacheVersion
            }
            summary.typeVersion =
                try tables.connection.int(EntryTable.newestVersion(tables.id))?.int ?? 0
            summary.waiting = try tables.connection.int(RawRows.waiting(tables.id))?.int ?? 0
            summary.indexes = try tables.rawIndex()?.indexes ?? []
            if let (sizing, written) = try SizingTable.read(
                of: tables.id,
                on: tables.connection
            ) {
                summary.sizing = sizing
                summary.sizingWritten = written.date
            }
            guard usage.entries > 0 else { return summary }
            let oldest = try tables.connection.int(RawRows.oldestUse(tables.id))?.value ?? 0
            summary.oldest = UseStamp(rawValue: oldest).possibleDate
            summary.newest = try RecencyTables.readNewestStamp(of: tables.id, on: tables.connection)
                .possibleDate
            return summary
        }
    }

    /// How the entries of an archive are distributed.
    public struct Statistics: Hashable, Sendable {
        /// How many entries have a size of at least a power of two and less than the next, by the
        /// exponent; empty ones by -1.
        public internal(set) var sizes: [Int: Int] = [:]
        /// How many entries were recorded on a day, by the number of days before now.
        public internal(set) var ages: [Int: Int] = [:]
        /// How many entries were last used on a day, by the number of days before now.
        public internal(set) var uses: [Int: Int] = [:]
        /// How many entries were recorded with a version of the type.
        public internal(set) var typeVersions: [Int: Int] = [:]
        /// How many entries have reached the end of an age of their own.
        public internal(set) var expired = 0
    }

    /// Reads every entry, without its value, in small steps.
    ///
    /// - Complexity: O(n).
    /// - Throws: ``VellumError`` if the file cannot be read.
    public func statistics() throws(VellumError) -> Statistics {
        var statistics = Statistics()
        let now = Date()
        func day(_ date: Date) -> Int {
            Int(max(0, now.timeIntervalSince(date) / 86_400))
        }
        var batches = Batches(of: self, "")
        while let entries = try batches.next() {
            for entry in entries {
                let exponent =
                    entry.size == 0 ? -1 : Int.bitWidth - 1 - entry.size.leadingZeroBitCount
                statistics.sizes[exponent, default: 0] += 1
                statistics.ages[day(entry.recorded), default: 0] += 1
                statistics.uses[day(entry.lastUsed), default: 0] += 1
                statistics.typeVersions[entry.typeVersion, default: 0] += 1
                if entry.hasExpired(at: now) { statistics.expired += 1 }
            }
        }
        return statistics
    }
}

// MARK: Entries

extension RawArchive {
    /// What is known of an entry besides its value.
    public struct Entry: Hashable, Sendable {
        /// The key, in the normal form in which keys are compared.
        public let key: String
        /// How many encoded bytes there are.
        public let size: Int
        /// When the value was recorded.
        public let recorded: Date
        /// When it expires for every program, if not used before; `nil` if it has no age of its
        /// own.
        public let expires: Date?
        /// How long after its last use it expires; `nil` if the last use does not matter.
        public let idle: Duration?
        /// When it was last recorded or accessed, as far as the file knows: programs that are
        /// running may know later uses.
        public let lastUsed: Date
        /// The version of the type that it was recorded with; 0 for none.
        public let typeVersion: Int

        /// Whether an age of its own has ended at a moment.
        public func hasExpired(at now: Date) -> Bool {
            (expires.map { $0 <= now } ?? false)
                || (idle.map { lastUsed.addingTimeInterval($0 / .seconds(1)) <= now } ?? false)
        }
    }

    /// The order of a listing.
    public enum Order: Sendable {
        /// In which the keys were first recorded.
        case recorded
        /// By last use, the newest first.
        case use
        /// By size, the largest first.
        case size
    }

    /// Returns entries, without their values.
    ///
    /// - Parameters:
    ///   - prefix: What the keys begin with, as ``text(ofKey:)`` shows them.
    ///   - order: In which order they come.
    ///   - limit: How many at most. A long listing takes about 200 bytes of memory for each: use
    ///     ``forEachEntry(withPrefix:_:)`` for all of a large archive.
    /// - Complexity: O(n) by size and for a prefix, otherwise O(limit × log n).
    /// - Throws: ``VellumError`` if the file cannot be read.
    public func entries(
        withPrefix prefix: String = "",
        order: Order = .recorded,
        limit: Int = .max
    ) throws(VellumError) -> [Entry] {
        var found: [Entry] = []
        let start = EntryKey(prefix)
        switch order {
        case .recorded:
            var batches = Batches(of: self, prefix)
            batches.left = limit
            while let entries = try batches.next() { found += entries }
        case .size:
            let most = isShownAsValues && !prefix.isEmpty ? Int.max : limit
            found = try rows(after: .min, start, most, bySize: true).entries
            found.removeLast(max(0, found.count - max(0, limit)))
        case .use:
            let keys = try reading { tables throws(SQLiteError) in
                try tables.keysByUse(
                    limit: prefix.isEmpty ? limit : .max,
                    validAt: .never,
                    under: .never,
                    withExpired: true,
                    pending: []
                )
            }
            for listed in keys
            where found.count < limit
                && shows(listed.key.normalized, with: start)
            {
                if let entry = try entry(forKey: listed.key.normalized) { found.append(entry) }
            }
        }
        return found
    }

    /// Calls `body` with every entry, without its value, in the order in which the keys were first
    /// recorded: those that begin with a prefix, as ``text(ofKey:)`` shows them.
    ///
    /// Reads in small steps, between which others write: what is written meanwhile may be missed.
    ///
    /// - Complexity: O(n).
    /// - Throws: ``VellumError`` if the file cannot be read, or what `body` throws.
    public func forEachEntry(withPrefix prefix: String = "", _ body: (Entry) throws -> Void) throws
    {
        var batches = Batches(of: self, prefix)
        while let entries = try batches.next() {
            for entry in entries { try body(entry) }
        }
    }

    /// Entries in the order in which their keys were first recorded, some at a time.
    private struct Batches {
        private let archive: RawArchive
        private let prefix: EntryKey
        private var last = Int64.min
        var left = Int.max

        init(of archive: RawArchive, _ prefix: String) {
            self.archive = archive
            self.prefix = EntryKey(prefix)
        }

        /// The next entries; `nil` at the end.
        mutating func next() throws(VellumError) -> [Entry]? {
            guard left > 0 else { return nil }
            let (entries, last) = try archive.rows(after: last, prefix, min(4096, left))
            guard let last else { return nil }
            self.last = last
            left -= entries.count
            return entries
        }
    }

    /// - Returns: Also the id of the last entry; `nil` if there are none.
    private func rows(
        after id: Int64,
        _ prefix: EntryKey,
        _ limit: Int,
        bySize: Bool = false
    ) throws(VellumError) -> (entries: [Entry], last: Int64?) {
        try reading { tables throws(SQLiteError) in
            try tables.clearedThrough()
            let read = try tables.prepared(query: RawRows.entries(tables.id, bySize: bySize))
            defer { read.reset() }
            read.bind(id, at: 1)
            read.bind(copying: isShownAsValues ? EntryKey("") : prefix, at: 2)
            read.bind(Int64(max(0, limit)), at: 3)
            var entries = [Entry]()
            var last = Int64?.none
            while try read.step() {
                let row = RawRows.EntryRow(read)
                if shows(row.entry.key, with: prefix) { entries.append(row.entry) }
                last = row.id
            }
            return (entries, last)
        }
    }

    /// Returns what is known of an entry; `nil` if there is none.
    ///
    /// - Complexity: O(log n).
    /// - Throws: ``VellumError`` if the file cannot be read.
    public func entry(forKey key: String) throws(VellumError) -> Entry? {
        let key = EntryKey(key)
        return try reading { tables throws(SQLiteError) in
            guard let use = try tables.lastUse(ofKey: key) else { return nil }
            return try tables.rawEntry(use.entryID)
        }
    }

    /// Returns the bytes as they were recorded; `nil` if there are none.
    ///
    /// - Complexity: O(log n + size).
    /// - Throws: ``VellumError``, with ``VellumError/Code/damagedEntry`` if the entry does not
    ///   match its checksum.
    public func encodedData(forKey key: String) throws(VellumError) -> Data? {
        switch try reading({ tables throws(SQLiteError) in
            try tables.entry(forKey: EntryKey(key))
        })
        {
        case .entry(let entry): return entry.bytes
        case .damaged: throw .corruptEntry.located(archive: Log.displayed(name), path: file.path)
        case nil: return nil
        }
    }

    /// Returns the value, of whatever type; `nil` if there is none.
    ///
    /// A value that a type encoded in a form of its own, neither CBOR nor JSON, is a
    /// ``CBORValue/bytes(_:)``.
    ///
    /// - Complexity: O(log n + size).
    /// - Throws: As ``encodedData(forKey:)``.
    public func value(forKey key: String) throws(VellumError) -> CBORValue? {
        try encodedData(forKey: key).map(RawCodec.value)
    }
}

// MARK: Queries

extension RawArchive {
    /// An entry and its value.
    public struct Object: Sendable {
        /// What is known of the entry.
        public let entry: Entry
        /// The value, as ``RawArchive/value(forKey:)`` returns it.
        public let value: CBORValue
    }

    /// Calls `body` with the objects whose values a condition accepts, in the order in which the
    /// keys were first recorded, and holds few of them in memory. Those whose age has ended, and
    /// damaged ones, are left out.
    ///
    /// ```swift
    /// try airports.find(where: { $0["country"] == "CH" }) { airport in
    ///     print(airport.entry.key, airport.value.json())
    /// }
    /// ```
    ///
    /// Reads every object, some at a time, between which others write. No index is used: only the
    /// type knows which field has the values of its columns.
    ///
    /// - Complexity: O(n): a million small objects take some seconds.
    /// - Throws: ``VellumError`` if the file cannot be read, and what the closures throw.
    public func find(
        where isIncluded: (CBORValue) throws -> Bool,
        _ body: (Object) throws -> Void
    ) throws {
        let archive = Archive(
            ArchiveTable.Found(id: archive.id, hash: archive.checksum.hash),
            name: name
        )
        let store = Store<CBORValue>(
            disk: DiskArchive(file: file, archive),
            codec: RawCodec(),
            memory: Capacity(bytes: 1, entries: 1),
            StoreOptions(),
            clock: file.clock
        )
        let cursor = QueryCursor(
            QueryDescription(),
            in: store,
            batchSize: 256,
            undecodable: .skip
        )
        while let item = try cursor.nextItem() {
            // It may have been removed since it was read.
            guard try isIncluded(item.value),
                let entry = try reading({ tables throws(SQLiteError) in
                    try tables.rawEntry(item.origin.entryID)
                })
            else { continue }
            try body(Object(entry: entry, value: item.value))
        }
    }

    /// Returns the fields of which an index says that they are dates: Swift's types write them as
    /// numbers (``CBORValue/json(isPretty:dateFields:)``).
    ///
    /// - Throws: ``VellumError`` if the file cannot be read.
    public func dateFields() throws(VellumError) -> Set<String> {
        try reading { tables throws(SQLiteError) in
            try tables.rawIndex()?.dateFields ?? []
        }
    }
}

// MARK: Keys

extension RawArchive {
    /// Returns the key of an entry as a person reads it: in a cache whose keys are not strings, the
    /// value of the key (``CBORValue/plainText``).
    public func text(ofKey key: String) -> String {
        guard isShownAsValues else { return key }
        do {
            return try CacheKey.decoded(EntryKey(key), as: CBORValue.self).plainText
        } catch {
            return key
        }
    }

    /// Whether keys are shown in another form than they are stored.
    private var isShownAsValues: Bool { file.kind == .caches }

    private func shows(_ key: String, with prefix: EntryKey) -> Bool {
        prefix.normalized.isEmpty
            || EntryKey(text(ofKey: key)).normalized.utf8.starts(with: prefix.normalized.utf8)
    }

    /// Returns the key of an entry, as it is stored, by what ``text(ofKey:)`` returns of it; `nil`
    /// if there is none. A string is found before another key of the same text.
    ///
    /// - Complexity: O(log n) for strings and integers, O(n) for other keys of a cache.
    /// - Throws: ``VellumError`` if the file cannot be read.
    public func key(ofText text: String) throws -> String? {
        if try entry(forKey: text) != nil { return text }
        guard isShownAsValues else { return nil }
        let marked = "\u{1}" + text
        if self.text(ofKey: marked) == text, try entry(forKey: marked) != nil { return marked }
        var batches = Batches(of: self, text)
        while let entries = try batches.next() {
            if let found = entries.first(where: { self.text(ofKey: $0.key) == text }) {
                return found.key
            }
        }
        return nil
    }
}
