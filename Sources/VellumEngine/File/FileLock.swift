internal import Foundation
internal import VellumCore

/// A lock on a folder or a file, against other processes and other threads. Not for databases:
/// closing a descriptor of one would release the locks that this process has on it
/// (sqlite.org/howtocorrupt.html, 2.2).
package enum FileLock {
    /// Runs `body` while no other process opens a file of the folder, so that only one of several
    /// repairs a damaged file.
    package static func hold<Result>(
        folderOf path: String,
        _ body: () throws -> Result
    ) throws -> Result {
        try hold(folder: FileSystem.folder(of: path), body)
    }

    /// Runs `body` while nobody else holds the lock of a folder.
    ///
    /// Waits 30 seconds at most, because the other process may be salvaging a large file. On a file
    /// system without such locks, runs it without a lock: SQLite's locks are unreliable there, too.
    ///
    /// - Throws: ``SQLiteError/busy`` after that time, a file error if the folder cannot be opened,
    ///   and what `body` throws.
    package static func hold<Result>(
        folder path: String,
        _ body: () throws -> Result
    ) throws -> Result {
        StandardStreams.hold()
        return try hold(path, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), body)
    }

    /// The same with a file, which is created if it is missing, and stays.
    package static func hold<Result>(
        file path: String,
        _ body: () throws -> Result
    ) throws -> Result {
        StandardStreams.hold()
        // A FIFO would block, and a link lead elsewhere.
        return try hold(
            path,
            open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600),
            body
        )
    }

    private static func hold<Result>(
        _ path: String,
        _ descriptor: Int32,
        _ body: () throws -> Result
    ) throws -> Result {
        guard descriptor >= 0 else { throw FileSystem.lastError(.opening, path) }
        // Unlocked explicitly: a child forked meanwhile also has the descriptor, and would keep the
        // lock.
        defer {
            flock(descriptor, LOCK_UN)
            close(descriptor)
        }
        var triesLeft = 6000
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR {
            triesLeft -= 1
            guard triesLeft > 0 else { throw SQLiteError.busy }
            BusyRetry.milliseconds(5)
        }
        return try body()
    }
}
