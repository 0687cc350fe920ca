/// A system call of SQLite that can be made to fail.
package enum DiskCall: CaseIterable, Hashable, Sendable {
    case open, delete, access
    case read, write, truncate, sync, size
    case lock, checkLock
    case mapShared, extendShared, lockShared, lockForWriting
}
