internal import CSQLiteConfig
internal import Foundation
internal import VellumCore
internal import VellumEngine

/// Copies a file, as it is at one moment, to a new one that is whole whenever it is there.
///
/// The copy is written beside the target under a name of its own, whose file is locked, made
/// readable without a log, checked, synced, and renamed. A process that is killed leaves that name
/// at most, which the next backup into the folder removes.
///
/// The copy is checked by opening it and comparing its schema and its number of pages. Its pages
/// are those of the snapshot, byte by byte: reading all of them again, as SQLite's `quick_check`
/// does, would find what is wrong with the source, for which there is ``ArchiveFile/verify()``.
struct Backup {
    private let source: FileLocation
    private let kind: FileKind
    private let url: URL
    private let files: FileSystem

    /// How many pages are copied between two calls of the progress, at most 4 MB.
    private static let portion: Int32 = 1024

    /// - Parameter files: Syncs the copy, and its name (decision 93).
    init(of source: FileLocation, _ kind: FileKind, to url: URL, files: FileSystem = .system) {
        self.source = source
        self.kind = kind
        self.url = url
        self.files = files
    }

    /// Copies a file that is open.
    ///
    /// - Parameter progress: Called after each portion, with the bytes that are copied and the
    ///   bytes of the file. Throws to cancel.
    /// - Throws: ``VellumError`` if the disk fails, or something lies at the target; and what
    ///   `progress` throws. Nothing is left then.
    static func run(
        of file: DatabaseFile,
        to url: URL,
        files: FileSystem = .system,
        _ progress: (ArchiveFile.Progress) throws -> Void
    ) throws {
        try file.withUsableFile { () throws(SQLiteError) in
            // A backup has what was acknowledged, and the order in which entries are evicted.
            try file.commitBatch()
            try file.writeAllTouches()
        }
        let backup = Backup(of: file.location, file.kind, to: url, files: files)
        try backup.run { try progress(ArchiveFile.Progress(completed: $0, total: $1)) }
    }

    private func run(_ progress: (_ copied: Int, _ total: Int) throws -> Void) throws {
        let target = try checkedTarget()
        let copy = try locating(target) { try NewFile.create(for: target) }
        defer { copy.close() }
        CrashPoint.reached(.backupCreated)
        do {
            try write(copy, target, progress)
        } catch {
            copy.remove()
            throw error
        }
    }

    /// Copies a file to an empty one, and syncs that.
    static func copy(_ source: FileLocation, _ kind: FileKind, to path: String) throws {
        let backup = Backup(of: source, kind, to: URL(fileURLWithPath: path))
        let pages = try backup.copyPages(to: path, path) { _, _ in }
        let copy = try NewFile.opened(path)
        defer { copy.close() }
        try copy.withoutLog()
        try backup.check(path, pages: pages)
        try copy.sync(by: backup.files)
    }

    private func write(
        _ copy: NewFile,
        _ target: String,
        _ progress: (_ copied: Int, _ total: Int) throws -> Void
    ) throws {
        let pages = try copyPages(to: copy.path, target, progress)
        CrashPoint.reached(.backupCopied)
        try locating(target) {
            try copy.withoutLog()
            try check(copy.path, pages: pages)
            try copy.sync(by: files)
        }
        CrashPoint.reached(.backupSynced)
        try locating(target) {
            do {
                try copy.move(to: target)
            } catch let error as FileError where error.code == EEXIST {
                throw VellumError.targetExists(target)
            }
            CrashPoint.reached(.backupInPlace)
            try files.syncNames(beside: target)
        }
    }

    /// - Returns: How many pages the copy has.
    private func copyPages(
        to path: String,
        _ target: String,
        _ progress: (_ copied: Int, _ total: Int) throws -> Void
    ) throws -> Int {
        var pages = 0
        // What the caller throws is not an error of a file.
        var cancelled: (any Error)?
        try locating(target) {
            let reading = try source.connect(SQL.readerSettings)
            try reading.execute(SQL.begin)
            // The snapshot is taken by the first read.
            _ = try reading.int(SQL.tableCount)
            let size = try reading.int(SQL.pageSize)?.int ?? 4096
            let writing = try Connection(path: path)
            try writing.execute(SQL.copySettings)
            do {
                try reading.copyDatabase(to: writing, pagesAtOnce: Self.portion) { copied, total in
                    CrashPoint.reached(.backupPortionCopied)
                    pages = total
                    do {
                        try progress(copied * size, total * size)
                    } catch {
                        cancelled = error
                        throw error
                    }
                    // Whoever has suspended the file must not keep a lock on it.
                    guard source.state == .open else {
                        throw source.state == .suspended
                            ? VellumError.suspended : VellumError.closed
                    }
                }
            } catch {
                guard cancelled == nil else { return }
                throw error
            }
        }
        if let cancelled { throw cancelled }
        return pages
    }

    /// Checks that the copy can be opened where nothing can be written.
    private func check(_ path: String, pages: Int) throws {
        let connection = try Connection(path: path, access: .reading)
        try Schema.check(connection, kind)
        let present = try connection.int(SQL.pageCount)?.int ?? 0
        guard !connection.hasLog, present == pages else {
            throw SQLiteError.corrupt("The copy has \(present) pages, not \(pages).")
        }
    }

    // MARK: The target

