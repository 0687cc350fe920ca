internal import CBORCoding
public import Foundation
internal import VellumCore
internal import VellumEngine

extension ArchiveFile {
    /// How far a long operation is.
    public struct Progress: Hashable, Sendable {
        /// What is done.
        public let completed: Int
        /// What there is to do: bytes of a backup or an import, entries of an export.
        public let total: Int

        package init(completed: Int, total: Int) {
            self.completed = completed
            self.total = total
        }
    }

    /// What an export has written.
    public struct Exported: Hashable, Sendable {
        /// How many entries the file has now.
        public let entries: Int
        /// How many were left out because they do not match their checksums.
        public let damaged: Int
    }

    /// What an export writes.
    public struct ExportOptions: Sendable {
        /// The names of the archives; `nil` for all.
        public var archives: [String]?
        /// Whether to add each value as JSON (``CBORValue/json(isPretty:dateFields:)``), for other
        /// programs. An import does not read it.
        public var includesJSON = false
        /// Whether to go on where an export of the same archives into the same file was
        /// interrupted.
        public var resumes = false

        /// Creates the options of an export of everything.
        public init() {}
    }

    /// Writes entries as lines of JSON: keys, dates, ages, versions, groups, and the bytes as they
    /// were recorded.
    ///
    /// ```swift
    /// let count = try file.export(to: folder.appending(path: "users.jsonl"))
    /// ```
    ///
    /// The first line names the kind of the file and the archives that were chosen, a line goes
    /// before the entries of each archive, and the last one has the number of entries. Entries are
    /// read in small steps, between which others write; each unchanged entry is written once. For
    /// one moment of all archives, export a backup. Damaged entries are left out. The file has the
    /// mode 0600, and survives `kill -9`; it is not synced.
    ///
    /// - Parameters:
    ///   - url: Where the lines go.
    ///   - options: What is written.
    ///   - progress: Called from time to time. What it throws ends the export, which can be
    ///     resumed.
    /// - Complexity: O(size of the archives), with less than 10 MB of memory.
    /// - Throws: ``VellumError`` if the disk fails, or there is a file at the URL: if the export
    ///   resumes, one that is no part of an export of the same archives. It is unchanged then.
    @discardableResult
    public func export(
        to url: URL,
        _ options: ExportOptions = ExportOptions(),
        progress: (Progress) throws -> Void = { _ in }
    ) throws -> Exported {
        try refuseItself(url)
        let chosen = try chosen(options)
        let output = try ExportOutput(
            url,
            resuming: options.resumes,
            head: head(options),
            archives: chosen.map(\.name)
        )
        defer { output.close() }
        return try export(chosen, to: output, options, progress)
    }

    /// Writes the same to a file that is open, such as a pipe. `resumes` has no effect.
    ///
    /// - Parameters:
    ///   - file: Where the lines go. It is not closed.
    ///   - options: What is written.
    ///   - progress: Called from time to time. What it throws ends the export.
    /// - Throws: ``VellumError`` if the disk fails, or nobody reads the pipe; and what `progress`
    ///   throws.
    @discardableResult
    public func export(
        to file: FileHandle,
        _ options: ExportOptions = ExportOptions(),
        progress: (Progress) throws -> Void = { _ in }
    ) throws -> Exported {
        try export(chosen(options), to: ExportOutput(file), options, progress)
    }

    /// The first line. It says what was chosen, so that no export is resumed as another one.
    private func head(_ options: ExportOptions) -> String {
        var line = "{\"vellum\":1,\"kind\":\"\(kind.rawValue)\""
        if let archives = options.archives {
            let names = Set(archives.map { EntryKey($0).normalized }).sorted()
            line += ",\"archives\":" + JSONText.list(names)
        }
        return line + (options.includesJSON ? ",\"values\":true}\n" : "}\n")
    }

    private func chosen(_ options: ExportOptions) throws(VellumError) -> [RawArchive] {
        try archives().filter { archive in
            options.archives?.contains { EntryKey($0).normalized == archive.name } ?? true
        }
    }

    private func export(
        _ archives: [RawArchive],
        to output: ExportOutput,
        _ options: ExportOptions,
        _ progress: (Progress) throws -> Void
    ) throws -> Exported {
        let total = try archives.reduce(0) { $0 + (try $1.summary().entries) }
        var done = output.found
        if done.isEmpty { output.add(head(options)) }
        var damaged = 0
        let first = archives.firstIndex { $0.name == done.archive } ?? 0
        for archive in archives.dropFirst(first) {
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
        try output.write(isLast: true)
        return Exported(entries: output.entries, damaged: damaged)
    }
}

extension RawArchive {
    /// The line before the entries.
    fileprivate func headLine() throws(VellumError) -> String {
        let summary = try summary()
        var line = "{\"archive\":"
        line += CBORValue.quoted(name)
        if summary.isLimitGiven {
            line += ",\"limit\":\(summary.limit?.bytes ?? -1)"
        } else if let limit = summary.limit {
            line += ",\"defaultLimit\":\(limit.bytes)"
        }
        if let version = summary.cacheVersion {
            line += ",\"cacheVersion\":"
            line += CBORValue.quoted(version)
        }
        return line + "}\n"
    }

