internal import Foundation
internal import VellumCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Held while a file of the folder is opened, so that of several processes one mends what it finds, and the others find it mended.
enum FolderLock {
    /// Runs `body` while no other process opens a file of the folder. A file system that has no such locks runs it all the same:
    /// there SQLite's own cannot be trusted either.
    ///
    /// Waits for at most half a minute: who holds it may be salvaging a large file.
    static func hold<Result>(folderOf path: String, _ body: () throws -> Result) throws -> Result {
        let folder = FileSystem.folder(of: path)
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileSystem.lastError(.opening, folder) }
        // The lock goes with the descriptor, but where a process was forked meanwhile that has it, too.
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
