internal import Foundation
internal import Synchronization

/// Standard output or standard error, with a buffer.
final class OutputStream: Sendable {
    private let descriptor: Int32
    private let buffer = Mutex<[UInt8]>([])

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Adds bytes, and writes them down when there are enough.
    func write(_ bytes: some Sequence<UInt8>) throws {
        try buffer.withLock { buffer in
            buffer.append(contentsOf: bytes)
            if buffer.count >= 1 << 15 { try Self.write(&buffer, to: descriptor) }
        }
    }

    /// Writes down what was added.
    func flush() throws { try buffer.withLock { try Self.write(&$0, to: descriptor) } }

    private static func write(_ buffer: inout [UInt8], to descriptor: Int32) throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        try Descriptors.write(buffer, to: descriptor, name: "the output")
    }
}

/// Calls of the system on descriptors.
enum Descriptors {
    /// Opens `/dev/null` for reading in place of each standard stream that is closed: what is
    /// opened later would get its number, and the output.
    static func holdStandardStreams() {
        for stream: Int32 in 0...2 where fcntl(stream, F_GETFD) == -1 {
            // The system gives the lowest descriptor that is free.
            let null = open("/dev/null", O_RDONLY)
            if null > 2 { _ = close(null) }
        }
    }

    /// Whether nobody reads what is written.
    static func isClosed(_ descriptor: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&waiting, 1, 0) > 0 && waiting.revents & Int16(POLLERR | POLLHUP) != 0
    }

    /// Writes all bytes.
    ///
    /// - Throws: ``ClosedOutput`` if nobody reads them.
    static func write(_ bytes: some ContiguousBytes, to descriptor: Int32, name: String) throws {
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = Foundation.write(
                    descriptor,
                    UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                    rest.count
                )
                if written >= 0 {
                    rest = rest.dropFirst(written)
                } else if errno == EPIPE {
                    throw ClosedOutput()
                } else if errno == EAGAIN {
                    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&waiting, 1, -1)
                } else if errno != EINTR {
                    throw SystemFailure("write \(name)", code: errno)
                }
            }
        }
    }
}
