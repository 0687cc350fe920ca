package import Foundation
internal import VellumCore

/// How a file is opened (decision 80).
package enum FileAccess: Sendable {
    /// It may be changed, and is repaired if it is damaged.
    case writing
    /// It is only read. Others may have it open, and write.
    case reading
    /// It is only read, and nobody writes it: a file in the bundle of an app, or in a folder that
    /// cannot be written.
    case shipped

    var isReading: Bool { self != .writing }
}

extension FileAccess {
    /// How a file is read that others may write: one in a folder that nobody can write cannot
    /// change.
    package static func reading(at url: URL) -> FileAccess {
        FileSystem.isUnwritable(folder: FileSystem.folder(of: url.path))
            && FileSystem.size(url.path + "-wal") == 0 ? .shipped : .reading
    }

    /// Whether SQLite may take the database for one that cannot change, so that it needs no lock
    /// and no side file: nobody can write the folder, in which every program that changes the
    /// database makes files (sqlite.org/c3ref/open.html, `immutable`).
    func isImmutable(_ path: String) -> Bool {
        self == .shipped && FileSystem.isUnwritable(folder: FileSystem.folder(of: path))
    }
}

/// Removes the two side files that SQLite makes to read a database whose log is empty, once nobody
/// needs them.
struct ReadingSideFiles: Sendable {
    private let path: String
    private let areOurs: Bool

    /// To be made before the database is opened.
    init(besides path: String) {
        self.path = path
        areOurs =
            FileIdentity(path: path + "-wal") == nil && FileIdentity(path: path + "-shm") == nil
    }

    /// To be called when every connection is closed. As the last connection to a database SQLite
    /// removes both; it does not if the connection may only read. Another program that has the file
    /// open keeps them.
    func remove() {
        guard areOurs, FileSystem.size(path + "-wal") == 0,
            FileIdentity(path: path + "-shm") != nil, FileSystem.isWritable(path)
        else {
            return
        }
        do throws(SQLiteError) {
            _ = try Connection(path: path).int(SQL.tableCount)
        } catch {
            // They are as harmless as those of a process that was killed.
        }
    }
}

extension SQLiteError {
    /// The file is only read. Our own code in the family of SQLITE_READONLY.
    static let onlyRead = SQLiteError(
        code: vanished.primaryCode | (203 << 8),
        message:
            """
            The file is only read: it was opened with 'readingOnly'. Open it with \
            ArchivesFactory(directory:) to change it.
            """
    )

    /// Whether a connection that only reads needs side files, and can neither make nor use them:
    /// SQLITE_READONLY_DIRECTORY, for example. SQLite has no other reason for such an error there.
    var cannotMakeSideFiles: Bool {
        primaryCode == Self.onlyRead.primaryCode && code != Self.onlyRead.code
            && code != Self.vanished.code
    }

    /// A file that is only read does not have the archive.
    static let noSuchArchive = SQLiteError(
        code: onlyRead.code,
        message: """
            The file has no such archive, and is only read, so none is made. Record objects of the \
            type with ArchivesFactory(directory:) before the file is shipped, or give the type the \
            'archiveName' that the file has.
            """
    )
}
