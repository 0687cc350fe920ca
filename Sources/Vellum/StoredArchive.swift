public import Foundation
public import VellumCore
internal import VellumEngine

/// An archive that a factory's file has, whether or not it is open.
public struct StoredArchive: Hashable, Sendable {
    /// The name of the archive: ``Archivable/archiveName`` of its type.
    public let name: String
    /// The version of the type that the newest object was recorded with (``VersionedArchive``); 0
    /// for a type without one.
    public let version: Int
    /// How many objects there are, and the sum of their encoded bytes.
    public let usage: StorageUsage
    /// When an object was last recorded or accessed.
    public let lastUsed: Date?
}

extension ArchivesFactory {
    /// Returns the archives in this factory's file that hold objects, in the order of their
    /// creation; none if there is no file.
    ///
    /// ```swift
    /// for archive in try factory.archives() {
    ///     print(archive.name, archive.version, archive.usage)
    /// }
    /// ```
    ///
    /// Opens the file, and blocks for the disk. Does not affect the eviction order. Finds the
    /// archive of a type that was renamed without ``VersionedArchive/formerArchiveNames``.
    ///
    /// - Complexity: O(a log n) for a archives.
    /// - Throws: ``VellumError`` if the file cannot be opened or read.
    public func archives() throws -> [StoredArchive] {
        guard hasFile else { return [] }
        return try openFile().archiveList().filter {
            $0.usage.entries > 0 && !$0.name.hasPrefix("\u{1}")
        }.map {
            StoredArchive(
                name: $0.name,
                version: Int(clamping: $0.typeVersion),
                usage: $0.usage,
                lastUsed: $0.lastUsed
            )
        }
    }

    /// Deletes an archive with all its objects, in one transaction. Its space is returned in the
    /// background.
    ///
    /// Blocks for the disk; survives `kill -9` once it has returned. Another program that has the
    /// archive open finds it empty, and keeps its disk limit.
    ///
    /// - Parameter name: As ``archives()`` lists it.
    /// - Returns: Whether there was such an archive.
    /// - Complexity: O(log n).
    /// - Throws: ``VellumError``, with the code ``VellumError/Code/contradiction`` if the archive
    ///   is open in this program, or if the disk fails. Nothing is deleted then.
    @discardableResult
    public func drop(archiveNamed name: String) throws -> Bool {
        guard hasFile else { return false }
        return try openFile().dropArchive(named: name)
    }

    /// Whether the file is open or exists: none is created to be listed.
    private var hasFile: Bool {
        state.withLock { $0.file != nil } || place.shippedFile != nil
            || FileManager.default.fileExists(atPath: fileURL.path)
    }
}
