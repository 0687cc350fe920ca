internal import Synchronization
package import VellumCore

#if canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#elseif canImport(Darwin)
    package import Darwin
#endif

/// Counts this process's connections to each database, and keeps two descriptors of it: of the
/// database file, to reserve room for it, and of its wal-index file, to query the locks of other
/// processes.
///
/// Closing any descriptor of a file releases every lock that the process holds on it
/// (sqlite.org/howtocorrupt.html, 2.2). The descriptors are therefore closed only with the last
/// connection to the database, under the lock that opening a connection also takes; and if another
/// library of this process may have the database open, only later, when its wal-index is gone.
package final class OpenDatabases: Sendable {
    package static let shared = OpenDatabases()

    private struct Database {
        /// Where it was when this process last opened it: its folder may be renamed while it is not
        /// open here.
        var path: String
        var connections = 0
        var file: Int32?
        var walIndex: Int32?

        var walIndexPath: String { path + "-shm" }

        /// SQLite removes the wal-index with the last connection of all processes.
        var isOpenSomewhere: Bool { FileIdentity(path: walIndexPath) != nil }
    }

    private let databases = Locked<[FileIdentity: Database]>([:])
    /// How many commits of this process are announced and not finished, of any database: the system
    /// does not report a process's own locks.
    let commits = Atomic(0)

    /// Counts a connection that is about to be opened.
    package func add(_ identity: FileIdentity, at path: String) {
        databases.withLock { databases in
            Self.closeUnused(&databases)
            var database = databases[identity] ?? Database(path: path)
            // A connection that is closed is counted until after that, when a new file may already
            // have the number of one that was removed.
            if database.connections == 0 || database.path != path {
                database.path = path
                if let walIndex = database.walIndex,
                    !Self.isFile(walIndex, at: database.walIndexPath)
                {
                    _ = close(walIndex)
                    database.walIndex = nil
                }
            }
            database.connections += 1
            databases[identity] = database
        }
    }

    /// Whether this process has the database open, or a descriptor of it.
    package func isOpen(_ identity: FileIdentity) -> Bool {
        databases.withLock { $0[identity] != nil }
    }

    /// Whether this process has a connection to the database.
    package func isConnected(_ identity: FileIdentity) -> Bool {
        databases.withLock { $0[identity]?.connections ?? 0 > 0 }
    }

    /// Removes a connection that was closed from the count.
    package func remove(_ identity: FileIdentity) {
        databases.withLock { databases in
            databases[identity]?.connections -= 1
            if databases[identity]?.connections == 0 { Self.closeUnused(&databases) }
        }
    }

    private static func closeUnused(_ databases: inout [FileIdentity: Database]) {
        for (identity, database) in databases
        where database.connections == 0 && !database.isOpenSomewhere {
            for descriptor in [database.file, database.walIndex].compactMap({ $0 }) {
                _ = close(descriptor)
            }
            databases[identity] = nil
        }
    }

    private static func isFile(_ descriptor: Int32, at path: String) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && FileIdentity(status) == FileIdentity(path: path)
    }

    /// Returns a descriptor of the database file, which stays open while a connection of the caller
    /// is; `nil` if it cannot be opened.
    package func file(of identity: FileIdentity) -> Int32? {
        databases.withLock { databases in
            guard let database = databases[identity] else { return nil }
            if let file = database.file { return file }
            guard FileIdentity(path: database.path) == identity,
                let file = FileSystem.opened(database.path)
            else { return nil }
            databases[identity]?.file = file
            return file
        }
    }

    /// The holder of a lock on a part of a wal-index file.
    package enum Holder: Equatable {
        case unlocked, unknown
        /// Another process. 0 if the system does not report its number.
        case process(Int32)
    }

    /// Returns another process that has locked any of these bytes of the wal-index file.
    ///
    /// - Parameter path: The path of the database.
    package func holder(
        of bytes: Range<off_t>,
        in identity: FileIdentity,
        at path: String
    ) -> Holder {
        databases.withLock { databases in
            guard let database = databases[identity] else { return .unknown }
            if database.walIndex == nil, FileIdentity(path: path) == identity {
                databases[identity]?.walIndex = FileSystem.opened(database.walIndexPath)
            }
            guard let descriptor = databases[identity]?.walIndex else { return .unknown }
            var lock = flock()
            lock.l_type = Int16(F_WRLCK)
            lock.l_whence = Int16(SEEK_SET)
            lock.l_start = bytes.lowerBound
            lock.l_len = off_t(bytes.count)
            guard fcntl(descriptor, F_GETLK, &lock) == 0 else { return .unknown }
            return lock.l_type == Int16(F_UNLCK) ? .unlocked : .process(lock.l_pid)
        }
    }

    /// Returns whether a commit may be running that was announced before the call. If not, it has
    /// ended, or its process has.
    ///
    /// Whether a process lives says nothing: a dead one keeps its number until its parent asks for
    /// it, and another may get it. But whoever commits holds SQLite's lock for writing, and the
    /// system releases the locks of a dead process. Without a wal-index no process has the database
    /// open.
    func mayBeCommitting(_ identity: FileIdentity, at path: String) -> Bool {
        commits.load(ordering: .acquiring) > 0
            || (holder(of: 120..<121, in: identity, at: path) != .unlocked
                && FileIdentity(path: path + "-shm") != nil)
    }
}
