package import Foundation
internal import VellumCore

/// A folder among the system's temporary ones, which is removed with the last reference to it, when
/// the process exits, and after a process that was killed by the next process that makes one.
///
/// The process that uses it has a lock on a file in it, which ends with the process. (Openings of a
/// database lock the folder.)
package final class TemporaryFolder: Sendable {
    package let url = FileManager.default.temporaryDirectory.appendingPathComponent(
        prefix + UUID().uuidString,
        isDirectory: true
    )
    /// The descriptor of the file that has the lock.
    private let descriptor = Locked<Int32?>(nil)
    private let forkGuard = ForkGuard()

    private static let prefix = "Vellum-in-memory-"

    /// The folders of this process, for those that something still holds when it exits, such as a
    /// global variable.
    private static let urls = Locked<Set<URL>>([])
    private static let processGuard: ForkGuard = {
        atexit { TemporaryFolder.removeAll() }
        removeAbandoned()
        return ForkGuard()
    }()

    package init() {
        _ = Self.processGuard
        Self.urls.withLock { _ = $0.insert(url) }
    }

    /// Whether this process made it, and not the one of which it is a copy.
    package var isOfThisProcess: Bool { forkGuard.isThisProcess }

    deinit {
        defer {
            if let descriptor = descriptor.withLock({ $0 }) { _ = SystemCalls.close(descriptor) }
        }
        guard isOfThisProcess else { return }
        Self.urls.withLock { _ = $0.remove(url) }
        Self.remove(url)
    }

    /// Makes the folder and locks it, before a file is opened in it. Whoever opens the file is told
    /// if it could not be made.
    package func make() {
        descriptor.withLock { descriptor in
            // Another process may take it for an abandoned one before it is locked: then it is made
            // again.
            while !Self.isLock(descriptor, in: url.path) {
                if let descriptor { _ = SystemCalls.close(descriptor) }
                descriptor = nil
                guard [0, -EEXIST].contains(url.path.withCString { SystemCalls.makeFolder($0) })
                else { return }
                let lock = Self.locked(url.path)
                if lock >= 0 {
                    descriptor = lock
                } else if [-EWOULDBLOCK, -ENOENT].contains(lock) {
                    BusyRetry.milliseconds(1)
                } else {
                    return
                }
            }
        }
    }

    private static func isLock(_ descriptor: Int32?, in folder: String) -> Bool {
        var status = stat()
        guard let descriptor, fstat(descriptor, &status) == 0 else { return false }
        return FileIdentity(status) == FileIdentity(path: folder + lockName)
    }

    private static let lockName = "/lock"

    /// A descriptor of the lock in a folder, or the negated `errno`: `EWOULDBLOCK` if somebody else
    /// has the lock.
    private static func locked(_ folder: String) -> Int32 {
        StandardStreams.hold()
        let descriptor = open(folder + lockName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return -errno }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
        let code = errno
        _ = SystemCalls.close(descriptor)
        return -code
    }

    /// Removes the folders of processes that were killed.
    private static func removeAbandoned() {
        let parent = FileManager.default.temporaryDirectory.path
        guard case .value(let entries) = parent.withCString({ SystemCalls.list($0) }) else {
            return
        }
        for entry in entries where entry.kind == .folder && entry.name.starts(with: prefix.utf8) {
            let path = parent + "/" + String(decoding: entry.name, as: UTF8.self)
            // The folder of another user is not ours to remove, and its owner could lead us
            // elsewhere meanwhile.
            var status = stat()
            guard lstat(path, &status) == 0, status.st_uid == geteuid() else { continue }
            let descriptor = locked(path)
            guard descriptor >= 0 else { continue }
            remove(URL(fileURLWithPath: path, isDirectory: true))
            _ = SystemCalls.close(descriptor)
        }
    }

    private static func removeAll() {
        // Before the lock, which another thread may have held when this process was forked.
        guard processGuard.isThisProcess else { return }
        for url in urls.withLock({ $0 }) { remove(url) }
    }

    private static func remove(_ url: URL) {
        guard FileManager.default.fileExists(atPath: url.path) else { return }
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            Log.warning("A temporary folder could not be removed: \(error)")
        }
    }
}
