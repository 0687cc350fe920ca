/// A way in which a call fails.
package enum DiskFault: CaseIterable, Hashable, Sendable {
    /// The device reports an error.
    case failure
    /// No space is left.
    case noSpace
    /// Fewer bytes than requested are written, and then no space is left.
    case shortWrite
    /// Some bytes are read, and for the rest the device reports an error. (A short read without an
    /// error means the end of the file: a truncated file, which is damage rather than a failure.)
    case shortRead
    /// Another process holds the lock of writers. As an error after which SQLite does not try
    /// again.
    case locked

    /// The result code for SQLite; `nil` if the call cannot fail in this way
    /// (sqlite.org/rescode.html).
    package func code(for call: DiskCall) -> Int32? {
        switch (self, call) {
        case (.failure, .open): 14  // SQLITE_CANTOPEN
        case (.failure, .delete): Self.inputOutput(10)
        case (.failure, .access): Self.inputOutput(13)
        case (.failure, .read): Self.inputOutput(1)
        case (.failure, .write): Self.inputOutput(3)
        case (.failure, .truncate): Self.inputOutput(6)
        case (.failure, .sync): Self.inputOutput(4)
        case (.failure, .size): Self.inputOutput(7)
        case (.failure, .lock): Self.inputOutput(15)
        case (.failure, .checkLock): Self.inputOutput(14)
        case (.failure, .mapShared), (.failure, .extendShared):
            Self.inputOutput(21)
        case (.failure, .lockShared), (.failure, .lockForWriting):
            Self.inputOutput(20)
        case (.noSpace, .write), (.shortWrite, .write): 13  // SQLITE_FULL
        case (.noSpace, .extendShared): Self.inputOutput(19)
        case (.noSpace, .sync): Self.inputOutput(4)
        case (.locked, .lockForWriting): 6  // SQLITE_LOCKED
        case (.shortRead, .read): Self.inputOutput(33)  // As the system's VFS reports EIO.
        default: nil
        }
    }

    private static func inputOutput(_ kind: Int32) -> Int32 { 10 | kind << 8 }
}
