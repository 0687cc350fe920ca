internal import VellumCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The connections of this process to each database, and one descriptor for each wal-index file, by which the locks of other processes are
/// read.
///
/// Closing any descriptor of a file drops the locks that the process has on it (sqlite.org/howtocorrupt.html, 2.2). So the descriptor is
/// closed only when no connection to the database is left, and inside the lock that a new connection needs.
final class OpenDatabases: Sendable {
    static let shared = OpenDatabases()

    private struct Database {
        var connections = 0
        /// Of the wal-index file.
        var descriptor: Int32?
    }

    private let databases = Locked<[FileIdentity: Database]>([:])

    /// A connection is about to be opened.
    func add(_ identity: FileIdentity) {
        databases.withLock { $0[identity, default: Database()].connections += 1 }
    }

    /// A connection was closed.
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

    /// Who holds a lock on a part of a wal-index file.
    enum Holder: Equatable {
        case nobody, unknown
        /// 0 where the system does not tell the number.
        case process(Int32)
    }

    /// Another process that has locked one of these bytes of the wal-index file.
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
            return lock.l_type == Int16(F_UNLCK) ? .nobody : .process(lock.l_pid)
        }
    }
}
