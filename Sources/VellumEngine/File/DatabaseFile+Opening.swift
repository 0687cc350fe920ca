package import Foundation
internal import Synchronization
package import VellumCore

extension DatabaseFile {
    /// What to do about a file that is no database.
    package enum ForeignFilePolicy: Sendable {
        /// Throw ``VellumError/Code/notADatabase`` and leave the file as it is.
        case refuse
        /// Move it aside under a new name, report ``StoreEvent/setAside(to:salvaged:)`` and begin a new file.
        case setAside
        /// The same, and also for a database of another program: for what can be made anew. One of a newer version of this package
        /// is refused all the same.
        case setAsideAlways
    }

    /// Opens the archive file at `url`, or makes one, with its folder. Handles on one file share what this returns.
    ///
    /// A damaged archive file is moved aside with its side files, what can be read of it is taken over into a new one, and
    /// ``StoreEvent/setAside(to:salvaged:)`` is reported to the first store that is opened. Files are made with mode 0600,
    /// folders with 0700.
    ///
    /// - Parameters:
    ///   - kind: What the file holds.
    ///   - url: A file on a local disk. On a network file system SQLite's locks cannot be trusted: a warning is logged, and
    ///     ``StoreEvent/onNetwork`` reported.
    ///   - policy: What to do about a file that is no database at all.
    ///   - original: How to take over the entries of a file of the original MiniCache, which is then kept aside and reported as
    ///     ``StoreEvent/setAside(to:salvaged:)``; `nil` takes it for a database of another program.
    ///   - clock: Where instants come from. The first handle decides.
    /// - Throws: ``VellumError`` if the file cannot be made or opened, or is one that we must not touch: no database, a
    ///   database of another program, or one of a newer version of this package.
    /// - Complexity: O(archives in the file), whatever they hold.
    package static func open(
        at url: URL, kind: FileKind = .archives, ifNotADatabase policy: ForeignFilePolicy = .refuse,
        takingOver original: OriginalCache? = nil, clock: WallClock = .system
    ) throws(VellumError) -> DatabaseFile {
        try open(at: url, kind: kind, ifNotADatabase: policy, takingOver: original, isHeld: false, clock: clock)
    }

    /// The same, for a handle that holds the file (``FileHold``) or not.
    static func open(
        at url: URL, kind: FileKind, ifNotADatabase policy: ForeignFilePolicy, takingOver original: OriginalCache?, isHeld: Bool,
        clock: WallClock
    ) throws(VellumError) -> DatabaseFile {
        guard url.isFileURL else { throw VellumError(.cannotOpen, "The URL does not name a file of this machine. Give a file URL.") }
        var path = ""
        do {
            return try FileRegistry.shared.file {
                path = try place(of: url)
                return try identity(of: path)
            } open: { _ in
                try FolderLock.hold(folderOf: path) {
                    try FilePaths.checkAll(path)
                    // What a symbolic link leads to is not moved aside.
                    let policy = FileSystem.isLink(url.path) ? .refuse : policy
                    return try open(path, kind, policy, original.map { Takeover(path: path, original: $0) }, clock)
                }
            } holding: { file in
                guard file.kind == kind else { throw VellumError.wrongKind(file.kind, wanted: kind, file.path) }
                if isHeld { file.holds.wrappingAdd(1, ordering: .acquiringAndReleasing) }
            }
        } catch {
            throw openingError(error, url).located(archive: nil, path: path.isEmpty ? url.path : path)
        }
    }

    /// What a caller is told of an opening that failed.
    private static func openingError(_ error: any Error, _ url: URL) -> VellumError {
        switch error {
        case let error as VellumError: return error
        case let error as SQLiteError where error.isCannotOpen:
            let advice = OpeningProblem(path: url.path).advice
            return VellumError(.cannotOpen, "The file cannot be opened. \(advice)", sqliteCode: error.code, cause: error)
        case let error as SQLiteError: return VellumError(error)
        case let error as FileError where error.isDiskFull:
            return VellumError(
                .diskFull, "There is no space left to open the file. Free some space, then try again.", cause: error.underlying)
        case let error as FileError:
            let advice = OpeningProblem(path: error.path, error.underlying.code).advice
            return VellumError(.cannotOpen, "\(error.step.message). \(advice)", path: error.path, cause: error.underlying)
        default:
            return VellumError(.cannotOpen, "The file cannot be opened. \(OpeningProblem(path: url.path).advice)", cause: error)
        }
    }

