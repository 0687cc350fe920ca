internal import Foundation
internal import VellumFiles

/// A value as queries compare it: what JSON prints of it. Values of different kinds are never
/// equal, and none is less than the other.
enum Scalar: Equatable {
    case bool(Bool)
    /// One beyond `Int64` is exact, too.
    case integer(Int128)
    case float(Double)
    /// A number in digits, and the float that is nearest to it.
    case decimal(Decimal, Double)
    case date(Date)
    case text(String)
    /// A list or an object.
    case other

    /// `nil` for what is missing or null.
    init?(_ value: CBORValue?) {
        switch value {
        case nil, .null, .undefined: return nil
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .float(let value): self = .float(value)
        case .text(let text): self = .text(text)
        case .array, .map: self = .other
        case .tagged(1, let inner):
            guard let date = value.flatMap({ Self.date($0.plainText) }) else {
                self.init(inner)
                return
            }
            self = .date(date)
        case .tagged(let tag, let inner) where ![4, 32, 37].contains(tag):
            self.init(inner)
        case .some(let value):
            let json = value.json()
            self =
                json.utf8.first == UInt8(ascii: "\"")
                ? .text(value.plainText) : Self.number(json) ?? .other
        }
    }

    /// The number that a text has in digits; `nil` for others, and for one that no float is near
    /// to.
    static func number(_ text: String) -> Scalar? {
        if let integer = Int128(text) {
            return .integer(integer)
        }
        guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }),
            let number = Double(text),
            number.isFinite
        else { return nil }
        guard let decimal = Decimal(string: text), decimal.isFinite else {
            return .float(number)
        }
        return .decimal(decimal, number)
    }

    /// The moment of a text, which begins in Greenwich if it has no time: the tags of such texts
    /// are those of RFC 8949, 3.4.1, and of RFC 8943.
    static func date(_ text: String) -> Date? {
        do {
            let tag: UInt64 = text.utf8.count == 10 ? 1004 : 0
            return try CBORValue.tagged(tag, .text(text)).decode(Date.self)
        } catch {
            return nil
        }
    }

    // MARK: Order

    /// Negative if the left value comes first, positive if the right one does, 0 if they are equal;
    /// `nil` if they cannot be compared.
    static func order(_ left: Scalar?, _ right: Scalar?) -> Int? {
        guard let left, let right else {
            return left == right ? 0 : nil
        }
        switch (left, right) {
        case (.bool(let left), .bool(let right)):
            return order(left ? 1 : 0, right ? 1 : 0)
        case (.date(let left), .date(let right)):
            return order(left, right)
        case (.text(let left), .text(let right)):
            return order(left, right)
        // Swift's types write a date as a number: whoever compares it with a date says that it is
        // one.
        case (.float, .date(let date)), (.integer, .date(let date)):
            return order(left, .float(date.timeIntervalSinceReferenceDate))
        // JSON has no other form of it.
        case (.float(let number), .text(let text)) where !number.isFinite:
            return CBORValue.float(number).plainText == text ? 0 : nil
        default: return numericOrder(left, right)
        }
    }

    private static func numericOrder(_ left: Scalar, _ right: Scalar) -> Int? {
        switch (left, right) {
        case (.integer(let left), .integer(let right)):
            order(left, right)
        case (.float(let left), .float(let right)):
            order(left, right)
        case (.integer(let left), .float(let right)):
            order(left, right)
        case (.float(let left), .integer(let right)):
            order(right, left).map(-)
        case (.float(let left), .decimal(_, let right)):
            order(left, right)
        case (.decimal(_, let left), .float(let right)):
            order(left, right)
        case (.decimal(let left, _), .decimal(let right, _)):
            order(left, right)
        case (.integer(let left), .decimal(let right, _)):
            order(decimal(left), right)
        case (.decimal(let left, _), .integer(let right)):
            order(left, decimal(right))
        default: nil
        }
    }

    private static func decimal(_ integer: Int128) -> Decimal {
        Decimal(string: "\(integer)") ?? Decimal(Double(integer))
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int? {
        left < right ? -1 : left > right ? 1 : left == right ? 0 : nil
    }

    /// Exact, also where no float has the integer.
    private static func order(_ left: Int128, _ right: Double) -> Int? {
        guard let whole = Int128(exactly: right.rounded(.down)) else {
            return right.isNaN ? nil : right < 0 ? 1 : -1
        }
        return left == whole ? order(Double(whole), right) : order(left, whole)
    }

    /// The order of a sort: what is missing comes first, then booleans, numbers, dates, texts.
    static func sortOrder(_ left: Scalar?, _ right: Scalar?) -> Int {
        let rank = (left?.rank ?? 0) - (right?.rank ?? 0)
        return rank != 0 ? rank : order(left, right) ?? 0
    }

    private var rank: Int {
        switch self {
        case .bool: 1
        case .float(let number) where number.isNaN: 2
        case .integer, .float, .decimal: 3
        case .date: 4
        case .text: 5
        case .other: 6
        }
    }
}
