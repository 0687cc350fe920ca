internal import Foundation
internal import VellumFiles

/// The fields of values.
enum Fields {
    /// The field of a path such as `address.city`. A field whose name contains dots is found, too.
    static func value(at path: String, of value: CBORValue) -> CBORValue? {
        guard case .map(let pairs) = value else { return nil }
        if let found = pairs[.text(path)] { return found }
        guard let dot = path.firstIndex(of: "."), let inner = pairs[.text(String(path[..<dot]))] else { return nil }
        return self.value(at: String(path[path.index(after: dot)...]), of: inner)
    }

    /// The names of the fields of some values, in the order of the alphabet: short values first, containers last.
    static func names(of values: some Sequence<CBORValue>) -> [String] {
        var containers: [String: Bool] = [:]
        for case .map(let pairs) in values {
            for case (.text(let name), let value) in pairs { containers[name] = containers[name] ?? false || isContainer(value) }
        }
        return containers.sorted { ($0.value ? 1 : 0, $0.key) < ($1.value ? 1 : 0, $1.key) }.map(\.key)
    }

    private static func isContainer(_ value: CBORValue) -> Bool {
        switch value {
        case .array, .map, .bytes: true
        default: false
        }
    }

    /// A value in a cell of a table.
    static func cell(_ value: CBORValue?, zone: TimeZone) -> String {
        switch value {
        case nil, .null, .undefined: return ""
        case .text(let text): return text
        case .integer(let integer): return "\(integer)"
        case .float(let number):
            return number == number.rounded() && abs(number) < 1e15 ? String(Int(number)) : "\(number)"
        case .bool(let bool): return bool ? "true" : "false"
        case .bytes(let data): return Numbers.count(data.count, "byte", "bytes")
        case .tagged(1, .float(let seconds)): return Dates.local(Date(timeIntervalSince1970: seconds), zone: zone) ?? "\(seconds)"
        case .tagged(1, .integer(let seconds)):
            return Dates.local(Date(timeIntervalSince1970: Double(seconds)), zone: zone) ?? "\(seconds)"
        case .tagged(_, .text(let text)): return text
        case .some(let value): return value.json()
        }
    }

    /// Whether a column of values reads better to the right.
    static func isNumber(_ value: CBORValue?) -> Bool {
        switch value {
        case .integer, .float: true
        default: false
        }
    }
}
