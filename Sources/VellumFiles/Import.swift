internal import CBORCoding
public import Foundation
internal import VellumCore
internal import VellumEngine

extension ArchiveFile {
    /// Records the entries of an export, with their dates, ages, versions and groups. Entries of
    /// the same keys are replaced.
    ///
    /// Archives that the file does not have are created with their limits; the limits of others
    /// hold, and evict. The order of use is that of the export, and indexes are built when a
    /// program of the type opens the archive. Blocks for the disk; 500 entries are one transaction.
    /// What an import that was interrupted has recorded is recorded again by the next one.
    ///
    /// - Parameters:
    ///   - url: The export.
    ///   - progress: Called after each transaction. What it throws ends the import.
    /// - Returns: How many entries were recorded.
    /// - Complexity: O(n log n).
    /// - Throws: ``VellumError``: the disk fails, the export is of another kind of file, of values
    ///   that were left out, or not whole, or a cache has another version here. What came before is
    ///   recorded.
    @discardableResult
    public func `import`(
        from url: URL,
        progress: (Progress) throws -> Void = { _ in }
    ) throws -> Int {
        try refuseItself(url)
        let input: FileHandle
        do {
            input = try FileHandle(forReadingFrom: url)
        } catch {
            throw VellumError(
                .cannotOpen,
                "The export cannot be read.",
                path: url.path,
                cause: error
            )
        }
        var number = 0
        var bytes = 0
        func malformed(_ reason: String) -> VellumError {
            VellumError(.invalidImport, "Line \(number) of the export \(reason)", path: url.path)
        }
        let total = FileSystem.size(url.path)
        var recorded = 0
        var isWhole = false
        var lines: [ImportLine] = []
        var archive: ImportLine?
        func record() throws {
            guard let archive else { return }
            recorded += try importEntries(lines, of: archive)
            lines.removeAll(keepingCapacity: true)
            try progress(Progress(completed: bytes, total: total))
        }
        var reader = LineReader(input)
        func next() throws(VellumError) -> LineReader.Line? {
            do {
                return try reader.next()
            } catch {
                throw VellumError(
                    .inputOutput,
                    "The export cannot be read.",
                    path: url.path,
                    cause: error
                )
            }
        }
        while let line = try next() {
            number += 1
            bytes += line.bytes.count + 1
            let parsed: ImportLine
            do {
                parsed = try ImportLine.decoder.decode(ImportLine.self, from: line.bytes)
            } catch {
                throw malformed("is not one of an export.")
            }
            if number == 1 {
                guard parsed.vellum == 1, let found = parsed.kind else {
                    throw malformed("does not say that it is one of this version.")
                }
                guard found == kind.rawValue else {
                    throw malformed(
                        "says that it is of \(found), and this file has \(kind.rawValue)."
                    )
                }
            } else if let count = parsed.entries {
                try record()
                guard count == recorded else {
                    throw malformed("says \(count) entries, and there were \(recorded).")
                }
                isWhole = true
            } else if parsed.archive != nil {
                try record()
                archive = parsed
            } else {
                guard archive != nil else { throw malformed("has an entry without an archive.") }
                guard parsed.key != nil, parsed.recorded != nil, parsed.data != nil else {
                    throw malformed("has an entry without a value.")
                }
                lines.append(parsed)
                if lines.count >= 500 { try record() }
            }
        }
        guard isWhole else {
            throw malformed(
                """
                is the last, and does not end it: the export was interrupted. Its entries were \
                recorded.
                """
            )
        }
        return recorded
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

    private func importEntries(_ lines: [ImportLine], of archive: ImportLine) throws -> Int {
        guard let name = archive.archive else { return 0 }
        var options = StoreOptions<CBORValue>()
        let present = try file.storedArchive(named: name).map { (found) throws(VellumError) in
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
        let hold = try StoreHold<CBORValue>.open { [options] () throws(VellumError) in
            try file.hold(named: name, codec: RawCodec(), options)
        }
        var transaction = StoreTransaction()
        for line in lines {
            try transaction.record(
                line.entry,
                forKey: EntryKey(line.key ?? ""),
                in: hold.store
            )
            // What is larger than the limit is not recorded.
            guard let groups = line.groups,
                line.data?.count ?? 0 <= hold.store.capacities.disk.bytes
            else { continue }
            try transaction.group(in: EntryKey.groups(Set(groups)), of: hold.store)
        }
        try transaction.commit()
        try hold.close()
        return lines.count
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

    private enum CodingKeys: String, CodingKey {
        case vellum, kind, archive, limit, defaultLimit, cacheVersion, id, key, recorded, expires,
            idle, version, groups, data, entries
    }

    init(from decoder: any Decoder) throws {
        let line = try decoder.container(keyedBy: CodingKeys.self)
        vellum = try line.decodeIfPresent(Int.self, forKey: .vellum)
        kind = try line.decodeIfPresent(String.self, forKey: .kind)
        archive = try line.decodeIfPresent(String.self, forKey: .archive)
        limit = try line.decodeIfPresent(Int.self, forKey: .limit)
        defaultLimit = try line.decodeIfPresent(Int.self, forKey: .defaultLimit)
        cacheVersion = try line.decodeIfPresent(String.self, forKey: .cacheVersion)
        id = try line.decodeIfPresent(Int64.self, forKey: .id)
        key = try line.decodeIfPresent(String.self, forKey: .key)
        recorded = try line.decodeIfPresent(Moment.self, forKey: .recorded)
        expires =
            line.contains(.expires)
            ? .some(try line.decodeIfPresent(Moment.self, forKey: .expires)) : nil
        idle = try line.decodeIfPresent(Int64.self, forKey: .idle)
        version = try line.decodeIfPresent(Int64.self, forKey: .version)
        groups = try line.decodeIfPresent([String].self, forKey: .groups)
        data = try line.decodeIfPresent(Data.self, forKey: .data)
        entries = try line.decodeIfPresent(Int.self, forKey: .entries)
    }

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
