internal import Foundation
internal import VellumCore
internal import VellumEngine

/// Copies a file, as it is at one moment, to a new one that is whole whenever it is there.
///
/// The copy is an ``UnfinishedCopy`` until it is made readable without a log, checked, synced, and
/// renamed. A process that is killed leaves that at most, which the next backup into the folder
/// removes.
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

    private func run(_ progress: Portion) throws {
        let target = try checkedTarget()
        let copy = try whole(beside: target, progress)
        defer { copy.close() }
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

    typealias Portion = (_ copied: Int, _ total: Int) throws -> Void

    /// Makes a copy that is whole and synced, and has no name yet. The caller closes it.
    func whole(beside target: String, _ progress: Portion) throws -> UnfinishedCopy {
        let copy = try locating(target) { try UnfinishedCopy.create(beside: target) }
        do {
            CrashPoint.reached(.backupCreated)
            let pages = try copyPages(to: copy.path, target, progress)
            CrashPoint.reached(.backupCopied)
            try locating(target) {
                try copy.withoutLog()
                try check(copy.path, pages: pages)
                try copy.sync(by: files)
            }
            CrashPoint.reached(.backupSynced)
            return copy
        } catch {
            copy.close()
            throw error
        }
    }

    /// - Returns: How many pages the copy has.
    private func copyPages(
        to path: String,
        _ target: String,
        _ progress: Portion
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
        guard !FilePaths.isOfSideFile(url.lastPathComponent) else { throw .isOfSideFile(url) }
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

extension VellumError {
    static func isOfSideFile(_ url: URL) -> VellumError {
        VellumError(
            .cannotOpen,
            """
            The name ends like that of a file beside a database, which may be replaced or removed \
            when that is opened. Choose another name.
            """,
            path: url.path
        )
    }

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
