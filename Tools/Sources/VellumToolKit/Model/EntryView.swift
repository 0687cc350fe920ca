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
