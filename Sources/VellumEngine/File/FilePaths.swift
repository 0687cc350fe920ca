internal import Foundation
internal import VellumCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The paths that belong to a database, and what may lie there: regular files of this user with one name, or nothing.
///
/// A FIFO would be waited for, a hard link or a symbolic link would make SQLite write over another file, and of a file with two names two
/// connections would use two logs (sqlite.org/howtocorrupt.html, 2.5).
enum FilePaths {
    /// What SQLite opens beside a database.
    static let ofSQLite = ["-wal", "-shm", "-journal"]
    /// What else this package may make beside it: all of it, SQLite's files of each included.
    private static let ofRecovery: [String] =
        ofSQLite + [ChangesFile.suffix, "-damaged", ".salvaged", ".taken-over"]
        + [".salvaging", ".taking-over", FileHeader.copySuffix].flatMap { copy in ([""] + ofSQLite).map { copy + $0 } }

    /// Makes sure that SQLite meets nothing at the path of a database, or of its side files, that it must not open.
    ///
    /// - Throws: ``SQLiteError/isUnsafePath`` errors.
    ///
    /// A second name that a backup gives the database while it is open is no reason to fail.
    static func check(_ database: String) throws(SQLiteError) { try check(database, ofSQLite, mayHaveLinks: true) }

    /// The same for everything that this package opens while it opens a database.
    static func checkAll(_ database: String) throws(SQLiteError) { try check(database, ofRecovery) }

    /// The same for a side file that is open.
    static func check(_ status: stat, at path: String) throws(SQLiteError) {
        // Whoever owns the folder's database was checked when that was opened.
        if let problem = problem(status, [geteuid(), status.st_uid], mayHaveLinks: false) { throw .unsafePath(path, problem) }
    }

    private static func check(_ database: String, _ suffixes: [String], mayHaveLinks: Bool = false) throws(SQLiteError) {
        guard database != ":memory:" else { return }
        var owners: Set<uid_t> = [geteuid()]
        for path in [database] + suffixes.map({ database + $0 }) {
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            if path == database { owners.insert(status.st_uid) }
            if let problem = problem(status, owners, mayHaveLinks: mayHaveLinks && path == database) { throw .unsafePath(path, problem) }
        }
    }

    private static func problem(_ status: stat, _ owners: Set<uid_t>, mayHaveLinks: Bool) -> String? {
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: return "is a directory"
        case S_IFLNK: return "is a symbolic link"
        case S_IFIFO: return "is a FIFO"
        case S_IFSOCK: return "is a socket"
        default: return "is a device"
        }
        if status.st_nlink > 1, !mayHaveLinks { return "is a hard link: the file has \(status.st_nlink) names" }
        // Root's SQLite gives side files to the owner of the database.
        return owners.contains(status.st_uid) ? nil : "belongs to another user"
    }
}

extension SQLiteError {
    static func unsafePath(_ path: String, _ problem: String) -> SQLiteError {
        SQLiteError(
            code: unsafePathCode, message: "\(path) \(problem), where a regular file must be. Move it away, or choose another place.")
    }

    /// Whether something lies at a path of the file that must not be opened. Its message is for users.
    var isUnsafePath: Bool { code == Self.unsafePathCode }
}
