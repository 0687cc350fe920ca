package import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    package import Musl
#elseif canImport(Darwin)
    package import Darwin
#endif

/// The system calls that SQLite does not make for us.
package enum FileSystem {
    /// Makes an empty file that only its owner may read, unless there is one. Returns whether it did.
    ///
    /// A file that is there is never opened: closing it again would drop the locks of whoever in this process has it
    /// open (sqlite.org/howtocorrupt.html, 2.2).
    package static func createIfMissing(_ path: String) throws -> Bool {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor < 0 else {
            _ = close(descriptor)
            return true
        }
        guard errno == EEXIST else { throw lastError }
        return false
    }

    /// The path without symbolic links, `.` and `..`.
    package static func resolved(_ path: String) throws -> String {
        guard let pointer = realpath(path, nil) else { throw lastError }
        defer { free(pointer) }
        return String(cString: pointer)
    }

    package static func move(_ path: String, to target: String) throws {
        guard rename(path, target) == 0 else { throw lastError }
    }

    /// Makes a folder for its owner alone, with every folder above it that is missing, and brings the name of each to the disk.
    ///
    /// - Parameter sync: Syncs the folder that a file lies in.
    package static func makeFolder(_ path: String, sync: (String) throws -> Void = syncFolder) throws {
        if mkdir(path, 0o700) == 0 { return try sync(path) }
        switch errno {
        case EEXIST: return  // What is there is no folder, or is one: whoever opens a file in it finds out.
        case ENOENT:
            let parent = (path as NSString).deletingLastPathComponent
            guard !parent.isEmpty, parent != path else { throw POSIXError(.ENOENT) }
            try makeFolder(parent, sync: sync)
            // Another process may have been faster.
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw lastError }
            try sync(path)
        default: throw lastError
        }
    }

    /// Brings the names in the folder of a file to the disk, where the file system can.
    package static func syncFolder(of path: String) throws {
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw lastError }
        defer { _ = close(folder) }
        guard fsync(folder) == 0 || errno == EINVAL || errno == ENOTSUP else { throw lastError }
    }

    /// Writes a few words into a file of ours.
    package static func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }

    /// The first few words in a file of ours; none if it cannot be read.
    package static func text(_ path: String) -> String {
        guard let file = FileHandle(forReadingAtPath: path) else { return "" }
        return String(decoding: file.readData(ofLength: 8192), as: UTF8.self)
    }

    /// Removes a file, if there is one.
    package static func remove(_ path: String) throws {
        guard unlink(path) == 0 || errno == ENOENT else { throw lastError }
    }

    package static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    #if canImport(Darwin)
        private static let (seekData, seekHole): (Int32, Int32) = (SEEK_DATA, SEEK_HOLE)
    #else
        // Macros that are not imported.
        private static let (seekData, seekHole): (Int32, Int32) = (3, 4)
    #endif

    /// Whether most of a file is holes. Nothing that this package or SQLite writes is like that.
    package static func isMostlyHoles(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_size > 64 << 20, Int64(status.st_blocks) * 1024 < Int64(status.st_size) else {
            return false
        }
        // A file system that compresses has few blocks, too.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        var (data, offset): (off_t, off_t) = (0, 0)
        while data * 2 < status.st_size, case let start = lseek(descriptor, offset, seekData), start >= 0 {
            offset = lseek(descriptor, start, seekHole)
            guard offset > start else { break }
            data += offset - start
        }
        return data * 2 < status.st_size
    }

    package static func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }

    /// How many bytes a file takes; 0 if there is none.
    package static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Whether the path lies on a file system of another machine.
    package static func isOnNetwork(_ path: String) -> Bool {
        #if os(Linux)
            guard let mounts = FileManager.default.contents(atPath: "/proc/self/mounts") else { return false }
            return isOnNetwork(path, mounts: String(decoding: mounts, as: UTF8.self))
        #else
            var status = statfs()
            return statfs(path, &status) == 0 && status.f_flags & UInt32(MNT_LOCAL) == 0
        #endif
    }

    /// The same, by a table of mounts as Linux writes it.
    package static func isOnNetwork(_ path: String, mounts: String) -> Bool {
        var nearest = (length: -1, type: Substring())
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2 else { continue }
            let point = fields[1]
            let isAbove = point == "/" || path == point || path.hasPrefix(point + "/")
            if isAbove, point.count >= nearest.length { nearest = (point.count, fields[2]) }
        }
        return ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "fuse.sshfs", "fuse.rclone", "fuse.s3fs"].contains(nearest.type)
    }

    package static var lastError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}

/// What makes two paths one file: the device and the number of its node.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let node: UInt64

    /// - Returns: `nil` if there is no file.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    package init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        node = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
