package import Foundation
internal import Synchronization
package import VellumCore

extension DatabaseFile {
    /// What to do about a file that is not a database, or a database of another program (decision
    /// 60).
    package enum ForeignFilePolicy: Sendable {
        /// Throw ``VellumError/Code/notADatabase`` or ``VellumError/Code/foreignFile``, and leave
        /// the file as it is.
        case refuse
        /// Move it aside under a new name, report ``StoreEvent/setAside(to:salvaged:)`` and begin a
        /// new file: for data that can be recreated. A file of a newer version of this package is
        /// still refused.
        case setAside
    }

    /// Opens the archive file at `url`, or creates it and its folder. Handles on one file share the
    /// returned object.
    ///
    /// A damaged archive file is moved aside with its side files, its readable entries are copied
    /// to a new file, and ``StoreEvent/setAside(to:salvaged:)`` is reported to the first store that
    /// is opened. Files are created with mode 0600, folders with 0700.
    ///
    /// A file that is only read is not created, repaired or changed in any way, and nothing beside
    /// it is, but for what SQLite needs to read a database with a log. It is not shared with
    /// handles that write. Writes throw ``VellumError/Code/readOnly``. Each call opens it again.
    ///
    /// - Parameters:
    ///   - kind: What the file holds.
    ///   - url: A file on a local disk. SQLite's locks are unreliable on a network file system:
    ///     there a warning is logged, and ``StoreEvent/onNetwork`` reported.
    ///   - policy: What to do about a file that is not a database, or a database of another
    ///     program.
    ///   - moveAside: Called with the path of a database of another program, before the policy
    ///     applies. Returns whether it moved it away.
    ///   - access: What this process may do with the file.
    ///   - clock: The source of instants. The first handle on a file decides.
    /// - Throws: ``VellumError`` if the file cannot be created or opened, or must not be changed:
    ///   it is not a database, a database of another program, or from a newer version of this
    ///   package. Also for a file to be read that is missing, and for a shipped one with a log.
    /// - Complexity: O(archives in the file), independent of their size.
    package static func open(
        at url: URL,
        kind: FileKind = .archives,
        ifNotADatabase policy: ForeignFilePolicy = .refuse,
        movingAside moveAside: ForeignFileMove? = nil,
        access: FileAccess = .writing,
        clock: WallClock = .system
    ) throws(VellumError) -> DatabaseFile {
        try open(
            at: url,
            Options(
                kind: kind,
                policy: policy,
                moveAside: moveAside,
                clock: clock,
                access: access
            ),
            isHeld: false
        )
    }

    package typealias Access = FileAccess

    /// Returns the file at the URL, if this process has it open to write, whoever opened it.
    package static func opened(at url: URL) -> DatabaseFile? {
        FileRegistry.shared.opened(url.path)
    }

    package typealias ForeignFileMove = @Sendable (_ path: String) throws(VellumError) -> Bool

    /// How a file is opened.
    struct Options {
        var kind: FileKind
        var policy: ForeignFilePolicy
        var moveAside: ForeignFileMove?
        var clock: WallClock
        var attributes = FolderAttributes.unchanged
        var access = FileAccess.writing
    }

    /// Opens the file and, if `isHeld`, counts a hold on it for the caller (``FileHold``).
    static func open(
        at url: URL,
        _ options: Options,
        isHeld: Bool
    ) throws(VellumError) -> DatabaseFile {
        guard url.isFileURL else {
            let kind = url.scheme.map { "it has the scheme \($0)" } ?? "it has no scheme"
            throw VellumError(
                .cannotOpen,
                "The URL does not name a file: \(kind). Give a file URL: URL(fileURLWithPath:)."
            )
        }
        guard !options.access.isReading else {
            return try OpeningToRead(url: url, options: options).open(isHeld: isHeld)
        }
        var path = ""
        do {
            return try FileRegistry.shared.file {
                path = try preparedPath(of: url, options.attributes)
                return try identity(of: path)
            } open: { _ in
                try FileLock.hold(folderOf: path) {
                    try FilePaths.checkAll(path)
                    var options = options
                    // The target of a symbolic link is not moved aside.
                    if FileSystem.isLink(url.path) {
                        options.policy = .refuse
                        options.moveAside = nil
                    }
                    return try open(path, options)
                }
            } holding: { file in
                guard file.kind == options.kind else {
                    throw VellumError.wrongKind(file.kind, wanted: options.kind, file.path)
                }
                if isHeld { file.holds.wrappingAdd(1, ordering: .acquiringAndReleasing) }
            }
        } catch {
            throw openingError(error, url).located(
                archive: nil,
                path: path.isEmpty ? url.path : path
            )
        }
    }

