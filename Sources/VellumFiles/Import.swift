internal import CBORCoding
public import Foundation
internal import VellumCore
internal import VellumEngine

extension ArchiveFile {
    /// What an import has done.
    public struct Imported: Hashable, Sendable {
        /// How many entries the export has.
        public internal(set) var entries = 0
        /// How many of them are in the file now.
        public internal(set) var kept = 0
        /// The limits that removed the others, by the names of the archives.
        public internal(set) var limits: [String: DataSize] = [:]
    }

    /// Records the entries of an export, as ``importEntries(from:progress:)`` does.
    ///
    /// - Returns: How many entries the export has. Limits may have removed some of them.
    @discardableResult
    public func `import`(
        from url: URL,
        progress: (Progress) throws -> Void = { _ in }
    ) throws -> Int {
        try importEntries(from: url, progress: progress).entries
    }

    /// Records the entries of an export, with their dates, ages, versions and groups. Entries of
    /// the same keys are replaced.
    ///
    /// ```swift
    /// let done = try file.importEntries(from: export)
    /// for (archive, limit) in done.limits {
    ///     print(archive, "keeps no more than", limit)
    /// }
    /// ```
    ///
    /// Archives that the file does not have are created with their limits; the limits of others
    /// hold, and evict. The order of use is that of the export, and indexes are built when a
    /// program of the type opens the archive. An empty file has no entries.
    ///
    /// Blocks for the disk; 500 entries are one transaction. All archives of an export that is a
    /// file are checked before the first entry is recorded. What an import that was interrupted has
    /// recorded is recorded again by the next one.
    ///
    /// - Parameters:
    ///   - url: The export.
    ///   - progress: Called after each transaction. What it throws ends the import.
    /// - Complexity: O(n log n).
    /// - Throws: ``VellumError``, with ``VellumError/Code/contradiction`` if this program has an
    ///   archive of the export open, or a cache has another version here: nothing is recorded then;
    ///   with ``VellumError/Code/invalidImport`` if the export is of another kind of file, of
    ///   values that were left out, or not whole; or if the disk fails. What came before is
    ///   recorded.
    @discardableResult
    public func importEntries(
        from url: URL,
        progress: (Progress) throws -> Void = { _ in }
    ) throws -> Imported {
        try refuseItself(url)
        // What is read only once, such as a pipe, is checked while it is recorded.
        if FileSystem.isRegular(url.path) { try checkArchives(of: url) }
        let total = FileSystem.size(url.path)
        var reader = try ImportReader(url, kind: kind.rawValue)
        var counts: [String: ImportCount] = [:]
        var recorded = 0
        var isWhole = false
        var lines: [ImportLine] = []
        var archive: ImportLine?
        func record() throws {
            guard let archive, let name = archive.archive else { return }
            recorded += lines.count
            counts[name, default: ImportCount()].add(try importEntries(lines, of: archive, name))
            lines.removeAll(keepingCapacity: true)
            try progress(Progress(completed: reader.bytes, total: total))
        }
        while let line = try reader.next() {
            guard !isWhole else { throw reader.malformed("comes after its end.") }
            if let count = line.entries {
                try record()
                guard count == recorded else {
                    throw reader.malformed("says \(count) entries, and there were \(recorded).")
                }
                isWhole = true
            } else if line.archive != nil {
                try record()
                archive = line
            } else {
                guard archive != nil else {
                    throw reader.malformed("has an entry without an archive.")
                }
                guard line.key != nil, line.recorded != nil, line.data != nil else {
                    throw reader.malformed("has an entry without a value.")
                }
                lines.append(line)
                if lines.count >= 500 { try record() }
            }
        }
        guard isWhole || reader.isEmpty else {
            throw reader.malformed(
                """
                is the last, and does not end it: the export was interrupted. Its entries were \
                recorded.
                """
            )
        }
        return try imported(counts)
    }

    /// What is there of the entries that were recorded.
    private func imported(_ counts: [String: ImportCount]) throws(VellumError) -> Imported {
        var imported = Imported()
        for (name, count) in counts {
            imported.entries += count.entries
            let summary = try archive(named: name)?.summary()
            var kept = count.entries - count.tooLarge
            // Entries that were there before are evicted first.
            if count.hasEvicted { kept = min(kept, summary?.entries ?? 0) }
            imported.kept += kept
            if kept < count.entries, let limit = summary?.limit { imported.limits[name] = limit }
        }
        return imported
    }

