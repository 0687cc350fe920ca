import Foundation

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// Acts between SQLite's look at the size of a file and what it does with it, as another process
/// may.
enum SizeLookups {
    private static let lock = NSLock()
    // Unsafe because it is protected by `lock`.
    nonisolated(unsafe) private static var action: (thread: pthread_t, run: () -> Void)?

    /// Runs `body`, and `action` once, after SQLite's first look on this thread.
    ///
    /// - Returns: Whether SQLite looked.
    static func after(_ action: @escaping () -> Void, run body: () throws -> Void) rethrows -> Bool
    {
        var hasLooked = false
        lock.lock()
        self.action = (
            pthread_self(),
            {
                hasLooked = true; action()
            }
        )
        lock.unlock()
        set(hook)
        defer {
            set(nil)
            lock.lock()
            self.action = nil
            lock.unlock()
        }
        try body()
        return hasLooked
    }

    private typealias Call = @convention(c) (Int32, UnsafeMutablePointer<stat>?) -> Int32

    private static let hook: Call = { file, status in
        guard let status else { return -1 }
        let result = fstat(file, status)
        SizeLookups.take()?()
        return result
    }

    private static func take() -> (() -> Void)? {
        lock.lock()
        defer { lock.unlock() }
        guard let (thread, run) = action, pthread_equal(thread, pthread_self()) != 0 else {
            return nil
        }
        action = nil
        return run
    }

    /// `nil` for the system's own call (sqlite.org/c3ref/vfs.html, `xSetSystemCall`).
    private static func set(_ call: Call?) {
        let vfs = sqlite3_vfs_find("unix")
        _ = vfs?.pointee.xSetSystemCall(
            vfs,
            "fstat",
            call.map { unsafeBitCast($0, to: sqlite3_syscall_ptr.self) }
        )
    }
}
