internal import Foundation

/// Reads values of RESP3 from bytes that arrive in pieces.
///
/// ```swift
/// guard let (value, length) = try RESPReader.value(in: received)
/// else { return }  // The rest has not arrived yet.
/// ```
///
/// Pure: it holds nothing between two calls, so the caller keeps the bytes of an incomplete value.
/// Lengths are checked before memory is reserved for them. Streamed strings and aggregates, which
/// no server sends, are malformed.
package enum RESPReader {
    /// Bytes that are not RESP3, or exceed a limit. Nothing after them can be read.
    package struct Malformed: Error, Hashable {
        package let reason: String
    }

    /// The longest string, in bytes. Values are shorter (``Connection/Limits``).
    static let longestString = 64 << 20
    /// The longest value of any kind, in bytes: more is not waited for.
    static let longestValue = longestString + (1 << 20)
    /// The most elements of an aggregate.
    static let mostElements = 1 << 20
    /// The longest line: a length, a number, a simple string or an error.
    static let longestLine = 64 << 10
    static let deepest = 16

    /// Returns the first value and its length, or `nil` if a part of it is missing.
    ///
    /// - Complexity: O(length), each time that it is called for the same value; O(1) while a single
    ///   string is incomplete.
    package static func value(
        in bytes: UnsafeRawBufferPointer
    ) throws(Malformed) -> (value: RESPValue, length: Int)? {
        var cursor = Cursor(bytes: bytes)
        do throws(Stop) {
            let value = try cursor.value(depth: 0)
            return (value, cursor.position)
        } catch {
            switch error {
            case .incomplete:
                guard bytes.count <= longestValue else {
                    throw Malformed(reason: "A value is too long.")
                }
                return nil
            case .malformed(let reason): throw Malformed(reason: reason)
            }
        }
    }

    private enum Stop: Error {
        case incomplete
        case malformed(String)
    }

    private struct Cursor {
        let bytes: UnsafeRawBufferPointer
        var position = 0

        mutating func value(depth: Int) throws(Stop) -> RESPValue {
            guard depth < RESPReader.deepest else {
                throw .malformed("An aggregate is nested too deeply.")
            }
            guard position < bytes.count else { throw .incomplete }
            let kind = bytes[position]
            position += 1
            switch kind {
            case UInt8(ascii: "$"): return try string(as: RESPValue.bytes)
            case UInt8(ascii: ":"): return .integer(try integer())
            case UInt8(ascii: "+"): return .simple(try line())
            case UInt8(ascii: "-"): return .error(try line())
            case UInt8(ascii: "_"):
                guard try line().isEmpty else { throw .malformed("A null has contents.") }
                return .null
            case UInt8(ascii: "*"): return try aggregate(depth, as: RESPValue.array)
            case UInt8(ascii: ">"): return try aggregate(depth, as: RESPValue.push)
            case UInt8(ascii: "~"): return try aggregate(depth, as: RESPValue.set)
            case UInt8(ascii: "%"):
                return try aggregate(depth, partsPerElement: 2, as: RESPValue.map)
            case UInt8(ascii: "#"): return .boolean(try boolean())
            case UInt8(ascii: ","): return .double(try double())
            case UInt8(ascii: "("): return .bigInteger(try line())
            case UInt8(ascii: "!"):
                return try string { .error(String(decoding: $0, as: UTF8.self)) }
            // Three letters and a colon say how the text is to be shown.
            case UInt8(ascii: "="):
                return try string {
                    .bytes($0.count >= 4 ? Data($0.dropFirst(4)) : $0)
                }
            case UInt8(ascii: "|"):
                // Attributes of the value after them are not used.
                _ = try aggregate(depth, partsPerElement: 2, as: RESPValue.map)
                return try value(depth: depth + 1)
            default: throw .malformed("A value begins with the byte \(kind).")
            }
        }

        // MARK: Lines

        /// The text up to the end of the line.
        private mutating func line() throws(Stop) -> String {
            String(decoding: try rawLine(), as: UTF8.self)
        }

        private mutating func rawLine() throws(Stop) -> UnsafeRawBufferPointer {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
            guard
                let end = rest.prefix(RESPReader.longestLine + 1).firstIndex(of: UInt8(ascii: "\r"))
            else {
                throw rest.count > RESPReader.longestLine
                    ? .malformed("A line is too long.") : .incomplete
            }
            guard end + 1 < rest.count else { throw .incomplete }
            guard rest[end + 1] == UInt8(ascii: "\n") else {
                throw .malformed("A line ends without a line feed.")
            }
            position += end + 2
            return UnsafeRawBufferPointer(rebasing: rest[..<end])
        }

        private mutating func integer() throws(Stop) -> Int64 {
            let digits = try rawLine()
            let isNegative = digits.first == UInt8(ascii: "-")
            let magnitude = digits.dropFirst(
                isNegative || digits.first == UInt8(ascii: "+") ? 1 : 0
            )
            guard !magnitude.isEmpty else { throw .malformed("A number has no digits.") }
            // Built as a negative number, because the smallest one has no opposite.
            var number: Int64 = 0
            for digit in magnitude {
                guard case UInt8(ascii: "0")...UInt8(ascii: "9") = digit else {
                    throw .malformed("A number has a byte \(digit).")
                }
                let (product, overflowed) = number.multipliedReportingOverflow(by: 10)
                let (difference, isTooSmall) = product.subtractingReportingOverflow(
                    Int64(digit - UInt8(ascii: "0"))
                )
                guard !overflowed, !isTooSmall else { throw .malformed("A number is too large.") }
                number = difference
            }
            guard isNegative || number != .min else { throw .malformed("A number is too large.") }
            return isNegative ? number : -number
        }

        private mutating func boolean() throws(Stop) -> Bool {
            switch try line() {
            case "t": return true
            case "f": return false
            default: throw .malformed("A boolean is neither t nor f.")
            }
        }

        private mutating func double() throws(Stop) -> Double {
            guard let number = Double(try line()) else {
                throw .malformed("A floating-point number is malformed.")
            }
            return number
        }

        // MARK: Strings and aggregates

        /// The string after its length; a length of -1 is the null of RESP2.
        private mutating func string(as make: (Data) -> RESPValue) throws(Stop) -> RESPValue {
            let length = try integer()
            if length == -1 { return .null }
            guard 0...Int64(RESPReader.longestString) ~= length else {
                throw .malformed("A string has a length of \(length).")
            }
            let end = position + Int(length)
            guard end + 2 <= bytes.count else { throw .incomplete }
            guard bytes[end] == UInt8(ascii: "\r"),
                bytes[end + 1] == UInt8(ascii: "\n")
            else {
                throw .malformed("A string does not end where its length says.")
            }
            defer { position = end + 2 }
            return make(Data(bytes[position..<end]))
        }

        /// The elements after their number; a number of -1 is the null of RESP2.
        private mutating func aggregate(
            _ depth: Int,
            partsPerElement: Int = 1,
            as make: ([RESPValue]) -> RESPValue
        ) throws(Stop) -> RESPValue {
            let count = try integer()
            if count == -1 { return .null }
            guard 0...Int64(RESPReader.mostElements) ~= count else {
                throw .malformed("An aggregate has \(count) elements.")
            }
            return make(try elements(Int(count) * partsPerElement, depth))
        }

        private mutating func elements(_ count: Int, _ depth: Int) throws(Stop) -> [RESPValue] {
            var elements: [RESPValue] = []
            // An element has three bytes or more.
            elements.reserveCapacity(min(count, (bytes.count - position) / 3))
            for _ in 0..<count { elements.append(try value(depth: depth + 1)) }
            return elements
        }
    }
}