    /// Closing a descriptor of the file would release the locks of this process on it
    /// (sqlite.org/howtocorrupt.html, 2.2).
    func refuseItself(_ url: URL) throws(VellumError) {
        guard let identity = FileIdentity(path: url.path), identity == FileIdentity(path: file.path)
        else { return }
        throw VellumError(
            .cannotOpen,
            "This is the file itself, and no export of it.",
            path: url.path
        )
    }

    private func checkArchives(of url: URL) throws(VellumError) {
        var reader = try ImportReader(url, kind: kind.rawValue)
        while let line = try reader.next(withEntries: false) {
            if let name = line.archive { _ = try options(of: line, name) }
        }
    }

    /// The options of an archive for the entries of an export.
    ///
    /// - Throws: ``VellumError`` if they cannot be recorded.
    private func options(
        of archive: ImportLine,
        _ name: String
    ) throws(VellumError) -> StoreOptions<CBORValue> {
        try RawArchive.refuseOpen(name, in: file)
        var options = StoreOptions<CBORValue>()
        let present = try file.storedArchive(named: name).map { found throws(VellumError) in
            try RawArchive(name: name, found, in: file).summary()
        }
        options.cacheVersion = archive.cacheVersion
        options.mayReplaceVersion = present == nil || present?.entries == 0
        guard options.mayReplaceVersion || present?.cacheVersion == archive.cacheVersion else {
            throw VellumError(.contradiction, "The cache has another version in this file.")
                .located(
                    archive: Log.displayed(name),
                    path: file.path
                )
        }
        // One byte is the default of an archive that was dropped, or never opened.
        if let present, present.isLimitGiven || present.capacity.bytes > 1 {
            options.defaults.disk = present.capacity
        } else if let limit = archive.defaultLimit, limit > 0 {
            options.defaults.disk = Capacity(bytes: limit, entries: .max)
        }
        if present == nil, let limit = archive.limit {
            options.disk = limit < 0 ? .unlimited : Capacity(bytes: limit, entries: .max)
        }
        return options
    }

    private func importEntries(
        _ lines: [ImportLine],
        of archive: ImportLine,
        _ name: String
    ) throws -> ImportCount {
        let options = try options(of: archive, name)
        let hold = try StoreHold<CBORValue>.open { [options] () throws(VellumError) in
            try file.hold(named: name, codec: RawCodec(), options)
        }
        var count = ImportCount(entries: lines.count)
        var transaction = StoreTransaction()
        for line in lines {
            try transaction.record(
                line.entry,
                forKey: EntryKey(line.key ?? ""),
                in: hold.store
            )
            // What is larger than the limit is not recorded.
            guard line.data?.count ?? 0 <= hold.store.capacities.disk.bytes else {
                count.tooLarge += 1
                continue
            }
            guard let groups = line.groups else { continue }
            try transaction.group(in: EntryKey.groups(Set(groups)), of: hold.store)
        }
        try transaction.commit()
        count.hasEvicted = hold.store.counters.evictedSize > .zero
        try hold.close()
        return count
    }
}

/// How many entries of an archive an import has met.
private struct ImportCount {
    var entries = 0
    /// How many are larger than the limit.
    var tooLarge = 0
    var hasEvicted = false

    mutating func add(_ other: ImportCount) {
        entries += other.entries
        tooLarge += other.tooLarge
        hasEvicted = hasEvicted || other.hasEvicted
    }
}

extension VellumError.Code {
    /// A file is not an export that can be imported.
    public static let invalidImport = VellumError.Code("invalidImport")
}

/// A line of an export: the first one, one before an archive, an entry, or the last one.
struct ImportLine: Decodable {
    var vellum: Int?
    var kind: String?
    var archive: String?
    var limit: Int?
    /// The limit, if no program has given one.
    var defaultLimit: Int?
    var cacheVersion: String?
    var id: Int64?
    var key: String?
    var recorded: Moment?
    /// `.some(nil)` if it never expires by its own age.
    var expires: Moment??
    var idle: Int64?
    var version: Int64?
    var groups: [String]?
    var data: Data?
    var entries: Int?

    var entry: Entry {
        var entry = Entry(
            bytes: data ?? Data(),
            written: recorded?.instant ?? WallInstant(Date())
        )
        if let expires { entry.expires = expires?.instant ?? .never }
        entry.idle = idle
        entry.typeVersion = version ?? 0
        return entry
    }

    static let decoder = JSONDecoder()

