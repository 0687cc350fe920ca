internal import Foundation
internal import VellumCore
internal import VellumEngine

/// A part of a key, on its way to canonical JSON: names in order, strings in normal form, each number in one spelling.
///
/// A class, because the containers of an encoder fill it after they were handed out.
final class CanonicalNode {
    enum Content {
        /// Nothing was encoded.
        case none
        /// JSON that is finished: a number, `true`, `false` or `null`.
        case literal(String)
        /// A string in normal form.
        case string(String)
        case array([CanonicalNode])
        /// In the order in which they came; of two of one name the later counts.
        case object([(name: String, node: CanonicalNode)])
    }

    var content: Content

    init(_ content: Content = .none) { self.content = content }

    func append(_ node: CanonicalNode) {
        var nodes: [CanonicalNode] = []
        if case .array(let present) = content { nodes = present }
        content = .none  // So that there is one reference to the array, and it need not be copied.
        nodes.append(node)
        content = .array(nodes)
    }

    func set(_ node: CanonicalNode, named name: String) {
        var nodes: [(name: String, node: CanonicalNode)] = []
        if case .object(let present) = content { nodes = present }
        content = .none
        nodes.append((EntryKey(name).normalized, node))
        content = .object(nodes)
    }

    /// The text: without spaces, the names of an object in the order of their UTF-8 bytes.
    var json: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64)
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func write(to bytes: inout [UInt8]) {
        switch content {
        case .none: bytes += "{}".utf8
        case .literal(let literal): bytes += literal.utf8
        case .string(let string): Self.write(string, to: &bytes)
        case .array(let nodes):
            bytes.append(UInt8(ascii: "["))
            for (index, node) in nodes.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                node.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let nodes):
            bytes.append(UInt8(ascii: "{"))
            let order = Self.order(of: nodes)
            for (index, place) in order.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(nodes[place].name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                nodes[place].node.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Where the members lie that count, in the order of their names.
    private static func order(of nodes: [(name: String, node: CanonicalNode)]) -> [Int] {
        let order = nodes.indices.sorted { left, right in
            let (first, second) = (nodes[left].name, nodes[right].name)
            if first.utf8.elementsEqual(second.utf8) { return left < right }
            return first.utf8.lexicographicallyPrecedes(second.utf8)
        }
        return order.indices.filter { place in
            place + 1 == order.count || !nodes[order[place]].name.utf8.elementsEqual(nodes[order[place + 1]].name.utf8)
        }.map { order[$0] }
    }

    private static func write(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        if string.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            bytes += string.utf8
        } else {
            writeEscaped(string, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func writeEscaped(_ string: String, to bytes: inout [UInt8]) {
        var followsDigit = false
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                bytes += [UInt8(ascii: "\\"), UInt8(truncatingIfNeeded: scalar.value)]
                followsDigit = false
            case _ where scalar.value < 0x20, _ where followsDigit && scalar.value >= 0x300:
                // A mark after an escape would make one character with its last digit in the normal form of the whole.
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    bytes += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
                }
                followsDigit = true
            default:
                bytes += String(scalar).utf8
                followsDigit = false
            }
        }
    }
}

// MARK: Leaves

extension CanonicalNode {
    static var null: CanonicalNode { CanonicalNode(.literal("null")) }

    convenience init(_ value: Bool) { self.init(.literal(value ? "true" : "false")) }

    convenience init(_ value: String) { self.init(.string(EntryKey(value).normalized)) }

    convenience init(_ value: some BinaryInteger) { self.init(.literal(String(value))) }

    /// A number that is whole is written as an integer, so that 1.0 is 1 and -0.0 is 0.
    ///
    /// - Returns: `nil` for what is no number or infinite.
    convenience init?(_ value: some BinaryFloatingPoint & LosslessStringConvertible) {
        guard value.isFinite else { return nil }
        if let integer = Int64(exactly: value) {
            self.init(integer)
        } else if let integer = UInt64(exactly: value) {
            self.init(integer)
        } else {
            self.init(.literal(value.description))
        }
    }

    /// The number that is written like this: as above, and as it is where a `Double` could not hold its digits.
    convenience init?(number text: String) {
        if let integer = Int64(text) {
            self.init(integer)
        } else if let integer = UInt64(text) {
            self.init(integer)
        } else if text.prefix(while: { $0 != "e" && $0 != "E" }).count(where: \.isNumber) > 15 {
            self.init(.literal(text))
        } else if let number = Double(text) {
            self.init(number)
        } else {
            return nil
        }
    }
}
