internal import Foundation

/// The descriptors 0, 1 and 2, which no file of ours may have: a program whose stream is closed
/// would write its output into the file.
package enum StandardStreams {
    /// Opens `/dev/null` as each standard stream that is closed. It stays open, also in child
    /// processes.
    ///
    /// Called before a descriptor is opened, because closing one of a database would release this
    /// process's locks (sqlite.org/howtocorrupt.html, 2.2).
    package static func hold() {
        for stream: Int32 in 0...2 where fcntl(stream, F_GETFD) == -1 {
            // The system gives the lowest descriptor that is free.
            let null = open("/dev/null", O_RDWR)
            if null > 2 { _ = close(null) }
        }
    }

    private static let areHeld: Void = hold()

    /// Calls `open`, and returns its descriptor, moved behind the standard streams.
    ///
    /// For files without locks, which are opened often: a program may close a stream later than the
    /// first file was opened.
    static func avoiding(_ open: () -> Int32) -> Int32 {
        _ = areHeld
        let file = SystemCalls.repeating(open)
        guard (0...2).contains(file) else { return file }
        let moved = SystemCalls.repeating { fcntl(file, F_DUPFD_CLOEXEC, 3) }
        _ = close(file)
        hold()
        return moved
    }
}
