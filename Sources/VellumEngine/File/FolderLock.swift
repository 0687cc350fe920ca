internal import Foundation
internal import VellumCore

/// A lock on a folder while a file in it is opened, so that only one of several processes repairs a damaged file.
enum FolderLock {
    /// Runs `body` while no other process opens a file of the folder. On a file system without such locks, runs it without a lock:
    /// SQLite's locks are unreliable there, too.
    ///
    /// Waits 30 seconds at most, because the other process may be salvaging a large file.
    ///
    /// - Throws: ``SQLiteError/busy`` after that time, a file error if the folder cannot be opened, and what `body` throws.
    static func hold<Result>(folderOf path: String, _ body: () throws -> Result) throws -> Result {
        let folder = FileSystem.folder(of: path)
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileSystem.lastError(.opening, folder) }
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
