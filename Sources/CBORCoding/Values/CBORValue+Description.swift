internal import Foundation

extension CBORValue: CustomStringConvertible {
    /// The value in diagnostic notation (RFC 8949, 8), with map entries sorted by the text of their
    /// keys.
    public var description: String {
        switch self {
        case .integer(let integer): return "\(integer)"
        case .float(let number): return Self.description(of: number)
        case .bytes(let data):
            return "h'"
                + data.map {
                    Self.hexadecimal($0, digits: 2)
                }.joined() + "'"
        case .text(let text): return Self.quoted(text)
        case .array(let elements):
            return "[" + elements.map(\.description).joined(separator: ", ") + "]"
        case .map(let pairs):
            let sorted = pairs.map {
                (key: $0.key.description, value: $0.value.description)
            }.sorted { $0.key < $1.key }
            return "{"
                + sorted.map {
                    "\($0.key): \($0.value)"
                }.joined(separator: ", ") + "}"
        case .tagged(let tag, let value): return "\(tag)(\(value))"
        case .bool(let value): return "\(value)"
        case .null: return "null"
        case .undefined: return "undefined"
        case .simple(let number): return "simple(\(number))"
        }
    }

    private static func description(of number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        return "\(number)"
    }

    /// Returns the text as a JSON string literal. Control characters, and marks that change the
    /// direction of a text, are escaped.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{61C}", "\u{200E}", "\u{200F}",
                "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{FEFF}":
                result += "\\u" + hexadecimal(scalar.value, digits: 4)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func hexadecimal(_ number: some BinaryInteger, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
