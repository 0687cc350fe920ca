package import Foundation

/// A command in the bytes in which it is sent: an array of strings.
///
/// ```swift
/// let command = RESPCommand("GET", key)
/// ```
package struct RESPCommand: Sendable {
    /// What the server is asked to do, without arguments.
    let name: String
    package private(set) var bytes: [UInt8]

    /// Creates a command of a name and its arguments, which may be texts, bytes and integers.
    package init(_ parts: any Argument...) {
        self.init(parts)
    }

    package init(_ parts: [any Argument]) {
        name = parts.first as? String ?? ""
        bytes = []
        bytes.reserveCapacity(parts.reduce(16) { $0 + $1.byteCount + 16 })
        append("*", parts.count)
        for part in parts {
            append("$", part.byteCount)
            part.append(to: &bytes)
            bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        }
    }

    /// The bytes of a command that is sent again and again, around its first argument.
    struct Frame: Sendable {
        fileprivate let name: String
        fileprivate let (start, end): ([UInt8], [UInt8])

        /// - Parameter after: The arguments after the first one.
        init(_ name: String, after: any Argument...) {
            let whole = RESPCommand([name, ""] + after).bytes
            // $0, and an empty line.
            let empty =
                whole.firstRange(of: Array("$0\r\n\r\n".utf8)) ?? whole.endIndex..<whole.endIndex
            self.name = name
            start = Array(whole[..<empty.lowerBound])
            end = Array(whole[empty.upperBound...])
        }
    }

    init(_ frame: Frame, key: String) {
        name = frame.name
        bytes = frame.start
        bytes.reserveCapacity(frame.start.count + frame.end.count + key.utf8.count + 16)
        append("$", key.utf8.count)
        key.append(to: &bytes)
        bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        bytes += frame.end
    }

    private mutating func append(_ kind: Unicode.Scalar, _ count: Int) {
        bytes.append(UInt8(ascii: kind))
        bytes += String(count).utf8
        bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
    }

    /// A part of a command.
    package protocol Argument: Sendable {
        var byteCount: Int { get }
        func append(to bytes: inout [UInt8])
    }
}

extension String: RESPCommand.Argument {
    package var byteCount: Int { utf8.count }
    package func append(to bytes: inout [UInt8]) { bytes += utf8 }
}

extension Data: RESPCommand.Argument {
    package var byteCount: Int { count }
    package func append(to bytes: inout [UInt8]) { bytes += self }
}

extension Int64: RESPCommand.Argument {
    package var byteCount: Int { String(self).utf8.count }
    package func append(to bytes: inout [UInt8]) { bytes += String(self).utf8 }
}
