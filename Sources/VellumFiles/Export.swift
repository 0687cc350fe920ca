public import Foundation
internal import VellumCore
internal import VellumEngine

extension ArchiveFile {
    /// How far a long operation is.
    public struct Progress: Hashable, Sendable {
        /// What is done.
        public let completed: Int
        /// What there is to do: pages of a backup, entries of an export, bytes of an import.
        public let total: Int

        package init(completed: Int, total: Int) { (self.completed, self.total) = (completed, total) }
    }

    /// What an export writes.
    public struct ExportOptions: Sendable {
        /// The names of the archives; `nil` for all.
        public var archives: [String]?
        /// Whether to add each value as JSON (``CBORValue/json(isPretty:dateFields:)``), for other programs. An import does not read it.
        public var includesJSON = false
        /// Whether to leave the values out. Nothing can be imported then.
        public var isRedacted = false
        /// Whether to go on where an export into the same file was interrupted.
        public var resumes = false

        public init() {}
    }

    /// Writes entries as lines of JSON: keys, dates, ages, versions, and the bytes as they were recorded.
    ///
    /// ```swift
    /// let count = try file.export(to: folder.appending(path: "users.jsonl"))
    /// ```
    ///
    /// The first line names the kind of the file, a line goes before the entries of each archive, and the last one has the number of entries. Entries are
    /// read in small steps, between which others write; each unchanged entry is written once. For one moment of all archives, export a backup.
    /// Damaged entries are left out. The file has the mode 0600.
    ///
    /// - Parameter progress: Called from time to time. What it throws ends the export, which can be resumed.
    /// - Returns: How many entries the file has now, and how many were left out because they are damaged.
    /// - Complexity: O(size of the archives), with less than 10 MB of memory.
    /// - Throws: ``VellumError`` if the disk fails or, unless the export resumes, there is a file at the URL.
    @discardableResult
    public func export(
        to url: URL, _ options: ExportOptions = ExportOptions(), progress: (Progress) throws -> Void = { _ in }
    ) throws -> (entries: Int, damaged: Int) {
        let output = try ExportOutput(url, resuming: options.resumes)
        defer { output.close() }
        let all = try archives().filter { archive in options.archives?.contains { EntryKey($0).normalized == archive.name } ?? true }
        let total = try all.reduce(0) { $0 + (try $1.summary().entries) }
        var done = output.found
        if done.isEmpty { output.add("{\"vellum\":1,\"kind\":\"\(kind.rawValue)\"}\n") }
        var damaged = 0
        for archive in all.dropFirst(max(0, (all.firstIndex { $0.name == done.archive }) ?? 0)) {
            if done.archive != archive.name {
                done.after = .min
                output.add(try archive.headLine())
            }
            var scan = EntryScan(after: done.after)
            while scan.hasMore {
                damaged += try archive.addLines(of: &scan, to: output, options)
                try output.write()
                try progress(Progress(completed: output.entries, total: max(total, output.entries)))
            }
        }
        output.add("{\"entries\":\(output.entries)}\n")
        try output.write()
        try output.sync()
        return (output.entries, damaged)
    }
}

extension RawArchive {
    /// The line before the entries.
    fileprivate func headLine() throws(VellumError) -> String {
        let summary = try summary()
        var line = "{\"archive\":"
        JSONText.append(quoted: name, to: &line)
        if summary.isLimitGiven { line += ",\"limit\":\(summary.limit?.bytes ?? -1)" }
        if let version = summary.cacheVersion {
            line += ",\"cacheVersion\":"
            JSONText.append(quoted: version, to: &line)
        }
        return line + "}\n"
    }

    /// Adds the lines of the next entries, and returns how many of them are damaged.
    fileprivate func addLines(of scan: inout EntryScan, to output: ExportOutput, _ options: ArchiveFile.ExportOptions) throws(VellumError)
        -> Int
    {
        var (next, damaged) = (scan, 0)
        try reading { (tables) throws(SQLiteError) in
            try tables.scan(&next, most: 4 << 20) { row in
                let (entry, key) = (row.entry, row.keyBytes)
                if tables.checksum.of(entry, key: key) == entry.revision {
                    output.add(entry, key, options)
                } else {
                    damaged += 1
                }
            }
        }
        scan = next
        return damaged
    }
}

/// The file of an export.
private final class ExportOutput {
    private let file: FileHandle
    private let url: URL
    private var buffer: [UInt8] = []
    /// How many entries the file has.
    private(set) var entries = 0
    /// Where an interrupted export ended.
    private(set) var found = Found()

    struct Found {
        var archive: String?
        /// The entry after which it goes on.
        var after = Int64.min
        var isEmpty = true
    }

    init(_ url: URL, resuming: Bool) throws(VellumError) {
        self.url = url
        let descriptor = open(url.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (resuming ? 0 : O_EXCL), 0o600)
        guard descriptor >= 0 else {
            let reason =
                errno == EEXIST
                ? "There is a file at this path already." : "The file cannot be created: \(String(cString: strerror(errno)))."
            throw VellumError(.cannotOpen, reason, path: url.path)
        }
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        if resuming { try resume() }
    }

