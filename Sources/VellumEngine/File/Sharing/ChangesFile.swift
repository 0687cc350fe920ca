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

/// The small file beside the database through which processes tell each other of changes, mapped into memory.
///
/// Made where it is missing and made anew, in place, where it makes no sense: what is in it matters to processes that live, and to
/// nobody else. Like SQLite's own `-shm` it must not be removed while the database is open; if it is, that is noticed when the place
/// is looked at next. It is written to its full length before it is mapped, so that a full disk is an error and no signal.
final class ChangesFile: Sendable {
    static let suffix = "-changes"

    /// Who this is among those that have the file mapped.
    let author = ChangePage.Author.random(in: 1 ... .max)
    let process = getpid()
    let page: ChangePage
    private let path: String
    private let identity: Locked<FileIdentity?>
    private let start: Mapping

    /// Unchecked because the address is never changed, and what lies there is protected by being atomic.
    private struct Mapping: @unchecked Sendable {
        var address: UnsafeMutableRawPointer
    }

    /// Maps the file that belongs to the database at `database`, and makes it if there is none.
    init(besides database: String) throws {
        path = database + Self.suffix
        // A place of one's own in memory, so that another file can be put there later.
        let address = mmap(nil, ChangePage.size, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let address, address != MAP_FAILED else { throw FileSystem.lastError(.mapping, path) }
        start = Mapping(address: address)
        page = ChangePage(address)
        identity = Locked(nil)
        do {
            let identity = try Self.map(path, at: address)
            self.identity.withLock { $0 = identity }
        } catch {
            munmap(address, ChangePage.size)
            throw error
        }
    }

    deinit { munmap(start.address, ChangePage.size) }

    /// Maps the file that lies there now, if it is another than was mapped: then what was announced here is known to nobody.
    func lookAgain() throws {
        try identity.withLock { identity in
            guard FileIdentity(path: path) != identity else { return }
            // It was moved with its database: the next transaction, or the next look, tells.
            guard !page.isRetired else { return }
            identity = try Self.map(path, at: start.address)
        }
    }

    private static func map(_ path: String, at address: UnsafeMutableRawPointer) throws -> FileIdentity {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileSystem.lastError(.opening, path) }
        defer { close(descriptor) }
        // Others may be opening it, too.
        guard flock(descriptor, LOCK_EX) == 0 else { throw FileSystem.lastError(.locking, path) }
        defer { flock(descriptor, LOCK_UN) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileSystem.lastError(.opening, path) }
        try FilePaths.check(status, at: path)
        if status.st_size != ChangePage.size {
            try fill(descriptor, path)
            guard ftruncate(descriptor, off_t(ChangePage.size)) == 0 else { throw FileSystem.lastError(.writing, path) }
        }
        let mapped = mmap(address, ChangePage.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0)
        guard mapped == address else { throw FileSystem.lastError(.mapping, path) }
        let page = ChangePage(address)
        if !page.isIntact { page.reset() }
        return FileIdentity(status)
    }

    /// Writes zeros over the whole length, so that every block is there.
    private static func fill(_ descriptor: Int32, _ path: String) throws {
        let zeros = [UInt8](repeating: 0, count: 16 * 1024)
        var offset = 0
        while offset < ChangePage.size {
            let written = pwrite(descriptor, zeros, min(zeros.count, ChangePage.size - offset), off_t(offset))
            guard written > 0 else {
                if written < 0, errno == EINTR { continue }
                throw FileError(.writing, written < 0 ? errno : ENOSPC, path)
            }
            offset += written
        }
    }

    /// Tells everyone who has the database open that it is set aside, and waits for the one who is committing.
    static func retire(besides database: String) throws {
        guard FileIdentity(path: database + suffix) != nil else { return }
        let file = try ChangesFile(besides: database)
        file.page.retire()
        // Whoever announced before may not have seen it; whoever announces now does. A process that died has nobody to tell.
        var patience = 5000
        while patience > 0, let process = file.page.announcer, kill(process, 0) == 0 || errno == EPERM {
            BusyRetry.milliseconds(1)
            patience -= 1
        }
    }
}