    /// A moment as ``LineBuffer/add(moment:)`` writes it.
    struct Moment: Decodable {
        let instant: WallInstant

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            do {
                instant = WallInstant(rawValue: try value.decode(Int64.self))
                return
            } catch {}  // Then it is a text.
            guard let date = RFC3339.date(from: try value.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: value, debugDescription: "no moment")
            }
            instant = WallInstant(
                rawValue: Int64((date.timeIntervalSince1970 * 1000).rounded())
            )
        }
    }
}

extension KeyedDecodingContainer {
    /// The age of a ``ImportLine``, which may be there and null: that is another than none.
    fileprivate func decodeIfPresent(
        _ type: ImportLine.Moment?.Type,
        forKey key: Key
    ) throws -> ImportLine.Moment?? {
        contains(key) ? .some(try decodeIfPresent(ImportLine.Moment.self, forKey: key)) : nil
    }
}

/// Reads and checks the lines of an export. Blank ones count for nothing.
private struct ImportReader {
    private let url: URL
    private let kind: String
    private var lines: LineReader
    private var number = 0
    /// Whether there was no line.
    private(set) var isEmpty = true
    /// How much was read.
    private(set) var bytes = 0

    init(_ url: URL, kind: String) throws(VellumError) {
        self.url = url
        self.kind = kind
        do {
            lines = LineReader(try FileHandle(forReadingFrom: url))
        } catch {
            throw VellumError(
                .cannotOpen,
                "The export cannot be read.",
                path: url.path,
                cause: error
            )
        }
    }

    func malformed(_ reason: String) -> VellumError {
        VellumError(.invalidImport, "Line \(number) of the export \(reason)", path: url.path)
    }

    /// Returns the next line after the first one, which is checked; `nil` at the end.
    ///
    /// - Parameter withEntries: Whether to return entries as an export writes them, too.
    mutating func next(withEntries: Bool = true) throws(VellumError) -> ImportLine? {
        while let line = try readLine() {
            guard withEntries || isEmpty || !line.starts(with: Self.entry) else { continue }
            let parsed: ImportLine
            do {
                parsed = try ImportLine.decoder.decode(ImportLine.self, from: line)
            } catch {
                throw malformed("is not one of an export.")
            }
            guard isEmpty else { return parsed }
            isEmpty = false
            guard parsed.vellum == 1, let found = parsed.kind else {
                throw malformed("does not say that it is one of this version.")
            }
            guard found == kind else {
                throw malformed("says that it is of \(found), and this file has \(kind).")
            }
        }
        return nil
    }

    private static let entry = Data("{\"id\":".utf8)

    /// The next line that is not blank.
    private mutating func readLine() throws(VellumError) -> Data? {
        do {
            while let line = try lines.next() {
                number += 1
                bytes += line.bytes.count + 1
                // The white space of JSON (RFC 8259, 2).
                guard line.bytes.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) else {
                    return line.bytes
                }
            }
            return nil
        } catch {
            throw VellumError(
                .inputOutput,
                "The export cannot be read.",
                path: url.path,
                cause: error
            )
        }
    }
}

/// The lines of a file, without their ends.
struct LineReader {
    struct Line {
        var bytes: Data
        /// Whether it has an end.
        var isWhole: Bool
    }

    /// A value has a billion bytes at most (sqlite.org/limits.html, 1), which are a third more in
    /// Base64.
    private static let longest = 1_400_000_000

    private let file: FileHandle
    private var buffer = Data()
    /// Where in the buffer the next line begins, and from where on an end was not looked for.
    private var start = 0
    private var looked = 0

    init(_ file: FileHandle) { self.file = file }

    /// Returns the next line; `nil` at the end.
    mutating func next() throws -> Line? {
        while true {
            if let end = buffer[looked...].firstIndex(of: UInt8(ascii: "\n")) {
                defer {
                    start = end + 1
                    looked = end + 1
                }
                return Line(bytes: buffer[start..<end], isWhole: true)
            }
            if start > 0 {
                buffer = Data(buffer[start...])
                start = 0
            }
            looked = buffer.count
            guard looked < Self.longest else { throw POSIXError(.EFBIG) }
            guard let more = try file.read(upToCount: 1 << 20), !more.isEmpty else {
                defer {
                    buffer = Data()
                    looked = 0
                }
                return buffer.isEmpty ? nil : Line(bytes: buffer, isWhole: false)
            }
            buffer.append(more)
        }
    }
}
