public import Foundation
public import MiniCache
public import Vellum
public import VellumCore
internal import VellumEngine

extension ArchiveFile {
    /// Copies the file, as it is at one moment, to a new file, while this process and others write.
    ///
    /// ```swift
    /// let file = try ArchiveFile(at: url)
    /// try file.backup(to: copy) { progress in
    ///     print(progress.completed, "of", progress.total, "bytes")
    /// }
    /// ```
    ///
    /// The copy is one file without a log, which holds everything: objects, indexes, limits, ages,
    /// versions and the order of use. It can be opened by `ArchivesFactory(directory:)` once it has
    /// the name `Archives.sqlite`, and by `ArchivesFactory(readingOnly:)` wherever it lies, also
    /// where nothing can be written. Only its owner can read it (mode 0600).
    ///
    /// Blocks for the disk, in portions of at most 4 MB, and holds one snapshot meanwhile: nobody
    /// waits for it, and the log of the file grows until it has ended. Relaxed writes of this
    /// process are committed first; those of another process may be missing if they were recorded a
    /// moment ago. Does not affect the eviction order.
    ///
    /// The copy gets its name when it is whole and synced: after a `kill -9` or power loss it is
    /// there, or is not. A process that was killed leaves a folder named `.vellum-backup-` and
    /// sixteen digits, which the next backup into that folder removes.
    ///
    /// - Parameters:
    ///   - url: Where the copy will be. Nothing may lie there, the folder must exist, and the name
    ///     must not end like that of a file beside a database, such as `-wal` or `-damaged`.
    ///   - progress: Called on the caller's thread after each portion, with bytes. Throws to
    ///     cancel: no file is left then.
    /// - Complexity: O(size of the file).
    /// - Throws: ``VellumError``: with the code ``VellumError/Code/cannotOpen`` if the target is
    ///   taken or refused, or its folder is missing, ``VellumError/Code/diskFull``,
    ///   ``VellumError/Code/damagedFile`` if the file cannot be read. No file is left. And what
    ///   `progress` throws.
    public func backup(to url: URL, progress: (Progress) throws -> Void = { _ in }) throws {
        try Backup.run(of: file, to: url, progress)
    }

    /// Gives what the file does not use back to the disk: free pages, and what is left of archives
    /// that were emptied.
    ///
    /// Blocks for the disk. Works in small transactions, between which this process and others
    /// write, then copies the log into the file and truncates both. Programs do most of it by
    /// themselves in the background, as far as a quarter of the file is unused. A file that another
    /// program reads for long gets shorter when that has ended. What it has done survives
    /// `kill -9`, and the rest can be done later.
    ///
    /// - Complexity: O(size of the file).
    /// - Throws: ``VellumError``: with the code ``VellumError/Code/readOnly`` if the file was not
    ///   opened for writing, ``VellumError/Code/busy`` if another program keeps the log from being
    ///   copied for 10 seconds, or if the disk fails.
    public func compact() throws(VellumError) { try file.compact() }
}

extension ArchiveFile {
    /// Puts a copy of a backup in the place of a file, of whatever kind: one step that cannot leave
    /// a part of the old file beside the new one.
    ///
    /// ```swift
    /// try factory.close()
    /// let old = try ArchiveFile.restore(from: backup, to: file)
    /// ```
    ///
    /// Copies the backup, which stays as it is, reads and checks every object of the copy, syncs
    /// it, moves the old file aside with its log and everything else beside it, and gives the copy
    /// its name. No program may have the file open, or open it before the copy is checked. The old
    /// file is not deleted. After a `kill -9` or power loss the next opening finds the old file, or
    /// finishes the step and finds the new one. A folder may be left as by
    /// ``backup(to:progress:)``.
    ///
    /// Blocks for the disk. Other files can be opened and closed meanwhile. Keeps limits, ages,
    /// versions and the order of use as the backup has them.
    ///
    /// - Parameters:
    ///   - backup: A file that `backup(to:)` made, or one that was closed.
    ///   - url: The file, `Archives.sqlite` in the folder of a factory or `NAME.sqlite` of a
    ///     manager. It may be missing or damaged; its folder must exist.
    /// - Returns: Where the old file is now; `nil` if there was none.
    /// - Complexity: O(size of the backup).
    /// - Throws: ``VellumError``: with the code ``VellumError/Code/busy`` if a program has the file
    ///   open, ``VellumError/Code/damagedFile`` if the backup is damaged,
    ///   ``VellumError/Code/wrongKind`` if the file holds something else,
    ///   ``VellumError/Code/cannotOpen`` or ``VellumError/Code/diskFull``. The old file is
    ///   unchanged.
    @discardableResult
    public static func restore(from backup: URL, to url: URL) throws(VellumError) -> URL? {
        try Restoring.restore(from: backup, to: url)
    }
}

extension ArchivesFactory {
    /// Copies the file of the factory, as it is at one moment, to a new file, while this process
    /// and others write.
    ///
    /// ```swift
    /// try factory.backup(to: folder.appending(path: "today.sqlite"))
    /// ```
    ///
    /// Creates the file of the factory if it is missing. Everything else is as with
    /// ``ArchiveFile/backup(to:progress:)``.
    ///
    /// - Parameters:
    ///   - url: Where the copy will be. Nothing may lie there, and the folder must exist.
    ///   - progress: Called on the caller's thread after each portion, with bytes. Throws to
    ///     cancel: no file is left then.
    /// - Complexity: O(size of the file).
    /// - Throws: ``VellumError``, and what `progress` throws. No file is left then.
    public func backup(
        to url: URL,
        progress: (ArchiveFile.Progress) throws -> Void = { _ in }
    ) throws {
        try Backup.run(of: openFile(), to: url, progress)
    }
}

extension MiniCacheManager {
    /// Copies the file of the manager, as it is at one moment, to a new file, while this process
    /// and others write.
    ///
    /// ```swift
    /// try manager.backup(to: folder.appending(path: "today.sqlite"))
    /// ```
    ///
    /// Creates the file of the manager if it is missing. Everything else is as with
    /// ``ArchiveFile/backup(to:progress:)``.
    ///
    /// - Parameters:
    ///   - url: Where the copy will be. Nothing may lie there, and the folder must exist.
    ///   - progress: Called on the caller's thread after each portion, with bytes. Throws to
    ///     cancel: no file is left then.
    /// - Complexity: O(size of the file).
    /// - Throws: ``VellumError``, and what `progress` throws. No file is left then.
    public func backup(
        to url: URL,
        progress: (ArchiveFile.Progress) throws -> Void = { _ in }
    ) throws {
        try Backup.run(of: openFile(), to: url, progress)
    }
}