    /// The path of the target without symbolic links, at which nothing lies.
    private func checkedTarget() throws(VellumError) -> String {
        guard url.isFileURL, !url.lastPathComponent.isEmpty, url.path != "/" else {
            throw VellumError(
                .cannotOpen,
                "The URL of a backup does not name a file. Give a file URL: URL(fileURLWithPath:)."
            )
        }
        let folder = url.deletingLastPathComponent().path
        guard FileSystem.isFolder(folder) else {
            throw VellumError(
                .cannotOpen,
                "The folder of a backup is missing. Create it, or choose another.",
                path: folder
            )
        }
        do throws(FileError) {
            let target = try FileSystem.resolved(folder) + "/" + url.lastPathComponent
            try FilePaths.checkLength(target)
            if FileIdentity(path: target) == source.identity {
                throw FileError(.creating, EEXIST, target)
            }
            var status = stat()
            guard lstat(target, &status) != 0 else { throw FileError(.creating, EEXIST, target) }
            for suffix in FilePaths.ofSQLite where lstat(target + suffix, &status) == 0 {
                throw FileError(.creating, EEXIST, target + suffix)
            }
            return target
        } catch {
            throw error.code == EEXIST ? .targetExists(error.path) : located(error, error.path)
        }
    }

    private func locating<Result>(_ target: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw located(error, target)
        }
    }

    private func located(_ error: any Error, _ target: String) -> VellumError {
        if let error = error as? VellumError { return error.located(archive: nil, path: target) }
        if let error = error as? SQLiteError {
            // Only the file that is copied can be damaged.
            return VellumError(error).located(
                archive: nil,
                path: error.isDamage ? source.path : target
            )
        }
        if let error = error as? FileError, error.isDiskFull {
            return VellumError(
                .diskFull,
                "There is no space left for the backup. Free some space, then try again.",
                path: target,
                cause: error
            )
        }
        return VellumError(
            .cannotOpen,
            "The backup cannot be written. \(error)",
            path: target,
            cause: error
        )
    }
}

/// The file into which a backup is written, which has another name until it is whole.
private struct NewFile {
    let path: String
    /// Has a lock, so that no other backup takes the file for one of a process that was killed.
    private let descriptor: Int32

    /// What follows the name of the target: this, and sixteen digits.
    private static let infix = ".backup-"
    private static let digits = 16

    /// Creates a file beside the target, and removes those of processes that were killed.
    static func create(for target: String) throws -> NewFile {
        // Nobody sees it before it is locked.
        try FileLock.hold(folderOf: target) {
            removeAbandoned(in: FileSystem.folder(of: target))
            let number = String(UInt64.random(in: 0 ... .max), radix: 16)
            let path =
                target + infix + String(repeating: "0", count: digits - number.count) + number
            StandardStreams.hold()
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw FileSystem.lastError(.creating, path) }
            // A file system without such locks never gives one to others.
            _ = flock(descriptor, LOCK_EX | LOCK_NB)
            return NewFile(path: path, descriptor: descriptor)
        }
    }

    static func opened(_ path: String) throws(FileError) -> NewFile {
        guard let descriptor = FileSystem.opened(path) else {
            throw FileSystem.lastError(.opening, path)
        }
        return NewFile(path: path, descriptor: descriptor)
    }

    private static func removeAbandoned(in folder: String) {
        guard case .value(let entries) = folder.withCString({ SystemCalls.list($0) }) else {
            return
        }
        for entry in entries where entry.kind == .file && isOfBackup(entry.name) {
            let path = folder + "/" + String(decoding: entry.name, as: UTF8.self)
            let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            var status = stat()
            if fstat(descriptor, &status) == 0, status.st_uid == geteuid(),
                status.st_mode & 0o7777 == 0o600, status.st_nlink == 1,
                flock(descriptor, LOCK_EX | LOCK_NB) == 0
            {
                _ = path.withCString { SystemCalls.unlink($0) }
            }
            _ = SystemCalls.close(descriptor)
        }
    }

    private static func isOfBackup(_ name: [UInt8]) -> Bool {
        let hexadecimal = Set("0123456789abcdef".utf8)
        return name.count > infix.utf8.count + digits
            && name.suffix(digits).allSatisfy(hexadecimal.contains)
            && name.dropLast(digits).suffix(infix.utf8.count).elementsEqual(infix.utf8)
    }

    /// Says in the header that the database has no log (sqlite.org/fileformat2.html, 1.3.3), so
    /// that SQLite reads it without side files. No connection has it open.
    func withoutLog() throws(FileError) {
        guard pwrite(descriptor, [1, 1] as [UInt8], 2, 18) == 2 else {
            throw FileSystem.lastError(.writing, path)
        }
    }

    func sync(by files: FileSystem) throws(FileError) {
        let answer = files.call.sync(descriptor, .creating)
        guard answer == 0 else { throw FileError(.syncing, answer, path) }
    }

    /// Gives the file its name, if that is not taken.
    func move(to target: String) throws(FileError) {
        var code = vellum_rename_new(path, target)
        // Such a file system may have hard links. A process that is killed in between leaves both
        // names.
        if code == ENOTSUP {
            code = link(path, target) == 0 ? unlink(path) == 0 ? 0 : errno : errno
        }
        guard code == 0 else { throw FileError(.renaming, code, target) }
    }

    func remove() { _ = path.withCString { SystemCalls.unlink($0) } }

    func close() { _ = SystemCalls.close(descriptor) }
}

extension VellumError {
    fileprivate static func targetExists(_ path: String) -> VellumError {
        VellumError(
            .cannotOpen,
            """
            The path of a backup is taken, and a backup replaces nothing. Choose another name, or \
            move away what is there.
            """,
            path: path
        )
    }
}