    /// Adds the lines of the next entries, and returns how many of them are damaged.
    fileprivate func addLines(
        of scan: inout EntryScan,
        to output: ExportOutput,
        _ options: ArchiveFile.ExportOptions
    ) throws(VellumError) -> Int {
        var next = scan
        var damaged = 0
        try reading { tables throws(SQLiteError) in
            let haveGroups = try tables.fileHasMembers()
            try tables.scan(&next, most: 4 << 20) { row throws(SQLiteError) in
                guard row.isIntact(tables.checksum) else { return damaged += 1 }
                output.add(
                    row,
                    in: haveGroups ? try tables.groups(of: row.id, revision: row.checksum) : [],
                    options
                )
            }
        }
        scan = next
        return damaged
    }
}

/// The file of an export.
private final class ExportOutput {
    private let file: FileHandle
    private let url: URL?
    private let buffer = LineBuffer()
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

    /// There is something else at the path.
    private struct NoExport: Error {}

    /// - Parameters:
    ///   - head: The first line of the export.
    ///   - archives: The names of the archives that are exported.
    init(
        _ url: URL,
        resuming: Bool,
        head: String,
        archives: [String]
    ) throws(VellumError) {
        self.url = url
        guard !FilePaths.isOfSideFile(url.lastPathComponent) else { throw .isOfSideFile(url) }
        let descriptor = open(
            url.path,
            O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (resuming ? 0 : O_EXCL),
            0o600
        )
        guard descriptor >= 0 else {
            let reason =
                errno == EEXIST
                ? "There is a file at this path already."
                : "The file cannot be created: \(String(cString: strerror(errno)))."
            throw VellumError(.cannotOpen, reason, path: url.path)
        }
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        if resuming { try resume(Data(head.utf8), archives) }
    }

    init(_ file: FileHandle) {
        self.file = file
        url = nil
    }

    func close() {
        do {
            try buffer.finish()
            try file.close()
        } catch {
            Log.warning("The file of an export could not be closed.")
        }
    }

    /// Reads how far the interrupted export came, and cuts off a line that is not whole.
    private func resume(_ head: Data, _ archives: [String]) throws(VellumError) {
        do {
            var status = stat()
            guard fstat(file.fileDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG
            else { throw NoExport() }
            var length = 0
            var reader = LineReader(file)
            while let line = try reader.next() {
                // What is no export of such a file is not written over.
                guard
                    length > 0
                        || (line.isWhole
                            ? head == line.bytes + [UInt8(ascii: "\n")]
                            : head.starts(with: line.bytes))
                else {
                    throw NoExport()
                }
                guard line.isWhole else { break }
                let parsed = try ImportLine.decoder.decode(ImportLine.self, from: line.bytes)
                if parsed.entries != nil { break }
                length += line.bytes.count + 1
                found.isEmpty = false
                if let archive = parsed.archive {
                    // The rest would begin again with the first archive.
                    guard archives.contains(archive) else { throw NoExport() }
                    found = Found(archive: archive, isEmpty: false)
                }
                if let id = parsed.id {
                    found.after = id
                    entries += 1
                }
            }
            try file.truncate(atOffset: UInt64(length))
            try file.seek(toOffset: UInt64(length))
        } catch {
            throw VellumError(
                .cannotOpen,
                """
                What is at this path is no export of this file and these archives that can be \
                resumed. Choose the same archives and values, or begin another export.
                """,
                path: url?.path,
                cause: error
            )
        }
    }

    // MARK: Adding

    func add(_ text: String) { buffer.add(text: text) }

    func add(_ row: EntryParts, in groups: [String], _ options: ArchiveFile.ExportOptions) {
        entries += 1
        let key = row.key
        let bytes = row.bytes
        buffer.add("{\"id\":")
        buffer.add(row.id)
        buffer.add(",\"key\":")
        addQuoted(key)
        buffer.add(",\"recorded\":")
        buffer.add(moment: row.written)
        if let expires = row.expires {
            buffer.add(",\"expires\":")
            if expires == .max { buffer.add("null") } else { buffer.add(moment: expires) }
        }
        if let idle = row.idle {
            buffer.add(",\"idle\":")
            buffer.add(idle)
        }
        if row.typeVersion != 0 {
            buffer.add(",\"version\":")
            buffer.add(row.typeVersion)
        }
        if !groups.isEmpty { add(",\"groups\":" + JSONText.list(groups.sorted())) }
        buffer.add(",\"data\":\"")
        buffer.add(base64: bytes)
        buffer.add("\"")
        if options.includesJSON {
            add(",\"value\":" + RawCodec.value(of: Data(bytes)).json())
        }
        buffer.add("}\n")
    }

    private func addQuoted(_ key: UnsafeRawBufferPointer) {
        // Most keys need no escapes.
        guard !key.allSatisfy({ 0x20..<0x7F ~= $0 && $0 != 0x22 && $0 != 0x5C }) else {
            buffer.add("\"")
            buffer.add(key)
            return buffer.add("\"")
        }
        add(CBORValue.quoted(String(decoding: key, as: UTF8.self)))
    }

    /// - Parameter isLast: Whether to wait until everything is written.
    func write(isLast: Bool = false) throws(VellumError) {
        do {
            try buffer.empty(into: file.fileDescriptor)
            if isLast { try buffer.finish() }
        } catch {
            let code = (error as? POSIXError)?.code ?? .EIO
            let isFull = code == .ENOSPC || code == .EDQUOT
            throw VellumError(
                isFull ? .diskFull : .inputOutput,
                "The export could not be written: \(String(cString: strerror(code.rawValue))).",
                path: url?.path,
                cause: error
            )
        }
    }
}
