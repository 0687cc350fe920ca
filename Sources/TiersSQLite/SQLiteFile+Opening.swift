public import Foundation
public import Tiers

extension SQLiteFile {
    /// What to do about a file that is no database.
    public enum ForeignFilePolicy: Sendable {
        /// Throw ``StoreError/Code/notADatabase`` and leave the file as it is.
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
    ///   - url: A file on a local disk. On a network file system SQLite's locks cannot be trusted; a warning is logged.
    ///   - policy: What to do about a file that is no database at all.
    ///   - original: How to take over the entries of a file of the original MiniCache, which is then kept aside and reported as
    ///     ``StoreEvent/setAside(to:salvaged:)``; `nil` takes it for a database of another program.
    ///   - clock: Where instants come from. The first handle decides.
    /// - Throws: ``StoreError`` if the file cannot be made or opened, or is one that we must not touch: no database, a
    ///   database of another program, or one of a newer version of this package.
    /// - Complexity: O(archives in the file), whatever they hold.
    public static func open(
        at url: URL, ifNotADatabase policy: ForeignFilePolicy = .refuse, takingOver original: OriginalCache? = nil,
        clock: WallClock = .system
    ) throws(StoreError) -> SQLiteFile {
        guard url.isFileURL else { throw StoreError(.cannotOpen, "An archive lies in a file of this machine: give a file URL.") }
        var path = ""
        do {
            return try FileRegistry.shared.file {
                path = try place(of: url)
                return try identity(of: path)
            } open: { identity in
                let takeover = original.map { Takeover(path: path, original: $0) }
                let identity = try takeover?.resume() == true ? try self.identity(of: path) : identity
                do {
                    guard !Recovery.isMarkedDamaged(path), !Recovery.isLogWithoutDatabase(path) else { throw SQLiteError.foundDamaged }
                    return try open(path, identity, news: [], clock)
                } catch let error as SQLiteError where error.isDamage {
                    guard try StoreError(error).code == .damagedFile || policy != .refuse || FileHeader.isOurs(path) else {
                        throw StoreError(error)
                    }
                    let aside = try Recovery.setAside(path, at: clock.now())
                    let fresh = try self.identity(of: try place(of: url))
                    let salvaged = try Recovery.salvage(aside, into: path, at: clock.now())
                    return try open(path, fresh, news: [.setAside(to: URL(fileURLWithPath: aside), salvaged: salvaged)], clock)
                } catch let error as StoreError where error.code == .foreignFile {
                    var news: [StoreEvent] = []
                    if let taken = try takeover?.news(identity, at: clock.now()) {
                        news = taken
                    } else {
                        guard policy == .setAsideAlways else { throw error }
                        let aside = try Recovery.setAside(path, at: clock.now(), as: "foreign")
                        Log.warning("A database of another program was set aside for a new file.")
                        news = [.setAside(to: URL(fileURLWithPath: aside), salvaged: 0)]
                    }
                    return try open(path, try self.identity(of: try place(of: url)), news: news, clock)
                }
            }
        } catch let error as StoreError {
            throw error
        } catch let error as SQLiteError {
            throw StoreError(error)
        } catch {
            throw StoreError(.cannotOpen, "The archive file cannot be made or opened. Check that its folder can be written.", cause: error)
        }
    }

    private static func open(_ path: String, _ identity: FileIdentity, news: [StoreEvent], _ clock: WallClock) throws -> SQLiteFile {
        let connection = try Connection(path: path)
        try Schema.prepare(connection)
        if connection.isReadOnly, FileSystem.isWritable(path) {
            throw SQLiteError(code: SQLiteError.corrupt, message: "The header of the file says that it cannot be written.")
        }
        return try SQLiteFile(path: path, identity: identity, connection: connection, news: news, clock: clock)
    }

    /// Makes sure that there is a file, readable by its owner alone, and returns its path without symbolic links.
    private static func place(of url: URL) throws -> String {
        let folder = url.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = try FileSystem.resolved(folder.path) + "/" + url.lastPathComponent
        // Made here, because SQLite would let others read it.
        if try FileSystem.createIfMissing(path), FileSystem.isOnNetwork(path) {
            Log.warning("An archive lies on a network file system, where its locks cannot be trusted. Move it to a local disk.")
        }
        return try FileSystem.resolved(path)
    }

    private static func identity(of path: String) throws -> FileIdentity {
        guard let identity = FileIdentity(path: path) else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return identity
    }
}
