internal import Foundation
package import VellumCore

/// The paths that belong to a database, and the check that each holds a regular file of this user
/// with one name, or nothing.
///
/// Opening a FIFO would block, a hard link or symbolic link would make SQLite write over another
/// file, and two connections to a file with two names would use two logs
/// (sqlite.org/howtocorrupt.html, 2.5).
package enum FilePaths {
    /// The suffixes of the files that SQLite opens beside a database.
    package static let ofSQLite = ["-wal", "-shm", "-journal"]
    /// The suffix of the file in which processes announce changes, and that of a copy with a
    /// repaired header.
    static let changesSuffix = "-changes"
    static let copySuffix = "~repaired"
    /// The suffixes of every file that this package may create beside a database, with SQLite's
    /// side files of each.
    private static let ofRecovery: [String] =
        ofSQLite + [changesSuffix, "-damaged", ".salvaged"]
        + [".salvaging", copySuffix].flatMap { copy in
            ([""] + ofSQLite).map { copy + $0 }
        }

    /// Whether a name ends like that of a file beside a database, also on a volume that ignores
    /// case.
    package static func isOfSideFile(_ name: String) -> Bool {
        let name = name.lowercased()
        return ofRecovery.contains { name.hasSuffix($0) }
    }

    /// The longest name of a database, in bytes: a damaged one gets a longer one
    /// (``Recovery/freeName(_:_:_:)``), and so do its side files.
    static let longestName =
        Int(NAME_MAX) - ".damaged-".utf8.count - "\(Int64.min)-99".utf8.count
        - changesSuffix.utf8.count
    /// The longest path of a database, in bytes. SQLite opens none above 512 with the name of a
    /// journal, also not that of a new copy.
    static let longestPath = 512 - "-journal".utf8.count - ".salvaging".utf8.count

    /// Removes a database and its side files.
    static func remove(_ database: String) throws {
        for path in ([""] + ofSQLite).map({ database + $0 }) where FileIdentity(path: path) != nil {
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// - Throws: A file error with `ENAMETOOLONG`.
    package static func checkLength(_ path: String) throws(FileError) {
        let name =
            path.utf8.count
            - (path.utf8.lastIndex(of: UInt8(ascii: "/")).map {
                path.utf8.distance(from: path.startIndex, to: $0) + 1
            } ?? 0)
        guard path.utf8.count <= longestPath, name <= longestName else {
            throw FileError(.opening, ENAMETOOLONG, path)
        }
    }

    /// Checks that the database and its side files are safe for SQLite to open.
    ///
    /// A database with a second name is accepted, because backups may add one while the database is
    /// open.
    ///
    /// - Throws: ``SQLiteError/isUnsafePath`` errors.
    package static func check(_ database: String) throws(SQLiteError) {
        try check(database, ofSQLite, mayHaveLinks: true)
    }

    /// Checks every file that this package may open while it opens a database. A database with a
    /// second name is refused.
    ///
    /// What others may have created must not let more users read than the files of this package do:
    /// an empty database gets the mode 0600, and no side file is more permissive than its database.
    ///
    /// - Throws: ``SQLiteError/isUnsafePath`` errors.
    package static func checkAll(_ database: String) throws(SQLiteError) {
        var allowed: mode_t = 0o777
        try check(database, ofRecovery) { path, status throws(SQLiteError) in
            if path == database { allowed = status.st_size == 0 ? 0o600 : status.st_mode & 0o777 }
            guard status.st_mode & 0o077 & ~allowed != 0 else { return }
            // A link that has taken the place of the file is not followed.
            if fchmodat(AT_FDCWD, path, status.st_mode & allowed, AT_SYMLINK_NOFOLLOW) == 0
                || errno == EROFS
            {
                return
            }
            // Some file systems have one mode for all files, which a mount decides.
            if status.st_uid == geteuid(), [EPERM, ENOTSUP].contains(errno) { return }
            throw .unsafePath(
                path,
                "can be read or written by other users, which cannot be changed"
            )
        }
    }

    /// Checks a side file that is open.
    ///
    /// - Throws: ``SQLiteError/isUnsafePath`` errors.
    static func check(_ status: stat, at path: String) throws(SQLiteError) {
        // The owner was checked when the database was opened.
        if let problem = problem(status, [geteuid(), status.st_uid], mayHaveLinks: false) {
            throw .unsafePath(path, problem)
        }
    }

    private static func check(
        _ database: String,
        _ suffixes: [String],
        mayHaveLinks: Bool = false,
        _ accept: (_ path: String, stat) throws(SQLiteError) -> Void = {
            (_, _) throws(SQLiteError) in
        }
    ) throws(SQLiteError) {
        guard database != ":memory:" else { return }
        var owners: Set<uid_t> = [geteuid()]
        for path in [database] + suffixes.map({ database + $0 }) {
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            if path == database { owners.insert(status.st_uid) }
            if let problem = problem(status, owners, mayHaveLinks: mayHaveLinks && path == database)
            {
                throw .unsafePath(path, problem)
            }
            try accept(path, status)
        }
    }

    private static func problem(_ status: stat, _ owners: Set<uid_t>, mayHaveLinks: Bool) -> String?
    {
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: return "is a directory"
        case S_IFLNK: return "is a symbolic link"
        case S_IFIFO: return "is a FIFO"
        case S_IFSOCK: return "is a socket"
        default: return "is a device"
        }
        if status.st_nlink > 1, !mayHaveLinks {
            return "is a hard link: the file has \(status.st_nlink) names"
        }
        // SQLite that runs as root gives side files to the owner of the database.
        return owners.contains(status.st_uid) ? nil : "belongs to another user"
    }
}

extension SQLiteError {
    static func unsafePath(_ path: String, _ problem: String) -> SQLiteError {
        SQLiteError(
            code: unsafePathCode,
            message:
                """
                \(path) \(problem). A regular file is needed there. Move it away, or choose \
                another path.
                """
        )
    }

    /// Whether a path of the database holds something that must not be opened. The message is
    /// written for users.
    package var isUnsafePath: Bool { code == Self.unsafePathCode }
}
