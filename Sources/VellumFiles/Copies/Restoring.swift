package import Foundation
package import VellumCore
internal import VellumEngine

/// Puts a copy of a backup in the place of a file, so that no log and no other part of the old file
/// stays beside it.
///
/// The copy is written and checked as an ``UnfinishedCopy``, while this process and others open and
/// close what they like: that takes minutes for a large file. Then it waits to be put in place as
/// the replacement of a damaged file does: whoever opens the file after a process was killed
/// finishes it. Before that moment the old file is there, after it the new one.
package struct Restoring {
    private let source: DatabaseFile
    private let path: String

    /// Restores the file at a URL.
    ///
    /// - Parameter progress: Called after each portion of the copy, with the bytes that are copied
    ///   and those of the backup.
    /// - Returns: Where the old file is now, with its side files; `nil` if there was none.
    /// - Throws: ``VellumError``, with the code ``VellumError/Code/busy`` if a program has the file
    ///   open. The old file is unchanged then.
    package static func restore(
        from backup: URL,
        to url: URL,
        _ progress: (_ copied: Int, _ total: Int) throws -> Void = { _, _ in }
    ) throws(VellumError) -> URL? {
        let source = try openBackup(backup)
        do {
            let aside = try Restoring(source: source, path: try path(of: url)).run(progress)
            try source.close()
            return aside.map { URL(fileURLWithPath: $0) }
        } catch {
            throw DatabaseFile.openingError(error, url).located(archive: nil, path: url.path)
        }
    }

    private static func openBackup(_ url: URL) throws(VellumError) -> DatabaseFile {
        var last = VellumError.closed
        for kind in FileKind.allCases {
            do throws(VellumError) {
                return try DatabaseFile.open(at: url, kind: kind, access: .shipped)
            } catch {
                guard error.code == .wrongKind else { throw error }
                last = error
            }
        }
        throw last
    }

    private static func path(of url: URL) throws -> String {
        guard url.isFileURL else {
            throw VellumError(
                .cannotOpen,
                "The URL does not name a file. Give a file URL: URL(fileURLWithPath:)."
            )
        }
        guard !FilePaths.isOfSideFile(url.lastPathComponent) else {
            throw VellumError.isOfSideFile(url)
        }
        let folder = url.deletingLastPathComponent().path
        guard FileSystem.isFolder(folder) else {
            throw VellumError(
                .cannotOpen,
                "The folder of the file is missing. Create it, or choose another.",
                path: folder
            )
        }
        let path = try FileSystem.resolved(folder) + "/" + url.lastPathComponent
        try FilePaths.checkLength(path)
        return path
    }

    private func run(_ progress: Backup.Portion) throws -> String? {
        // Nobody waits for a copy of a file that cannot be replaced.
        try FileRegistry.shared.opening.withLock { _ in try checkTarget() }
        let copy = try Backup(of: source.location, source.kind, to: URL(fileURLWithPath: path))
            .whole(beside: path, progress)
        do {
            try check(copy.path)
        } catch {
            copy.close()
            throw error
        }
        return try FileRegistry.shared.opening.withLock { _ in
            // Before anybody opens the file in its place: closing a descriptor drops locks.
            defer { copy.close() }
            return try FileLock.hold(folderOf: path) { try exchange(copy) }
        }
    }

    /// Puts the copy in the place of the file, which nobody can open meanwhile.
    private func exchange(_ copy: UnfinishedCopy) throws -> String? {
        let now = source.clock.now()
        try FilePaths.checkAll(path)
        try checkTarget()
        _ = try Recovery.resume(path, source.kind, at: now)
        let replacement = Replacement(of: path)
        try replacement.take(copy.path)
        let wasThere = FileIdentity(path: path) != nil
        let aside = try Recovery.setAside(path, at: now, as: "replaced")
        try replacement.moveToPlace()
        return wasThere ? aside : nil
    }

    /// Checks that nobody has the file open, and that it is not of another kind.
    private func checkTarget() throws {
        guard let identity = FileIdentity(path: path) else { return }
        guard identity != source.location.identity else {
            throw VellumError(
                .cannotOpen,
                "A file cannot be restored from itself. Give the path of a backup.",
                path: path
            )
        }
        guard !OpenDatabases.shared.isConnected(identity) else {
            throw VellumError.isOpen("This program")
        }
        // As a connection does: only then its locks may be queried. Each process that has it open
        // holds a lock on this byte.
        OpenDatabases.shared.add(identity, at: path)
        let holder = OpenDatabases.shared.holder(of: 128..<129, in: identity, at: path)
        OpenDatabases.shared.remove(identity)
        if case .process = holder { throw VellumError.isOpen("Another program") }
        if let present = try FileHeader.kind(of: path), present != source.kind {
            throw VellumError.wrongKind(present, wanted: source.kind, path)
        }
    }

    /// Reads all of the copy.
    private func check(_ path: String) throws {
        let connection = try Connection(path: path, access: .reading)
        try connection.execute(SQL.readerSettings)
        try connection.execute(SQL.verifierSettings)
        try connection.execute(SQL.begin)
        guard try VerificationReport(reading: connection).isIntact else {
            throw VellumError(
                .damagedFile,
                "The backup is damaged. Nothing was restored; choose another backup.",
                path: source.path
            )
        }
    }
}

extension VellumError {
    fileprivate static func isOpen(_ program: String) -> VellumError {
        VellumError(
            .busy,
            "\(program) has the file open. Close it there, then restore it. Nothing was changed."
        )
    }
}
