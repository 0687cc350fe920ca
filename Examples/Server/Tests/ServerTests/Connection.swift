import Foundation
import Synchronization

/// A connection that blocks, so that a test decides when it reads. No answer within ten minutes is
/// an error: only a server that hangs takes so long.
final class Connection {
    struct Answer {
        var status: Int
        var body: String
    }

    struct Failure: Error {
        var reason: String
    }

    private let descriptor: Int32
    private var buffer = ""

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_RCVTIMEO,
            &limit,
            socklen_t(MemoryLayout<timeval>.size)
        )
        setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_SNDTIMEO,
            &limit,
            socklen_t(MemoryLayout<timeval>.size)
        )
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) {
                connect(descriptor, $0.baseAddress, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            let failure = Failure(reason: "connect: \(errno)")
            close(descriptor)
            throw failure
        }
    }

    deinit { close(descriptor) }

    /// Sends a request and does not wait for its answer.
    func send(_ method: String, _ path: String, body: String = "") throws {
        let length = body.utf8.count
        var bytes = Array(
            """
            \(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \
            \(length)\r\n\r\n\(body)
            """
            .utf8
        )[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(reason: "send: \(errno)") }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Returns the next answer that says its length.
    func answer() throws -> Answer {
        let head = try text(until: "\r\n\r\n")
        let status = head.firstMatch(of: /^HTTP\/1.1 (\d+)/).flatMap { Int($0.1) }
        let length = head.firstMatch(of: /(?i)content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
        guard let status else { throw Failure(reason: head) }
        while buffer.utf8.count < length {
            guard try readMore() else { throw Failure(reason: "An answer is cut.") }
        }
        let body = String(decoding: buffer.utf8.prefix(length), as: UTF8.self)
        buffer = String(decoding: buffer.utf8.dropFirst(length), as: UTF8.self)
        return Answer(status: status, body: body)
    }

    func answer(to method: String, _ path: String, body: String = "") throws -> Answer {
        try send(method, path, body: body)
        return try answer()
    }

    /// Returns what comes next, up to a mark.
    func text(until mark: String) throws -> String {
        while true {
            if let range = buffer.range(of: mark) {
                defer { buffer.removeSubrange(..<range.upperBound) }
                return String(buffer[..<range.lowerBound])
            }
            guard try readMore() else { throw Failure(reason: "The connection ended.") }
        }
    }

    /// Returns everything up to the end of the connection.
    func rest() throws -> String {
        while try readMore() {}
        return buffer
    }

    private func readMore() throws -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw Failure(reason: "receive: \(errno)") }
        buffer += String(decoding: bytes[..<count], as: UTF8.self)
        return count > 0
    }
}
