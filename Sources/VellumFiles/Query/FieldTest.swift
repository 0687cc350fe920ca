internal import CBORCoding
internal import Foundation
internal import VellumCore

/// The way to a field of an object: `address.city`, `tags.0`.
struct FieldPath: Hashable, Sendable, CustomStringConvertible {
    var names: [String]

    var description: String { names.joined(separator: ".") }
}

extension CBORValue {
    /// The field at a path; `nil` if there is none, or it is null.
    subscript(field path: FieldPath) -> CBORValue? {
        var value = self
        for name in path.names {
            if let next = value[.text(name)] {
                value = next
            } else if let index = Int(name), let next = value[index] {
                value = next
            } else {
                return nil
            }
        }
        return value == .null || value == .undefined ? nil : value
    }
}

/// A value in the text of a query.
enum Literal: Hashable, Sendable {
    case null
    case bool(Bool)
    /// One beyond `Int64` is exact, too.
    case integer(Int128)
    case number(Double)
    case text(String)
    case date(Date)
}

/// A test of a field.
struct FieldTest: Hashable, Sendable {
    enum Relation: Hashable, Sendable {
        case isNull
        case isEqual(Literal)
        case isIn([Literal])
        case isLess(Literal, orEqual: Bool)
        case isGreater(Literal, orEqual: Bool)
        case begins(String)
        /// A part of a text, or an element of a list.
        case contains(Literal)
    }

    var field: FieldPath
    var relation: Relation

    func matches(_ object: CBORValue) -> Bool {
        let value = object[field: field]
        switch relation {
        case .isNull: return value == nil
        case .isEqual(let literal):
            return value.flatMap { Scalar($0).order(to: literal) } == 0
        case .isIn(let literals):
            return value.map { value in
                literals.contains { Scalar(value).order(to: $0) == 0 }
            }
                ?? false
        case .isLess(let literal, let orEqual):
            return value.flatMap { Scalar($0).order(to: literal) }.map {
                orEqual ? $0 <= 0 : $0 < 0
            } ?? false
        case .isGreater(let literal, let orEqual):
            return value.flatMap { Scalar($0).order(to: literal) }.map {
                orEqual ? $0 >= 0 : $0 > 0
            } ?? false
        case .begins(let start):
            guard case .text(let text)? = value.map(Scalar.init) else { return false }
            return text.starts(with: start)
        case .contains(let literal):
            if case .array(let elements)? = value {
                return elements.contains { Scalar($0).order(to: literal) == 0 }
            }
            guard case .text(let part) = literal,
                case .text(let text)? = value.map(Scalar.init)
            else { return false }
            return part.isEmpty || text.contains(part)
        }
    }
}

/// A value as queries compare it. Values of different kinds are never equal, and none is less than
/// the other.
enum Scalar {
    /// In the order in which a sort puts the kinds.
    case bool(Bool)
    case integer(Int128)
    case number(Double)
    case date(Date)
    case text(String)
    case other

    init(_ value: CBORValue) {
        switch value {
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .float(let value): self = .number(value)
        case .text(let text): self = .text(text)
        case .tagged(1, .integer(let seconds)):
            self = .date(Date(timeIntervalSince1970: Double(seconds)))
        case .tagged(1, .float(let seconds)):
            self = .date(Date(timeIntervalSince1970: seconds))
        default:
            self =
                PlainValue(value).text.map(Scalar.text) ?? PlainValue(value).decimal.map {
                    .number($0)
                } ?? .other
        }
    }

    /// Negative if the value comes before the literal, positive if after, 0 if they are equal;
    /// `nil` if they cannot be compared.
    func order(to literal: Literal) -> Int? {
        switch (self, literal) {
        case (.bool(let left), .bool(let right)):
            Self.order(left ? 1 : 0, right ? 1 : 0)
        case (.integer(let left), .integer(let right)): Self.order(left, right)
        case (.integer(let left), .number(let right)):
            Self.order(Double(left), right)
        case (.number(let left), .integer(let right)):
            Self.order(left, Double(right))
        case (.number(let left), .number(let right)): Self.order(left, right)
        case (.date(let left), .date(let right)):
            Self.order(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
        // Swift's types write a date as a number: whoever compares it with a date says that it is
        // one.
        case (.number(let left), .date(let right)):
            Self.order(left, right.timeIntervalSinceReferenceDate)
        case (.integer(let left), .date(let right)):
            Self.order(Double(left), right.timeIntervalSinceReferenceDate)
        case (.text(let left), .text(let right)): TextOrder.compare(left, right)
        default: nil
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int? {
        left < right ? -1 : left > right ? 1 : left == right ? 0 : nil
    }

    private var rank: Int {
        switch self {
        case .bool: 1
        case .integer, .number: 2
        case .date: 3
        case .text: 4
        case .other: 5
        }
    }

    /// The order of a sort, which is that of an index: what is missing comes first, then NaN.
    static func compare(_ left: CBORValue?, _ right: CBORValue?) -> Int {
        guard let left, let right else {
            return (left == nil ? 0 : 1) - (right == nil ? 0 : 1)
        }
        let first = Scalar(left)
        let second = Scalar(right)
        guard first.rank == second.rank else { return first.rank - second.rank }
        switch (first, second) {
        case (.bool(let left), .bool(let right)):
            return order(left ? 1 : 0, right ? 1 : 0) ?? 0
        case (.integer(let left), .integer(let right)):
            return order(left, right) ?? 0
        case (.integer(let left), .number(let right)):
            return ranked(Double(left), right)
        case (.number(let left), .integer(let right)):
            return ranked(left, Double(right))
        case (.number(let left), .number(let right)): return ranked(left, right)
        case (.date(let left), .date(let right)):
            return ranked(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
        case (.text(let left), .text(let right)):
            return TextOrder.compare(left, right)
        default: return 0
        }
    }

    private static func ranked(_ left: Double, _ right: Double) -> Int {
        order(left, right)
            ?? (left.isNaN ? 0 : 1)
            - (right.isNaN ? 0 : 1)
    }
}
