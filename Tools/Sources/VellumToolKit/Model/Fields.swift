internal import Foundation
internal import VellumFiles

/// The fields of values.
enum Fields {
    /// The field of a path such as `address.city`. A field whose name contains dots is found, too.
    static func value(at path: String, of value: CBORValue) -> CBORValue? {
        if let found = value.member(path) { return found }
        let scalars = path.unicodeScalars
        guard let dot = scalars.firstIndex(of: "."),
            let inner = value.member(String(scalars[..<dot]))
        else { return nil }
        let rest = scalars[dot...].dropFirst()
        return self.value(at: String(rest), of: inner)
    }

    /// The names in a list with commas.
    static func list(_ text: String) -> [String] {
        text.unicodeScalars.split(separator: ",").map {
            String($0).trimmingCharacters(in: .whitespaces)
        }
        .filter { !$0.isEmpty }
    }

    /// The field of a path as JSON.
    static func json(at path: String, of value: CBORValue, dates: Set<String>) -> JSON {
        guard let found = self.value(at: path, of: value) else {
            return .null
        }
        if dates.contains(path), let date = date(found) {
            return .date(date)
        }
        return .value(
            found,
            Set(
                dates.filter { $0.hasPrefix(path + ".") }.map {
                    String($0.dropFirst(path.count + 1))
                }
            )
        )
    }

    /// The date of a number as Swift's types write it: seconds since 2001.
    static func date(_ value: CBORValue) -> Date? {
        switch value {
        case .float(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .integer(let seconds):
            Date(timeIntervalSinceReferenceDate: Double(seconds))
        default: nil
        }
    }

    /// The field of a path in a cell of a table.
    static func cell(
        at path: String,
        of value: CBORValue,
        dates: Set<String>,
        zone: TimeZone
    ) -> String {
        let found = self.value(at: path, of: value)
        if dates.contains(path),
            let text = found.flatMap(date).flatMap({ Dates.local($0, zone: zone) })
        {
            return text
        }
        return cell(found, zone: zone)
    }

    /// The names of the fields of some values, in the order of the alphabet: short values first,
    /// containers last.
    static func names(of values: some Sequence<CBORValue>) -> [String] {
        var containers: [String: Bool] = [:]
        for case .map(let pairs) in values {
            for (key, value) in pairs {
                let name = key.plainText
                containers[name] = containers[name] ?? false || isContainer(value)
            }
        }
        return containers.sorted {
            (
                $0.value ? 1 : 0, $0.key
            ) < ($1.value ? 1 : 0, $1.key)
        }.map(
            \.key
        )
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
            return number == number.rounded() && abs(number) < 1e15
                ? String(Int(number)) : "\(number)"
        case .bool(let bool): return bool ? "true" : "false"
        case .bytes(let data):
            return Numbers.count(data.count, "byte", "bytes")
        case .tagged(1, .float(let seconds)):
            return Dates.local(Date(timeIntervalSince1970: seconds), zone: zone) ?? "\(seconds)"
        case .tagged(1, .integer(let seconds)):
            return Dates.local(Date(timeIntervalSince1970: Double(seconds)), zone: zone)
                ?? "\(seconds)"
        case .some(let value): return value.plainText
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
