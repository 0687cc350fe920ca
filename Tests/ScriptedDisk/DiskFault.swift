/// A way in which a call fails.
public enum DiskFault: CaseIterable, Hashable, Sendable {
    /// The device answers with an error.
    case failure
    /// There is no space left.
    case noSpace
    /// Fewer bytes go than were given, and then there is no space left.
    case shortWrite
    /// Some bytes come, and for the rest the device answers with an error. (Fewer bytes without an error are the end of a file: one
    /// that was cut, which is damage and no failure.)
    case shortRead

    /// What SQLite is told, or `nil` if this cannot happen to such a call (sqlite.org/rescode.html).
    public func code(for call: DiskCall) -> Int32? {
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
        case (.failure, .mapShared): Self.inputOutput(21)
        case (.failure, .lockShared): Self.inputOutput(20)
        case (.noSpace, .write), (.shortWrite, .write): 13  // SQLITE_FULL
        case (.noSpace, .mapShared): Self.inputOutput(19)
        case (.noSpace, .sync): Self.inputOutput(4)
        case (.shortRead, .read): Self.inputOutput(33)  // What the system's VFS makes of EIO.
        default: nil
        }
    }

    private static func inputOutput(_ kind: Int32) -> Int32 { 10 | kind << 8 }
}
