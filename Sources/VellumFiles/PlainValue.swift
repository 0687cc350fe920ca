internal import CBORCoding
internal import Foundation

/// A value of CBOR as Swift's types write it, in the form in which a person reads it.
struct PlainValue {
    let value: CBORValue

    init(_ value: CBORValue) { self.value = value }

    /// The text of a text, a URL, a UUID, or a case of an enum without associated values; `nil` for
    /// others.
    var text: String? {
        switch value {
        case .text(let text), .tagged(32, .text(let text)): return text
        case .tagged(37, .bytes(let bytes)) where bytes.count == 16:
            return bytes.withUnsafeBytes {
                UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString
            }
        case .map(let pairs):
            guard pairs.count == 1,
                let (name, content) = pairs.first,
                case .text(let text) = name,
                content == .map([:])
            else { return nil }
            return text
        default: return nil
        }
    }

    /// A date; `nil` for others.
    var date: Date? {
        switch value {
        case .tagged(1, .integer(let seconds)): Date(timeIntervalSince1970: Double(seconds))
        case .tagged(1, .float(let seconds)): Date(timeIntervalSince1970: seconds)
        default: nil
        }
    }

    /// The digits of a decimal fraction, its mantissa times a power of ten (RFC 8949, 3.4.4); `nil`
    /// for others.
    var decimalText: String? {
        guard case .tagged(4, .array(let parts)) = value, parts.count == 2,
            case .integer(let exponent) = parts[0],
            case .integer(let mantissa) = parts[1], -400...400 ~= exponent
        else { return nil }
        let digits = "\(mantissa.magnitude)"
        let sign = mantissa < 0 ? "-" : ""
        guard exponent < 0 else {
            return sign + digits + String(repeating: "0", count: mantissa == 0 ? 0 : Int(exponent))
        }
        let decimals = Int(-exponent)
        let zeros = String(repeating: "0", count: max(0, decimals + 1 - digits.count))
        let padded = zeros + digits
        return "\(sign)\(padded.dropLast(decimals)).\(padded.suffix(decimals))"
    }

    /// The nearest number of a decimal fraction.
    var decimal: Double? { decimalText.flatMap(Double.init) }
}

extension CBORValue {
    /// Returns the value as JSON that a person reads.
    ///
    /// ```swift
    /// print(value.json())
    /// // {"createdAt":"2026-03-01T08:00:00Z","name":"Ann","role":"admin"}
    /// ```
    ///
    /// Dates are those of ISO 8601 in UTC, data is Base64, decimal numbers have all their digits, a
    /// case of an enum without associated values is its name, and one with a single unnamed value
    /// has that under its name. Keys are sorted. What JSON has no number for is a text: `"NaN"`.
    /// This is not a form to store: it says less than the value.
    ///
    /// Swift's types write a date as a number, of seconds since 2001. A number is shown as a date
    /// if its field is one of `dateFields`, or if it is a moment from 2004 to 2100 and has the name
    /// of a date: `date`, `time`, `born`, `expires`, `createdAt`, `startTime`, `updatedOn` and the
    /// like.
    ///
    /// - Parameters:
    ///   - isPretty: Whether to use several lines.
    ///   - dateFields: Fields that are dates, as a query names them: `RawArchive.dateFields()` has
    ///     those that an index knows.
    /// - Complexity: O(n log n) in the size of the value.
    public func json(isPretty: Bool = false, dateFields: Set<String> = []) -> String {
        var writer = JSONText(isPretty: isPretty, dateFields: dateFields)
        writer.append(self)
        return writer.text
    }
}

/// Writes JSON (RFC 8259).
struct JSONText {
    private(set) var text = ""
    private let isPretty: Bool
    private let dateFields: Set<String>
    /// The names of the fields in which the value is, without numbers of elements.
    private var path: [String] = []
    private var depth = 0
    /// How deep the value stands in keys of maps: each level doubles the marks before its quotes.
    private var levelsOfKeys = 0

    init(isPretty: Bool, dateFields: Set<String>) {
        self.isPretty = isPretty
        self.dateFields = dateFields
    }

