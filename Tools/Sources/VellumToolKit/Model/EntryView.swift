internal import Foundation
internal import VellumFiles

/// What is shown of an entry, but its value.
struct EntryView: Sendable {
    var key: String
    var bytes = 0
    var recorded = Date(timeIntervalSince1970: 0)
    var expires: Date?
    /// How many seconds after its last use it expires.
    var idle: Double?
    var lastUsed = Date(timeIntervalSince1970: 0)
    var typeVersion = 0

    var members: [(key: String, value: JSON)] {
        [
            (
                "key", .text(key)
            ), ("bytes", .integer(bytes)), ("recorded", .date(recorded)),
            ("lastUsed", .date(lastUsed)),
            ("expires", .date(expires)), ("idleSeconds", .optional(idle, JSON.number)),
            ("typeVersion", .integer(typeVersion)),
        ]
    }

    var json: JSON { .object(members) }
}

/// What is shown of an object.
struct ObjectView: Sendable {
    var key: String
    var value: CBORValue

    /// The object with some of its fields; `nil` for all.
    func json(fields: [String]?, dates: Set<String>) -> JSON {
        guard let fields else {
            return ["key": .text(key), "value": .value(value, dates)]
        }
        let chosen = fields.map {
            (key: $0, value: Fields.json(at: $0, of: value, dates: dates))
        }
        return ["key": .text(key), "value": .object(chosen)]
    }
}

/// What is shown of a query.
struct ExplanationView: Sendable {
    var statement: String?
    var access: [String] = []
    var usesIndex = false
    var pushedDown: [String] = []
    var remaining: [String] = []
    var decodedObjects = 0
    var results = 0
    var seconds = 0.0

    var json: JSON {
        [
            "usesIndex": .bool(usesIndex), "statement": .optional(statement, JSON.text),
            "access": .array(access.map(JSON.text)),
            "byIndex": .array(pushedDown.map(JSON.text)),
            "byReading": .array(remaining.map(JSON.text)),
            "decodedObjects": .integer(decodedObjects), "results": .integer(results),
            "seconds": .number(seconds),
        ]
    }

    /// The explanation in words.
    var lines: [String] {
        var lines: [String] = []
        if statement == nil {
            lines.append("No index can help: every entry is read.")
        } else {
            lines.append(
                "By an index: "
                    + (pushedDown.isEmpty ? "every entry" : pushedDown.joined(separator: "; "))
            )
        }
        if !remaining.isEmpty {
            lines.append("By reading entries: " + remaining.joined(separator: "; "))
        }
        let decoded = "\(Numbers.count(decodedObjects, "entry", "entries")) read"
        lines.append(
            """
            \(Numbers.count(results, "result", "results")), \(decoded), \(Numbers.seconds(seconds))
            """
        )
        return lines + [statement].compactMap(\.self) + access
    }
}