    /// Returns the error that the caller gets for a failed open, with advice.
    package static func openingError(_ error: any Error, _ url: URL) -> VellumError {
        switch error {
        case let error as VellumError: return error
        // The sandbox has the same errors, but does not let the file be seen.
        case let error as SQLiteError
        where (error.isOfLockedDevice || error.mayBeOfLockedDevice)
            && FileSystem.isReadable(url.path):
            return .deviceLocked(cause: error, sqliteCode: error.code)
        case let error as FileError
        where SQLiteError.meansLockedDevice(error.code) && FileSystem.isReadable(error.path):
            return .deviceLocked(cause: error.underlying)
        case let error as SQLiteError where error.isCannotOpen:
            let advice = OpeningProblem(path: url.path, POSIXErrorCode(rawValue: error.systemError))
                .advice
            return VellumError(
                .cannotOpen,
                "The file cannot be opened. \(advice)",
                sqliteCode: error.code,
                cause: error
            )
        case let error as SQLiteError: return VellumError(error)
        case let error as FileError where error.isDiskFull:
            return VellumError(
                .diskFull,
                "There is no space left to open the file. Free some space, then try again.",
                cause: error.underlying
            )
        case let error as FileError where error.step == .opening && error.code == ENOENT:
            return VellumError(
                .cannotOpen,
                """
                \(error.path) is gone: it was removed or renamed while it was being opened. Try \
                again.
                """,
                path: error.path,
                cause: error.underlying
            )
        case let error as FileError:
            let advice = OpeningProblem(path: error.path, error.underlying.code).advice
            return VellumError(
                .cannotOpen,
                "\(error.step.message). \(advice)",
                path: error.path,
                cause: error.underlying
            )
        default:
            return VellumError(
                .cannotOpen,
                "The file cannot be opened. \(OpeningProblem(path: url.path).advice)",
                cause: error
            )
        }
    }

    /// Opens the file at the path, after repairing or replacing it if necessary.
    private static func open(_ path: String, _ options: Options) throws -> DatabaseFile {
        let kind = options.kind
        let policy = options.policy
        let clock = options.clock
        if let pendingEvents = try Recovery.resume(path, kind, at: clock.now()) {
            return try open(path, options, pendingEvents: pendingEvents)
        }
        do {
            guard !Recovery.isMarkedDamaged(path), !Recovery.isLogWithoutDatabase(path) else {
                throw SQLiteError.foundDamaged
            }
            return try open(path, options, pendingEvents: [])
        } catch let error as SQLiteError where error.isDamage {
            guard
                try VellumError(error).code == .damagedFile || policy != .refuse
                    || FileHeader.isOurs(path, kind)
            else {
                throw VellumError(error)
            }
            // One damaged byte must not turn a cache's file into an archive file.
            if let present = try FileHeader.kind(of: path), present != kind {
                throw VellumError.wrongKind(present, wanted: kind, path)
            }
            if VellumError(error).code == .notADatabase, try !Recovery.mayHoldEntries(path, kind) {
                let aside = try Recovery.setAside(path, at: clock.now())
                Log.warning(
                    """
                    The file at \(path) is not a database. It was moved to \(aside), and a new \
                    file was created.
                    """
                )
                return try open(
                    path,
                    options,
                    pendingEvents: [.setAside(to: URL(fileURLWithPath: aside), salvaged: 0)]
                )
            }
            if try Recovery.isSoundAfterAll(path, kind) {
                let file = try open(path, options, pendingEvents: [])
                file.opening.withLock { $0.wasFoundSound = true }
                return file
            }
            return try open(
                path,
                options,
                pendingEvents: try Recovery.repair(path, kind, at: clock.now())
            )
        } catch let error as VellumError where error.code == .foreignFile {
            if let moveAside = options.moveAside, try moveAside(path) {
                return try open(path, options, pendingEvents: [])
            }
            guard policy == .setAside else { throw error }
            let aside = try Recovery.setAside(path, at: clock.now(), as: "foreign")
            Log.warning(
                "A database of another program was moved aside, and a new file was created."
            )
            return try open(
                path,
                options,
                pendingEvents: [.setAside(to: URL(fileURLWithPath: aside), salvaged: 0)]
            )
        }
    }

    private static func open(
        _ path: String,
        _ options: Options,
        pendingEvents: [StoreEvent]
    ) throws -> DatabaseFile {
        // After the old file was set aside there is no file yet.
        _ = try FileSystem.createIfMissing(path)
        CrashPoint.reached(.filePlaced)
        let connection = try Schema.connect(path, options.kind)
        var pendingEvents = pendingEvents
        if FileSystem.isOnNetwork(path) {
            Log.warning(
                """
                An archive is on a network file system, where locks are unreliable. Move it to a \
                local disk.
                """
            )
            pendingEvents.append(.onNetwork)
        }
        let changesFile = try ChangesFile(besides: path)
        try options.attributes.apply(toMappedFile: path + ChangesFile.suffix)
        // The process that marked the file as retired was killed, or found the file intact: it was
        // not set aside.
        if changesFile.page.isRetired { changesFile.page.reset() }
        let location = FileLocation(path, try identity(of: path), changesFile)
        let file = try DatabaseFile(location, options.kind, connection, clock: options.clock)
        file.opening.withLock { $0.events = pendingEvents }
        try file.withWriter { writer throws(SQLiteError) in
            try file.waitForOpenBatches(writer.connection)
        }
        file.scheduleReclaiming()
        return file
    }

    /// Creates the folder and the file if missing, readable only by its owner, and returns the
    /// file's path without symbolic links.
    private static func preparedPath(of url: URL, _ attributes: FolderAttributes) throws -> String {
        let folder = url.deletingLastPathComponent()
        try FileSystem.makeFolder(folder.path)
        try attributes.apply(to: folder)
        let path = try FileSystem.resolved(folder.path) + "/" + url.lastPathComponent
        try FilePaths.checkLength(path)
        // Created here, because SQLite would let other users read it.
        _ = try FileSystem.createIfMissing(path)
        let file = try FileSystem.resolved(path)
        try FilePaths.checkLength(file)
        if let identity = FileIdentity(path: file), !OpenDatabases.shared.isOpen(identity) {
            try attributes.apply(toFiles: ["", "-wal", "-shm"].map { file + $0 })
        }
        return file
    }

    private static func identity(of path: String) throws -> FileIdentity {
        guard let identity = FileIdentity(path: path) else {
            throw FileSystem.lastError(.opening, path)
        }
        return identity
    }
}
