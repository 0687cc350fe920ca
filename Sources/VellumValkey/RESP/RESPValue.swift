package import Foundation

/// A value of RESP3, the protocol of Redis and Valkey
/// ([specification](https://github.com/redis/redis-specifications/blob/master/protocol/RESP3.md)).
package indirect enum RESPValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    /// The digits of an integer of any length.
    case bigInteger(String)
    case simple(String)
    case bytes(Data)
    case error(String)
    case array([RESPValue])
    case set([RESPValue])
    /// Keys and values in turn, in the order in which they were sent.
    case map([RESPValue])
    /// A message that the server sends without a command, such as the keys that others changed.
    case push([RESPValue])
}

extension RESPValue {
    /// The bytes, if the value is a string of either form.
    package var data: Data? {
        switch self {
        case .bytes(let bytes): bytes
        case .simple(let text): Data(text.utf8)
        default: nil
        }
    }

    /// The text, if the value is a string of either form, in UTF-8.
    package var text: String? {
        switch self {
        case .bytes(let bytes): String(bytes: bytes, encoding: .utf8)
        case .simple(let text): text
        default: nil
        }
    }

    /// The code of an error, its first word. Redis 6.2 puts the error of a command in a script
    /// behind a text of its own.
    static func code(ofError message: String) -> Substring {
        let wrapped = message.hasPrefix("ERR Error running script") ? message.range(of: ": -") : nil
        return message[(wrapped?.upperBound ?? message.startIndex)...].prefix { $0 != " " }
    }

    /// The text of a name, in a map or an array of names and values in turn.
    package func text(named name: String) -> String? {
        let parts = if case .map(let parts) = self { parts } else { elements ?? [] }
        return stride(from: 0, to: parts.count - 1, by: 2).first {
            parts[$0].text == name
        }.flatMap { parts[$0 + 1].text }
    }

    var integer: Int64? {
        if case .integer(let integer) = self { integer } else { nil }
    }

    /// The elements of an array, a set or a push.
    package var elements: [RESPValue]? {
        switch self {
        case .array(let elements), .set(let elements), .push(let elements): elements
        default: nil
        }
    }
}
