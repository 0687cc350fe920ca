internal import VellumCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Counts this process's connections to each database, and keeps one descriptor of each wal-index file, to query the locks of other
/// processes.
///
/// Closing any descriptor of a file releases every lock that the process holds on it (sqlite.org/howtocorrupt.html, 2.2). The descriptor is
/// therefore closed only with the last connection to the database, under the lock that opening a connection also takes.
final class OpenDatabases: Sendable {
    static let shared = OpenDatabases()

    private struct Database {
        var connections = 0
        /// The descriptor of the wal-index file.
        var descriptor: Int32?
    }

    private let databases = Locked<[FileIdentity: Database]>([:])

    /// Counts a connection that is about to be opened.
    func add(_ identity: FileIdentity) {
        databases.withLock { $0[identity, default: Database()].connections += 1 }
    }

    /// Removes a connection that was closed from the count.
    func remove(_ identity: FileIdentity) {
        databases.withLock { databases in
            guard var database = databases[identity] else { return }
            database.connections -= 1
            guard database.connections == 0 else {
                databases[identity] = database
                return
            }
            if let descriptor = database.descriptor { _ = close(descriptor) }
            databases[identity] = nil
        }
    }

    /// The holder of a lock on a part of a wal-index file.
    enum Holder: Equatable {
        case unlocked, unknown
        /// Another process. 0 if the system does not report its number.
        case process(Int32)
    }

    /// Returns another process that has locked any of these bytes of the wal-index file.
    ///
    /// - Parameter path: The path of the database.
    func holder(of bytes: Range<off_t>, in identity: FileIdentity, at path: String) -> Holder {
        databases.withLock { databases in
            guard var database = databases[identity] else { return .unknown }
            if database.descriptor == nil, FileIdentity(path: path) == identity {
                let descriptor = open(path + "-shm", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                if descriptor >= 0 { database.descriptor = descriptor }
                databases[identity] = database
            }
            guard let descriptor = database.descriptor else { return .unknown }
            var lock = flock()
            lock.l_type = Int16(F_WRLCK)
            lock.l_whence = Int16(SEEK_SET)
            lock.l_start = bytes.lowerBound
            lock.l_len = off_t(bytes.count)
            guard fcntl(descriptor, F_GETLK, &lock) == 0 else { return .unknown }
            return lock.l_type == Int16(F_UNLCK) ? .unlocked : .process(lock.l_pid)
        }
    }
}
