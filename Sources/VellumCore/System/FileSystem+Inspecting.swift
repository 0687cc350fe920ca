internal import Foundation

extension FileSystem {
    package static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    package static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    package static func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }

    package static func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }

    /// Whether nobody can create files in a folder: its volume is read-only, or its permissions let
    /// no user write.
    package static func isUnwritable(folder: String) -> Bool {
        var volume = statvfs()
        if statvfs(folder, &volume) == 0,
            UInt(volume.f_flag) & UInt(ST_RDONLY) != 0
        {
            return true
        }
        var status = stat()
        return stat(folder, &status) == 0 && status.st_mode & 0o222 == 0
    }

    /// Opens an existing file for reading and writing, unless it is a link. The caller closes the
    /// descriptor.
    package static func opened(_ path: String) -> Int32? {
        StandardStreams.hold()
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        return descriptor >= 0 ? descriptor : nil
    }

    /// The size of a file in bytes; 0 if there is none.
    package static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// How many bytes are free on the volume of a file; `nil` if that is not known.
    package static func freeSpace(_ path: String) -> Int64? {
        var status = statvfs()
        return statvfs(path, &status) == 0
            ? Int64(status.f_bavail) * Int64(status.f_frsize)
            : nil
    }

    /// Whether the disk is almost full, so that nothing is reserved that is not needed at once.
    package static func isAlmostFull(_ path: String) -> Bool {
        (freeSpace(path) ?? .max) < 32 << 20
    }

    #if canImport(Darwin)
        private static let seekData: Int32 = SEEK_DATA
        private static let seekHole: Int32 = SEEK_HOLE
    #else
        // These macros are not imported.
        private static let seekData: Int32 = 3
        private static let seekHole: Int32 = 4
    #endif

    /// Whether more than half of a file consists of holes. Neither this package nor SQLite writes
    /// such files.
    package static func isMostlyHoles(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_size > 64 << 20,
            Int64(status.st_blocks) * 1024 < Int64(status.st_size)
        else {
            return false
        }
        // On a compressing file system a file without holes has few blocks, too.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        var data: off_t = 0
        var offset: off_t = 0
        while data * 2 < status.st_size, case let start = lseek(descriptor, offset, seekData),
            start >= 0
        {
            offset = lseek(descriptor, start, seekHole)
            guard offset > start else { break }
            data += offset - start
        }
        return data * 2 < status.st_size
    }

    /// Whether the path is on a network file system.
    package static func isOnNetwork(_ path: String) -> Bool {
        #if os(Linux)
            guard let mounts = FileManager.default.contents(atPath: "/proc/self/mounts") else {
                return false
            }
            return isOnNetwork(path, mounts: Array(mounts))
        #else
            var status = statfs()
            return statfs(path, &status) == 0 && status.f_flags & UInt32(MNT_LOCAL) == 0
        #endif
    }

    /// Whether the path is on a network file system, according to a mount table in the format of
    /// Linux. A machine may have hundreds of mounts: nothing is allocated for one (decision 92).
    package static func isOnNetwork(_ path: String, mounts: [UInt8]) -> Bool {
        let path = Array(path.utf8)
        let slash = UInt8(ascii: "/")
        var nearest = (length: -1, type: ArraySlice<UInt8>())
        var mounts = mounts[...]
        while !mounts.isEmpty {
            var line = field(of: &mounts, before: UInt8(ascii: "\n"))
            _ = field(of: &line, before: UInt8(ascii: " "))
            let point = unescaped(field(of: &line, before: UInt8(ascii: " ")))
            guard point.count >= nearest.length, path.starts(with: point) else { continue }
            // The root ends on a slash itself.
            if point.last == slash || path.count == point.count || path[point.count] == slash {
                nearest = (point.count, field(of: &line, before: UInt8(ascii: " ")))
            }
        }
        return networkTypes.contains(String(decoding: nearest.type, as: UTF8.self))
    }

    /// Takes what stands before the next separator, and the separator.
    private static func field(
        of bytes: inout ArraySlice<UInt8>,
        before separator: UInt8
    ) -> ArraySlice<UInt8> {
        let end = bytes.firstIndex(of: separator) ?? bytes.endIndex
        defer { bytes = bytes[end...].dropFirst() }
        return bytes[..<end]
    }

    /// Also those that share a folder of a virtual machine's host.
    private static let networkTypes: Set = [
        "nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "9p", "virtiofs", "afs", "ceph", "lustre",
        "fuse.sshfs", "fuse.rclone", "fuse.s3fs",
        "fuse.virtiofs", "fuse.glusterfs",
    ]

    /// A field of the mount table, in which spaces and some other bytes are a backslash and three
    /// octal digits.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard field.contains(UInt8(ascii: "\\")) else { return field }
        var bytes: ArraySlice<UInt8> = []
        var rest: ArraySlice<UInt8> = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let escaped = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(escaped)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
