/// What the engine asks SQLite's VFS before it reserves room, so that a test can fill a disk: of a
/// number of bytes (`Int64`), or of zero, whether any are left. The system's VFS does not know it
/// (sqlite.org/c3ref/file_control.html).
package enum RoomControl {
    package static let code: Int32 = 0x5645_4C4C
}
