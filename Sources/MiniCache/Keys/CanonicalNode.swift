internal import Foundation
internal import Tiers

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
        case object([String: CanonicalNode])
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
        var nodes: [String: CanonicalNode] = [:]
        if case .object(let present) = content { nodes = present }
        content = .none
        nodes[EntryKey(name).normalized] = node
        content = .object(nodes)
    }

    /// The text: without spaces, the names of an object in the order of their UTF-8 bytes.
    var json: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch content {
        case .none: text += "{}"
        case .literal(let literal): text += literal
        case .string(let string): Self.write(string, to: &text)
        case .array(let nodes):
            text += "["
            for (index, node) in nodes.enumerated() {
                if index > 0 { text += "," }
                node.write(to: &text)
            }
            text += "]"
        case .object(let nodes):
            text += "{"
            let inOrder = nodes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, node) in inOrder.enumerated() {
                if index > 0 { text += "," }
                Self.write(node.key, to: &text)
                text += ":"
                node.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        var followsDigit = false
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                text.unicodeScalars.append("\\")
                text.unicodeScalars.append(scalar)
                followsDigit = false
            case _ where scalar.value < 0x20, _ where followsDigit && scalar.value >= 0x300:
                // A mark after an escape would make one character with its last digit in the normal form of the whole.
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
                followsDigit = true
            default:
                text.unicodeScalars.append(scalar)
                followsDigit = false
            }
        }
        text += "\""
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
