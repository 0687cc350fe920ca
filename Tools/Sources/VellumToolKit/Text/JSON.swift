internal import Foundation
internal import VellumFiles

/// A document of JSON whose keys stay in the order in which they are written here.
indirect enum JSON: Sendable {
    case object([(key: String, value: JSON)])
    case array([JSON])
    /// A value of an archive, and which of its fields are dates.
    case value(CBORValue, Set<String> = [])

    static let null = JSON.value(.null)

    static func text(_ text: String) -> JSON {
        .value(.text(text))
    }
    static func integer(_ integer: Int) -> JSON {
        .value(.integer(Int128(integer)))
    }
    static func number(_ number: Double) -> JSON {
        number.isFinite ? .value(.float(number)) : null
    }
    static func bool(_ bool: Bool) -> JSON {
        .value(.bool(bool))
    }

    /// A date by RFC 3339, in UTC.
    static func date(_ date: Date?) -> JSON {
        optional(date.flatMap(Dates.utc), JSON.text)
    }

    static func optional<Value>(_ value: Value?, _ make: (Value) -> JSON) -> JSON {
        value.map(make) ?? .null
    }

    /// The document on one line.
    var line: String { rendered(indent: nil) }

    /// The document on many lines.
    var pretty: String { rendered(indent: 0) }

    /// - Parameter indent: How deep the value stands; `nil` for all on one line.
    private func rendered(indent: Int?) -> String {
        switch self {
        case .object(let members):
            let inner = members.map { member in
                JSON.text(member.key).line + (indent == nil ? ":" : ": ")
                    + member.value.rendered(indent: indent.map { $0 + 1 })
            }
            return Self.container(inner, "{", "}", indent)
        case .array(let elements):
            return Self.container(
                elements.map { $0.rendered(indent: indent.map { $0 + 1 }) },
                "[",
                "]",
                indent
            )
        case .value(let value, let dateFields):
            let json = JSONText.safe(value.json(isPretty: indent != nil, dateFields: dateFields))
            return json.replacing("\n", with: "\n" + Self.spaces(indent ?? 0))
        }
    }

    private static func container(
        _ inner: [String],
        _ start: String,
        _ end: String,
        _ indent: Int?
    ) -> String {
        guard let indent, !inner.isEmpty else {
            return start + inner.joined(separator: ",") + end
        }
        let lines = inner.map { spaces(indent + 1) + $0 }.joined(separator: ",\n")
        return "\(start)\n\(lines)\n\(spaces(indent))\(end)"
    }

    private static func spaces(_ indent: Int) -> String {
        String(repeating: "  ", count: indent)
    }
}

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    init(dictionaryLiteral members: (String, JSON)...) {
        self = .object(members.map { (key: $0.0, value: $0.1) })
    }
    init(arrayLiteral elements: JSON...) { self = .array(elements) }
}
