internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The system calls that SQLite does not make for us.
enum FileSystem {
    /// Makes an empty file that only its owner may read, unless there is one. Returns whether it did.
    ///
    /// A file that is there is never opened: closing it again would drop the locks of whoever in this process has it
    /// open (sqlite.org/howtocorrupt.html, 2.2).
    static func createIfMissing(_ path: String) throws -> Bool {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor < 0 else {
            _ = close(descriptor)
            return true
        }
        guard errno == EEXIST else { throw lastError }
        return false
    }

    /// The path without symbolic links, `.` and `..`.
    static func resolved(_ path: String) throws -> String {
        guard let pointer = realpath(path, nil) else { throw lastError }
        defer { free(pointer) }
        return String(cString: pointer)
    }

    static func move(_ path: String, to target: String) throws {
        guard rename(path, target) == 0 else { throw lastError }
    }

    static func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }

    /// How many bytes a file takes; 0 if there is none.
    static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Whether the path lies on a file system of another machine.
    static func isOnNetwork(_ path: String) -> Bool {
        #if os(Linux)
            guard let mounts = FileManager.default.contents(atPath: "/proc/self/mounts") else { return false }
            var nearest = (length: -1, type: Substring())
            for line in String(decoding: mounts, as: UTF8.self).split(separator: "\n") {
                let fields = line.split(separator: " ")
                guard fields.count > 2 else { continue }
                let point = fields[1]
                let isAbove = point == "/" || path == point || path.hasPrefix(point + "/")
                if isAbove, point.count >= nearest.length { nearest = (point.count, fields[2]) }
            }
            return ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "fuse.sshfs"].contains(nearest.type)
        #else
            var status = statfs()
            return statfs(path, &status) == 0 && status.f_flags & UInt32(MNT_LOCAL) == 0
        #endif
    }

    private static var lastError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}

/// What makes two paths one file: the device and the number of its node.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let node: UInt64

    /// - Returns: `nil` if there is no file.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        node = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
