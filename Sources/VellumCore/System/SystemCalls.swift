internal import Foundation

/// The calls of ``FileSystem``, implemented by the C library.
package enum SystemCalls {
    package typealias Path = FileSystem.Path
    package typealias Answer = FileSystem.Answer
    package typealias Status = FileSystem.Status

    @Sendable
    package static func open(_ path: Path, _ purpose: FileSystem.Purpose) -> Int32 {
        switch purpose {
        case .reading:
            StandardStreams.avoiding { Foundation.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
        case .creating:
            StandardStreams.avoiding {
                Foundation.open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
            }
        case .syncingFolder:
            StandardStreams.avoiding { Foundation.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        }
    }

    @Sendable
    package static func read(_ file: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int
    {
        repeating { Foundation.read(file, buffer, min(count, largestPiece)) }
    }

    @Sendable
    package static func readAt(
        _ file: Int32,
        _ buffer: UnsafeMutableRawPointer,
        _ count: Int,
        _ offset: Int
    ) -> Int {
        repeating { pread(file, buffer, min(count, largestPiece), off_t(offset)) }
    }

    @Sendable
    package static func write(_ file: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        repeating { Foundation.write(file, bytes, min(count, largestPiece)) }
    }

    @Sendable
    package static func sync(_ file: Int32, _ purpose: FileSystem.Purpose) -> Int32 {
        #if canImport(Darwin)
            // `fsync` alone leaves the bytes in the disk's cache.
            if fcntl(file, F_FULLFSYNC) == 0 { return 0 }
            return repeating { fsync(file) }
        #else
            guard purpose == .syncingFolder else { return repeating { fdatasync(file) } }
            let answer = repeating { fsync(file) }
            // Some file systems do not support syncing a folder, because they have nothing to sync.
            return answer == -EINVAL || answer == -ENOTSUP ? 0 : answer
        #endif
    }

    @Sendable
    package static func close(_ file: Int32) -> Int32 {
        guard Foundation.close(file) != 0 else { return 0 }
        // An interrupted close has closed the file on Linux, and may have elsewhere, so it is not
        // repeated.
        let code = errno
        return code == EINTR ? 0 : -code
    }

    @Sendable
    package static func rename(_ path: Path, _ target: Path) -> Int32 {
        answer(Foundation.rename(path, target))
    }

    @Sendable
    package static func unlink(_ path: Path) -> Int32 {
        let result = answer(Foundation.unlink(path))
        guard result == -EPERM, case .value(let status) = statusAt(path), status.kind == .folder
        else { return result }
        return -EISDIR  // As on Linux; POSIX asks for `EPERM`.
    }

    @Sendable
    package static func makeFolder(_ path: Path) -> Int32 { answer(mkdir(path, 0o700)) }

    @Sendable
    package static func removeFolder(_ path: Path) -> Int32 { answer(rmdir(path)) }

    @Sendable
    package static func status(_ file: Int32) -> Answer<Status> {
        var status = stat()
        return fstat(file, &status) == 0
            ? .value(Status(status))
            : .failure(-errno)
    }

    @Sendable
    package static func statusAt(_ path: Path) -> Answer<Status> {
        var status = stat()
        return lstat(path, &status) == 0
            ? .value(Status(status))
            : .failure(-errno)
    }

    /// Darwin transfers at most two gigabytes in one call.
    private static let largestPiece = 1 << 30

    private static func answer(_ result: Int32) -> Int32 { result == 0 ? 0 : -errno }

    static func repeating<Result: SignedInteger>(_ call: () -> Result) -> Result {
        while true {
            let result = call()
            if result >= 0 { return result }
            let code = errno
            if code != EINTR { return Result(-code) }
        }
    }
}

extension FileSystem.Status {
    fileprivate init(_ status: stat) {
        let kind: FileSystem.Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            default: .other
            }
        #if canImport(Darwin)
            let modified = status.st_mtimespec
        #else
            let modified = status.st_mtim
        #endif
        let milliseconds = Int64(modified.tv_sec) * 1000 + Int64(modified.tv_nsec) / 1_000_000
        self.init(
            kind: kind,
            size: Int(status.st_size),
            modified: WallInstant(rawValue: milliseconds)
        )
    }
}
