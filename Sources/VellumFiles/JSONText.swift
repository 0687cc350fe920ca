public import CBORCoding
internal import Foundation

extension CBORValue {
    /// Returns the value as JSON that a person reads.
    ///
    /// ```swift
    /// print(value.json())
    /// // {"age":30,"name":"Ann","role":{"admin":{}}}
    /// ```
    ///
    /// It says what is stored: integers and decimal numbers have all their digits, and an enum is
    /// the object that Swift writes. Data is Base64, a tag is left out. Keys are sorted. What JSON
    /// has no number for is a text: `"NaN"`. This is not a form to store: it says less than the
    /// value.
    ///
    /// Swift's types write a date as a number, of seconds since 2001. It is shown as a date of RFC
    /// 3339 in UTC if its field is one of `dateFields`, and so is a date that has a tag.
    ///
    /// - Parameters:
    ///   - isPretty: Whether to use several lines.
    ///   - dateFields: Fields that are dates, with dots between names: `RawArchive.dateFields()`
    ///     has those that an index knows.
    /// - Complexity: O(n log n) in the size of the value.
    public func json(isPretty: Bool = false, dateFields: Set<String> = []) -> String {
        var writer = JSONText(isPretty: isPretty, dateFields: dateFields)
        writer.append(self)
        return writer.text
    }

    /// The value as a key of JSON has it: a text without quotes, and anything else as
    /// ``json(isPretty:dateFields:)``.
    ///
    /// - Complexity: O(n log n) in the size of the value.
    public var plainText: String { text ?? json() }

    /// The text of a value that is a text in JSON; `nil` for others.
    fileprivate var text: String? {
        switch self {
        case .text(let text): text
        case .bytes(let data): data.base64EncodedString()
        case .float(let number): number.isFinite ? nil : "\(self)"
        case .tagged(37, .bytes(let bytes)) where bytes.count == 16:
            bytes.withUnsafeBytes {
                UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString
            }
        case .tagged(1, let seconds):
            seconds.number.flatMap { RFC3339.exactString(from: Date(timeIntervalSince1970: $0)) }
                ?? seconds.text
        case .tagged(_, let inner): inner.text
        default: nil
        }
    }

    fileprivate var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .float(let number): number
        default: nil
        }
    }

    /// The digits of a decimal fraction, its mantissa times a power of ten (RFC 8949, 3.4.4); `nil`
    /// for others.
    fileprivate var decimalText: String? {
        guard case .tagged(4, .array(let parts)) = self, parts.count == 2,
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
        if let string = value.text ?? dateOfNumber(value) {
            return text += CBORValue.quoted(string)
        }
        if let decimal = value.decimalText { return text += decimal }
        switch value {
        case .tagged(_, let inner): append(inner)
        case .array(let elements): append(elements.map { (nil, $0) }, "[", "]")
        case .map(let pairs):
            let named = pairs.map { (name: name(of: $0.key), value: $0.value) }
            append(named.sorted { $0.name < $1.name }.map { ($0.name, $0.value) }, "{", "}")
        case .undefined: text += "null"
        case .simple(let number): text += "\(number)"
        default: text += "\(value)"
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
                text += CBORValue.quoted(name) + (isPretty ? ": " : ":")
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
        if let text = key.text { return text }
        guard levelsOfKeys < 4 else { return "…" }
        var writer = JSONText(isPretty: false, dateFields: [])
        writer.levelsOfKeys = levelsOfKeys + 1
        writer.append(key)
        return writer.text
    }

    private func dateOfNumber(_ value: CBORValue) -> String? {
        guard dateFields.contains(path.joined(separator: ".")), let seconds = value.number else {
            return nil
        }
        return RFC3339.exactString(from: Date(timeIntervalSinceReferenceDate: seconds))
    }

    /// Texts as an array.
    static func list(_ texts: [String]) -> String {
        "[" + texts.map(CBORValue.quoted).joined(separator: ",") + "]"
    }
}
