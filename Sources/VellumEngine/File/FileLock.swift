internal import Foundation
internal import VellumCore

/// A lock on a file or a folder, against other processes and other threads.
package enum FileLock {
    /// Runs `body` while no other process opens a file of the folder, so that only one of several repairs a damaged file.
    static func hold<Result>(folderOf path: String, _ body: () throws -> Result) throws -> Result {
        try hold(FileSystem.folder(of: path), body)
    }

    /// Runs `body` while nobody else holds the lock of a file or folder. On a file system without such locks, runs it without a lock:
    /// SQLite's locks are unreliable there, too.
    ///
    /// Waits 30 seconds at most, because the other process may be salvaging a large file.
    ///
    /// - Throws: ``SQLiteError/busy`` after that time, a file error if the file cannot be opened, and what `body` throws.
    package static func hold<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileSystem.lastError(.opening, path) }
        // Unlocked explicitly: a child forked meanwhile also has the descriptor, and would keep the lock.
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