    mutating func append(_ value: CBORValue) {
        let plain = PlainValue(value)
        if let name = plain.text { return append(quoted: name) }
        if let date = plain.date ?? dateOfNumber(value) {
            return append(quoted: Self.text(of: date))
        }
        if let decimal = plain.decimalText { return text += decimal }
        switch value {
        case .integer(let integer): text += "\(integer)"
        case .float(let number): append(number)
        case .bytes(let data): append(quoted: data.base64EncodedString())
        case .bool(let value): text += value ? "true" : "false"
        case .null, .undefined: text += "null"
        case .simple(let number): text += "\(number)"
        case .tagged(_, let inner): append(inner)
        case .array(let elements): append(elements.map { (nil, $0) }, "[", "]")
        case .map(let pairs):
            let named = pairs.map {
                (name: name(of: $0.key), value: Self.unwrapped($0.value))
            }
            append(
                named.sorted { $0.name < $1.name }.map {
                    ($0.name, $0.value)
                },
                "{",
                "}"
            )
        case .text(let string): append(quoted: string)
        }
    }

    private mutating func append(
        _ items: [(name: String?, value: CBORValue)],
        _ open: String,
        _ close: String
    ) {
        text += open
        depth += 1
        for (number, item) in items.enumerated() {
            if number > 0 { text += "," }
            beginLine()
            if let name = item.name {
                append(quoted: name)
                text += isPretty ? ": " : ":"
                path.append(name)
            }
            append(item.value)
            if item.name != nil { path.removeLast() }
        }
        depth -= 1
        if !items.isEmpty { beginLine() }
        text += close
    }

    private mutating func beginLine() {
        if isPretty { text += "\n" + String(repeating: "  ", count: depth) }
    }

    private func name(of key: CBORValue) -> String {
        if let text = PlainValue(key).text { return text }
        if case .bytes(let data) = key { return data.base64EncodedString() }
        guard levelsOfKeys < 4 else { return "…" }
        var writer = JSONText(isPretty: false, dateFields: [])
        writer.levelsOfKeys = levelsOfKeys + 1
        writer.append(key)
        return writer.text
    }

    /// The associated value of a case of an enum that has one without a name, as Swift writes it.
    private static func unwrapped(_ value: CBORValue) -> CBORValue {
        guard case .map(let pairs) = value,
            pairs.count == 1,
            let only = pairs["_0"]
        else {
            return value
        }
        return only
    }

    private mutating func append(_ number: Double) {
        guard number.isFinite else {
            return append(quoted: number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
        }
        text += "\(number)"
    }

    private mutating func append(quoted string: String) { Self.append(quoted: string, to: &text) }

    // MARK: Dates

    private func dateOfNumber(_ value: CBORValue) -> Date? {
        let seconds: Double
        switch value {
        case .float(let number): seconds = number
        case .integer(let number): seconds = Double(number)
        default: return nil
        }
        guard let name = path.last else { return nil }
        let isKnown = !dateFields.isEmpty && dateFields.contains(path.joined(separator: "."))
        guard isKnown || 1e8..<3.2e9 ~= seconds && Self.isNameOfDate(name) else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    private static func isNameOfDate(_ name: String) -> Bool {
        let words: Set = [
            "date", "time", "timestamp", "born", "birthday", "created", "updated", "modified",
            "changed", "expires", "due", "since",
            "until",
            "start", "end", "deadline",
        ]
        return words.contains(name.lowercased())
            || ["At", "On", "Date", "Time", "_at", "_on", "_date", "_time"].contains {
                name.hasSuffix($0)
            }
    }

    /// Appends a text in quotes. Control characters, and marks that change the direction of a text,
    /// are escaped.
    static func append(quoted string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{61C}", "\u{200E}", "\u{200F}",
                "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}",
                "\u{FEFF}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    /// A date by RFC 3339, in UTC, with milliseconds if it has any.
    static func text(of date: Date) -> String {
        guard date.timeIntervalSince1970.isFinite,
            -62_135_596_800..<253_402_300_800 ~= date.timeIntervalSince1970
        else {
            return "\(date.timeIntervalSince1970) s"
        }
        let hasFraction = date.timeIntervalSince1970 != date.timeIntervalSince1970.rounded(.down)
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction)
        guard date.timeIntervalSince1970 < -12_219_292_800 else { return date.formatted(format) }
        // Before 15 October 1582 Foundation has the Julian calendar. The time of the day is the
        // same in both.
        let day = Int64((date.timeIntervalSince1970 / 86_400).rounded(.down))
        return String(decoding: LineBuffer.date(ofDay: day).dropFirst(), as: UTF8.self)
            + date.formatted(format).suffix(hasFraction ? 13 : 9)
    }
}
