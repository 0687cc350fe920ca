internal import Foundation
internal import Synchronization
internal import VellumCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The small file beside the database through which processes announce changes to each other,
/// mapped into memory.
///
/// Created if missing, and initialized again in place if its contents are implausible: they matter
/// only to running processes. Like SQLite's `-shm` file it must not be removed while the database
/// is open; a removal is noticed at the next check of the location. The file is written to its full
/// length before it is mapped, so that a full disk causes an error instead of a signal.
package final class ChangesFile: Sendable {
    package static let suffix = FilePaths.changesSuffix

    /// Identifies this mapping among all mappings of the file.
    let author = ChangePage.Author.random(in: 1 ... .max)
    let process = getpid()
    let page: ChangePage
    private let path: String
    /// `nil` if there is no file.
    private let identity: Locked<FileIdentity?>

    /// Maps the file that belongs to the database at `database`, and creates it if missing.
    init(besides database: String) throws {
        path = database + Self.suffix
        // Reserves the address range, so that another file can be mapped there later.
        let address = mmap(nil, ChangePage.size, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let address, address != MAP_FAILED else { throw FileSystem.lastError(.mapping, path) }
        page = ChangePage(address)
        do {
            identity = Locked(try Self.map(path, at: address))
        } catch {
            // Not by `deinit`, which does not run before everything is set.
            munmap(address, ChangePage.size)
            throw error
        }
    }

    /// Maps memory of this object alone: nothing is written beside a file that is only read, and
    /// others announce nothing here.
    init() throws {
        path = ""
        let address = mmap(
            nil,
            ChangePage.size,
            PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANON,
            -1,
            0
        )
        guard let address, address != MAP_FAILED else { throw FileSystem.lastError(.mapping, path) }
        page = ChangePage(address)
        page.reset()
        identity = Locked(nil)
    }

    deinit { munmap(page.start, ChangePage.size) }

    /// Whether another file, or none, is at the path.
    var isReplaced: Bool { FileIdentity(path: path) != identity.withLock { $0 } }

    /// Maps the file at the path again if it was replaced. Announcements in the old file reached no
    /// other process.
    ///
    /// - Returns: Whether it was replaced.
    func remapIfReplaced() throws -> Bool {
        try identity.withLock { identity in
            guard FileIdentity(path: path) != identity else { return false }
            // The file was moved with its database: the next transaction or location check reports
            // it.
            guard !page.isRetired else { return false }
            identity = try Self.map(path, at: page.start)
            return true
        }
    }

    private static func map(
        _ path: String,
        at address: UnsafeMutableRawPointer
    ) throws -> FileIdentity {
        StandardStreams.hold()
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileSystem.lastError(.opening, path) }
        defer { close(descriptor) }
        // Other processes may open it concurrently.
        guard flock(descriptor, LOCK_EX) == 0 else { throw FileSystem.lastError(.locking, path) }
        defer { flock(descriptor, LOCK_UN) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileSystem.lastError(.opening, path) }
        try FilePaths.check(status, at: path)
        // A later version may have words behind ours.
        if status.st_size < ChangePage.size {
            try fill(descriptor, path)
            guard ftruncate(descriptor, off_t(ChangePage.size)) == 0 else {
                throw FileSystem.lastError(.writing, path)
            }
        }
        let mapped = mmap(
            address,
            ChangePage.size,
            PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_FIXED,
            descriptor,
            0
        )
        guard mapped == address else { throw FileSystem.lastError(.mapping, path) }
        let page = ChangePage(address)
        if !page.isIntact { page.reset() }
        return FileIdentity(status)
    }

    /// Writes zeros over the whole length, so that the disk space is allocated.
    private static func fill(_ descriptor: Int32, _ path: String) throws {
        let zeros = [UInt8](repeating: 0, count: 16 * 1024)
        var offset = 0
        while offset < ChangePage.size {
            let written = pwrite(
                descriptor,
                zeros,
                min(zeros.count, ChangePage.size - offset),
                off_t(offset)
            )
            guard written > 0 else {
                if written < 0, errno == EINTR { continue }
                throw FileError(.writing, written < 0 ? errno : ENOSPC, path)
            }
            offset += written
        }
    }

    /// Marks the database as set aside for every process that has it open, and waits for a running
    /// commit, 5 seconds at most.
    static func retire(besides database: String) throws {
        guard FileIdentity(path: database + suffix) != nil else { return }
        let file = try ChangesFile(besides: database)
        file.page.retire()
        // A process that announced earlier may have missed the mark; later ones see it. A dead
        // process is not waited for.
        let announced = file.page.now.announced
        guard !file.page.isFinished(announced), let identity = FileIdentity(path: database) else {
            return
        }
        // As a connection does: only then its locks may be queried.
        OpenDatabases.shared.add(identity, at: database)
        defer { OpenDatabases.shared.remove(identity) }
        var triesLeft = 5000
        while triesLeft > 0, !file.page.isFinished(announced),
            OpenDatabases.shared.mayBeCommitting(identity, at: database)
        {
            BusyRetry.milliseconds(1)
            triesLeft -= 1
        }
    }
}

/// Finds other processes that have a database open, through the locks that SQLite keeps on the
/// wal-index file (sqlite.org/walformat.html, 2.3). The system releases a process's locks when it
/// ends, however it ends.
///
/// A check costs one system call, and is made only if another process may have opened the database
/// since the last check.
final class OtherProcesses: Sendable {
    private let path: String
    private let identity: FileIdentity
    private let openingsWhenAlone = Atomic(UInt64.max)

    init(database path: String, _ identity: FileIdentity) {
        self.path = path
        self.identity = identity
    }

    /// Returns whether another process has the database open; `true` if that cannot be determined.
    ///
    /// - Parameter openings: How often processes have opened the database so far
    ///   (``ChangePage/openings``). While the number is unchanged, a negative result is reused
    ///   without a system call.
    func hasOthers(openings: UInt64) -> Bool {
        // The greatest number stands for none.
        if openings != .max, openingsWhenAlone.load(ordering: .relaxed) == openings { return false }
        // Each process that has the database open holds a shared lock on this byte.
        let isAlone =
            OpenDatabases.shared.holder(of: 128..<129, in: identity, at: path) == .unlocked
        if isAlone { openingsWhenAlone.store(openings, ordering: .relaxed) }
        return !isAlone
    }

    /// Returns a process that reads through one of these slots of the wal-index; `nil` if there is
    /// none, or the system does not report its number.
    func process(readingThrough slots: [Int]) -> Int32? {
        for slot in slots {
            // A reader holds a shared lock on the byte of its slot.
            let byte = 123 + slot
            if case .process(let number) = OpenDatabases.shared.holder(
                of: off_t(byte)..<off_t(byte + 1),
                in: identity,
                at: path
            ),
                number > 0
            {
                return number
            }
        }
        return nil
    }
}
