public import Foundation

/// A property's value as an index stores it: comparable byte by byte, in the order of Swift's own
/// `<`.
///
/// SQLite orders values by kind first: `null`, integers, text, bytes. A column holds values of one
/// kind and `null`, so the order within a kind is the order of the property.
public enum IndexValue: Hashable, Sendable {
    /// The property is `nil`.
    case null
    /// An integer, a `Bool`, or the rank of a floating-point number among all numbers.
    case integer(Int64)
    /// A string in normal form (NFC), compared by its UTF-8 bytes, which is Swift's order of
    /// strings.
    case text(String)
    /// Any value that is compared by its bytes.
    case bytes(Data)
}

extension IndexValue: Comparable {
    /// Compares two values as the index orders them.
    public static func < (left: IndexValue, right: IndexValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.text(let left), .text(let right)):
            TextOrder.compare(left, right) < 0
        case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
        default: left.kind < right.kind
        }
    }

    private var kind: Int {
        switch self {
        case .null: 0
        case .integer: 1
        case .text: 2
        case .bytes: 3
        }
    }
}

extension IndexValue {
    /// Creates the rank of a number among all numbers: -0.0 ranks as 0.0, and NaN ranks first.
    package init(orderOf number: Double) {
        self =
            number.isNaN
            ? .notANumber
            : .integer(Self.place(of: number == 0 ? 0 : number))
    }

    /// The rank of NaN: before all numbers, so that an index search starts after it and needs no
    /// second bound.
    package static let notANumber = IndexValue.integer(.min)

    /// Bit patterns of positive numbers ascend with the numbers; those of negative numbers descend.
    private static func place(of number: Double) -> Int64 {
        let bits = Int64(bitPattern: number.bitPattern)
        return bits < 0 ? bits ^ .max : bits
    }

    /// Returns the number of a rank that ``init(orderOf:)`` creates.
    package static func number(ofRank rank: Int64) -> Double {
        rank == .min
            ? .nan
            : Double(bitPattern: UInt64(bitPattern: rank < 0 ? rank ^ .max : rank))
    }

    /// Creates the normal form of a string; `nil` if Swift's `==` may disagree about it.
    package init?(normalizing string: String) {
        guard NormalForm.isCertain(string) else { return nil }
        self = .text(EntryKey(string).normalized)
    }
}
