public import Foundation

/// A property's value as an index keeps it: comparable byte by byte, in the order of Swift's own `<`.
///
/// SQLite orders by kind first: nothing, then integers, then text, then bytes. A column holds values of one kind and
/// `null`, so the order within a kind is the order of the property.
public enum IndexValue: Hashable, Sendable {
    /// Nothing: the property is `nil`.
    case null
    /// Every integer, `Bool`, and every floating-point number by its place in their order.
    case integer(Int64)
    /// A string in normal form (NFC), compared by its UTF-8 bytes, which is Swift's order of strings.
    case text(String)
    /// Anything compared by its bytes.
    case bytes(Data)
}

extension IndexValue: Comparable {
    public static func < (left: IndexValue, right: IndexValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.text(let left), .text(let right)): TextOrder.compare(left, right) < 0
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
    /// The place of a number among all numbers: -0.0 is 0.0, and what is not a number comes first.
    package init(orderOf number: Double) {
        self = number.isNaN ? .notANumber : .integer(Self.place(of: number == 0 ? 0 : number))
    }

    /// Where every number that is none stands: before all others, so that an index enters a range behind them and needs no second
    /// bound.
    package static let notANumber = IndexValue.integer(.min)

    /// Bit patterns of positive numbers are in their order; those of negative ones are in the opposite order.
    private static func place(of number: Double) -> Int64 {
        let bits = Int64(bitPattern: number.bitPattern)
        return bits < 0 ? bits ^ .max : bits
    }

    /// A string in normal form, or nothing if it holds characters that Foundation's Unicode tables may not know as Swift's do.
    package init?(normalizing string: String) {
        guard NormalForm.isCertain(string) else { return nil }
        self = .text(EntryKey(string).normalized)
    }
}

/// What is known of normal forms.
enum NormalForm {
    /// Whether Swift and Foundation agree on the normal form of the string, whichever Unicode their tables are of.
    ///
    /// The normal form of assigned characters never changes (Unicode Standard Annex 15, 3), so only characters newer than
    /// both tables are in doubt, and of those only letters and marks: nothing else is composed or reordered.
    static func isCertain(_ string: String) -> Bool {
        string.utf8.allSatisfy { $0 < 0xCC } || string.unicodeScalars.allSatisfy(isCertain)
    }

    private static func isCertain(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x300 else { return true }
        let properties = scalar.properties
        if let age = properties.age, age.major <= 15 { return true }
        switch properties.generalCategory {
        case .otherSymbol, .mathSymbol, .currencySymbol, .privateUse, .otherPunctuation, .decimalNumber: return true
        default: return false
        }
    }
}