    /// Opens what lies at the path, after mending it where it must be.
    private static func open(
        _ path: String, _ kind: FileKind, _ policy: ForeignFilePolicy, _ takeover: Takeover?, _ clock: WallClock
    ) throws -> DatabaseFile {
        _ = try takeover?.resume()
        if let pendingEvents = try Recovery.resume(path, kind, at: clock.now()) {
            return try open(path, kind, pendingEvents: pendingEvents, clock)
        }
        do {
            guard !Recovery.isMarkedDamaged(path), !Recovery.isLogWithoutDatabase(path) else { throw SQLiteError.foundDamaged }
            return try open(path, kind, pendingEvents: [], clock)
        } catch let error as SQLiteError where error.isDamage {
            guard try VellumError(error).code == .damagedFile || policy != .refuse || FileHeader.isOurs(path, kind) else {
                throw VellumError(error)
            }
            // One damaged byte must not make archives of a cache's file.
            if let present = try FileHeader.kind(of: path), present != kind { throw VellumError.wrongKind(present, wanted: kind, path) }
            if VellumError(error).code == .notADatabase, try !Recovery.mayHoldEntries(path, kind) {
                let aside = try Recovery.setAside(path, at: clock.now())
                Log.warning("A file that is no database lay at \(path). It was moved to \(aside), and a new file was begun.")
                return try open(path, kind, pendingEvents: [.setAside(to: URL(fileURLWithPath: aside), salvaged: 0)], clock)
            }
            if try Recovery.isSoundAfterAll(path, kind) { return try open(path, kind, pendingEvents: [], clock) }
            return try open(path, kind, pendingEvents: try Recovery.repair(path, kind, at: clock.now()), clock)
        } catch let error as VellumError where error.code == .foreignFile {
            if let pendingEvents = try takeover?.run(try identity(of: path), at: clock.now()) {
                return try open(path, kind, pendingEvents: pendingEvents, clock)
            }
            guard policy == .setAsideAlways else { throw error }
            let aside = try Recovery.setAside(path, at: clock.now(), as: "foreign")
            Log.warning("A database of another program was set aside for a new file.")
            return try open(path, kind, pendingEvents: [.setAside(to: URL(fileURLWithPath: aside), salvaged: 0)], clock)
        }
    }

    private static func open(_ path: String, _ kind: FileKind, pendingEvents: [StoreEvent], _ clock: WallClock) throws -> DatabaseFile {
        // Where the old one was set aside there is none yet.
        _ = try FileSystem.createIfMissing(path)
        CrashPoint.reached(.filePlaced)
        let connection = try connect(path, kind)
        var pendingEvents = pendingEvents
        if FileSystem.isOnNetwork(path) {
            Log.warning("An archive lies on a network file system, where its locks cannot be trusted. Move it to a local disk.")
            pendingEvents.append(.onNetwork)
        }
        let changes = try ChangesFile(besides: path)
        // Whoever was to mend the file was killed, or found it sound: it is not set aside after all.
        if changes.page.isRetired { changes.page.reset() }
        let file = try DatabaseFile(
            path: path, kind: kind, identity: try identity(of: path), connection: connection, changes: changes,
            pendingEvents: pendingEvents, clock: clock)
        try file.withWriter { (writer) throws(SQLiteError) in try file.waitForOpenBatches(writer) }
        return file
    }

    /// A connection to a file of ours.
    static func connect(_ path: String, _ kind: FileKind) throws -> Connection {
        let connection = try Connection(path: path)
        CrashPoint.reached(.fileConnected)
        try Schema.prepare(connection, kind)
        if connection.isReadOnly, FileSystem.isWritable(path) {
            throw SQLiteError(code: SQLiteError.corrupt, message: "The header of the file says that it cannot be written.")
        }
        return connection
    }

    /// Makes sure that there is a file, readable by its owner alone, and returns its path without symbolic links.
    private static func place(of url: URL) throws -> String {
        let folder = url.deletingLastPathComponent()
        try FileSystem.makeFolder(folder.path)
        let path = try FileSystem.resolved(folder.path) + "/" + url.lastPathComponent
        // Made here, because SQLite would let others read it.
        _ = try FileSystem.createIfMissing(path)
        return try FileSystem.resolved(path)
    }

    private static func identity(of path: String) throws -> FileIdentity {
        guard let identity = FileIdentity(path: path) else { throw FileSystem.lastError(.opening, path) }
        return identity
    }
}
