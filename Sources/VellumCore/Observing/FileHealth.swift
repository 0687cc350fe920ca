public import Foundation

/// What a check of a file has found: whether it can be read and written, how long that took, and
/// how much space is left.
public struct FileHealth: Sendable, CustomStringConvertible {
    /// How long reading took.
    public package(set) var readTime = Duration.zero
    /// How long writing took, with waiting for others that write; `nil` for a file that is only
    /// read.
    public package(set) var writeTime: Duration?
    /// Why writing failed. ``VellumError/Code/busy`` if another thread or process held the lock of
    /// writers for longer than the check waits.
    public package(set) var writeFailure: VellumError?
    /// The space that is free on the volume; `nil` if it is unknown.
    public package(set) var freeSpace: DataSize?
    /// The size of the file, without its log.
    public package(set) var fileSize = DataSize.zero
    /// The size of the log, also where it is copied into the file already.
    public package(set) var logSize = DataSize.zero
    /// The last failure that any call has met since this process opened the file; damage, if one
    /// has met it. A miss is not a failure.
    public package(set) var lastFailure: (error: VellumError, date: Date)?

    package init() {}

    /// Whether the file can be written, or is only read, and no call has met damage. Opening a
    /// damaged file again repairs it.
    public var isHealthy: Bool { writeFailure == nil && lastFailure?.error.code != .damagedFile }

    /// What was found, in one line to read.
    public var description: String {
        let write =
            writeFailure.map { "not written: \($0.code)" } ?? writeTime.map { "written in \($0)" }
            ?? "only read"
        let last = lastFailure.map { "last failure \($0.error.code) at \($0.date)" } ?? "no failure"
        let sizes =
            "file \(fileSize), log \(logSize), free \(freeSpace.map { "\($0)" } ?? "unknown")"
        return
            """
            \(isHealthy ? "healthy" : "unhealthy"), read in \(readTime), \(write), \(sizes), \(last)
            """
    }
}