    func close() {
        do { try file.close() } catch { Log.warning("The file of an export could not be closed.") }
    }

    /// Reads how far the interrupted export came, and cuts off a line that is not whole.
    private func resume() throws(VellumError) {
        do {
            var length = 0
            var reader = LineReader(file)
            while let line = try reader.next(), line.isWhole {
                let parsed = try ImportLine.decoder.decode(ImportLine.self, from: line.bytes)
                if parsed.entries != nil { break }
                length += line.bytes.count + 1
                found.isEmpty = false
                if let archive = parsed.archive { found = Found(archive: archive, isEmpty: false) }
                if let id = parsed.id {
                    found.after = id
                    entries += 1
                }
            }
            try file.truncate(atOffset: UInt64(length))
            try file.seek(toOffset: UInt64(length))
        } catch {
            throw VellumError(.cannotOpen, "The export at this path cannot be resumed.", path: url.path, cause: error)
        }
    }

    // MARK: Adding

    func add(_ text: String) { buffer += Array(text.utf8) }

    func add(_ entry: Entry, _ key: UnsafeRawBufferPointer, _ options: ArchiveFile.ExportOptions) {
        entries += 1
        add("{\"id\":\(entry.id),\"key\":")
        addQuoted(key)
        add(",\"recorded\":")
        add(entry.written)
        if let expires = entry.expires {
            add(",\"expires\":")
            if expires == .never { add("null") } else { add(expires) }
        }
        if let idle = entry.idle { add(",\"idle\":\(idle)") }
        if entry.typeVersion != 0 { add(",\"version\":\(entry.typeVersion)") }
        if !options.isRedacted {
            add(",\"data\":\"")
            entry.bytes.withUnsafeBytes { buffer.append(base64: $0) }
            add("\"")
            if options.includesJSON { add(",\"value\":" + RawCodec.value(of: entry.bytes).json()) }
        }
        add("}\n")
    }

    /// Most keys need no escapes.
    private func addQuoted(_ key: UnsafeRawBufferPointer) {
        guard !key.allSatisfy({ 0x20..<0x7F ~= $0 && $0 != 0x22 && $0 != 0x5C }) else {
            buffer.append(0x22)
            buffer += key
            return buffer.append(0x22)
        }
        var text = ""
        JSONText.append(quoted: String(decoding: key, as: UTF8.self), to: &text)
        add(text)
    }

    /// Adds a moment by RFC 3339, or in milliseconds since 1970 if its year has not four digits.
    private func add(_ instant: WallInstant) {
        guard -62_135_596_800_000..<253_402_300_800_000 ~= instant.rawValue else { return add("\(instant.rawValue)") }
        add("\"")
        buffer.append(moment: instant.rawValue)
        add("\"")
    }

    func write() throws(VellumError) {
        do {
            try file.write(contentsOf: buffer)
            buffer.removeAll(keepingCapacity: true)
        } catch {
            throw VellumError(.diskFull, "The export could not be written. It can be resumed.", path: url.path, cause: error)
        }
    }

    func sync() throws { try file.synchronize() }
}

extension [UInt8] {
    /// Appends bytes in Base64 (RFC 4648, 4).
    fileprivate mutating func append(base64 bytes: UnsafeRawBufferPointer) {
        let letters = Self.base64Letters
        reserveCapacity(count + (bytes.count + 2) / 3 * 4)
        var index = 0
        while index + 2 < bytes.count {
            let group = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
            append(letters[group >> 18])
            append(letters[group >> 12 & 63])
            append(letters[group >> 6 & 63])
            append(letters[group & 63])
            index += 3
        }
        guard index < bytes.count else { return }
        let group = Int(bytes[index]) << 16 | (index + 1 < bytes.count ? Int(bytes[index + 1]) << 8 : 0)
        append(letters[group >> 18])
        append(letters[group >> 12 & 63])
        append(index + 1 < bytes.count ? letters[group >> 6 & 63] : UInt8(ascii: "="))
        append(UInt8(ascii: "="))
    }

    private static let base64Letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Appends a moment in milliseconds since 1970, by RFC 3339 with milliseconds in UTC.
    ///
    /// The date by the algorithm of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
    mutating func append(moment milliseconds: Int64) {
        let (day, inDay) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        let time = inDay < 0 ? inDay + 86_400_000 : inDay
        let shifted = (inDay < 0 ? day - 1 : day) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        append(year, digits: 4)
        append(UInt8(ascii: "-"))
        append(month, digits: 2)
        append(UInt8(ascii: "-"))
        append(dayOfYear - (153 * part + 2) / 5 + 1, digits: 2)
        append(UInt8(ascii: "T"))
        append(time / 3_600_000, digits: 2)
        append(UInt8(ascii: ":"))
        append(time / 60_000 % 60, digits: 2)
        append(UInt8(ascii: ":"))
        append(time / 1000 % 60, digits: 2)
        append(UInt8(ascii: "."))
        append(time % 1000, digits: 3)
        append(UInt8(ascii: "Z"))
    }

    private mutating func append(_ number: Int64, digits: Int) {
        var divisor: Int64 = digits == 4 ? 1000 : digits == 3 ? 100 : 10
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }
}
