internal import Foundation
internal import VellumCore
internal import VellumEngine

extension CanonicalNode {
    /// The value that a JSON text spells (RFC 8259), whatever its spaces and the order of its names; `nil` if it spells none.
    convenience init?(json: String) {
        var parser = JSONParser(bytes: Array(json.utf8))
        guard let node = parser.document() else { return nil }
        self.init(node.content)
    }
}

/// Reads JSON and keeps the spelling of numbers, which Foundation's would not.
private struct JSONParser {
    let bytes: [UInt8]
    var place = 0

    /// How deep values may be nested.
    private static let deepest = 256

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() -> CanonicalNode? {
        guard let node = value(depth: 0) else { return nil }
        skipSpaces()
        return place == bytes.count ? node : nil
    }

    private mutating func value(depth: Int) -> CanonicalNode? {
        guard depth < Self.deepest else { return nil }
        skipSpaces()
        guard place < bytes.count else { return nil }
        switch bytes[place] {
        case UInt8(ascii: "{"): return object(depth: depth)
        case UInt8(ascii: "["): return array(depth: depth)
        case UInt8(ascii: "\""): return string().map { CanonicalNode($0) }
        case UInt8(ascii: "t"): return take("true") ? CanonicalNode(true) : nil
        case UInt8(ascii: "f"): return take("false") ? CanonicalNode(false) : nil
        case UInt8(ascii: "n"): return take("null") ? .null : nil
        default: return number()
        }
    }

    private mutating func object(depth: Int) -> CanonicalNode? {
        let node = CanonicalNode(.object([]))
        place += 1
        skipSpaces()
        if take("}") { return node }
        while true {
            skipSpaces()
            guard let name = string() else { return nil }
            skipSpaces()
            guard take(":"), let value = value(depth: depth + 1) else { return nil }
            node.set(value, named: name)
            skipSpaces()
            if take("}") { return node }
            guard take(",") else { return nil }
        }
    }

    private mutating func array(depth: Int) -> CanonicalNode? {
        let node = CanonicalNode(.array([]))
        place += 1
        skipSpaces()
        if take("]") { return node }
        while true {
            guard let value = value(depth: depth + 1) else { return nil }
            node.append(value)
            skipSpaces()
            if take("]") { return node }
            guard take(",") else { return nil }
        }
    }

    /// A string; its escapes are Foundation's to understand.
    private mutating func string() -> String? {
        guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { return nil }
        let start = place
        var hasEscape = false
        place += 1
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            if bytes[place] < 0x20 { return nil }
            if bytes[place] == UInt8(ascii: "\\") {
                hasEscape = true
                place += 1
            }
            place += 1
        }
        guard place < bytes.count else { return nil }
        place += 1
        guard hasEscape else { return String(decoding: bytes[(start + 1)..<(place - 1)], as: UTF8.self) }
        do {
            return try JSONCoders.decoder.decode(String.self, from: Data(bytes[start..<place]))
        } catch {
            return nil
        }
    }

    private mutating func number() -> CanonicalNode? {
        let start = place
        while place < bytes.count, Self.isOfNumber(bytes[place]) { place += 1 }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        // Swift reads more spellings than JSON knows: a sign before, nothing before or after the point.
        guard let first = text.utf8.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "."), !text.hasSuffix(".") else { return nil }
        return Double(text) == nil ? nil : CanonicalNode(number: text)
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"),
            UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private mutating func take(_ token: StaticString) -> Bool {
        let end = place + token.utf8CodeUnitCount
        guard end <= bytes.count else { return false }
        let isThere = token.withUTF8Buffer { $0.elementsEqual(bytes[place..<end]) }
        if isThere { place = end }
        return isThere
    }

    private mutating func skipSpaces() {
        while place < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[place]) { place += 1 }
    }
}
