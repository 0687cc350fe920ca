/// What the engine asks SQLite's VFS before a database grows, so that a test can fill a disk:
/// whether it may. The system's VFS does not know it (sqlite.org/c3ref/file_control.html).
package enum RoomControl {
    package static let code: Int32 = 0x5645_4C4C
}
