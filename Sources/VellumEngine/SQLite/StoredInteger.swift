internal import VellumCore

/// An integer that a file holds. Whoever can write the file chooses it, so its arithmetic does not
/// trap: a result that no integer has is the nearest that there is.
///
/// ``value`` is for comparing, storing and binding. Before anything is computed of that, the caller
/// checks its range.
package struct StoredInteger: Hashable, Comparable, ExpressibleByIntegerLiteral, Sendable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }

    package init(integerLiteral value: Int64) { self.value = value }

    /// The nearest `Int`, which has 32 bits on some platforms.
    package var int: Int { Int(clamping: value) }

    package static func < (left: Self, right: Self) -> Bool { left.value < right.value }

    static func + (left: Self, right: Self) -> Self {
        let (sum, overflow) = left.value.addingReportingOverflow(right.value)
        return Self(overflow ? (right.value < 0 ? .min : .max) : sum)
    }

    static func - (left: Self, right: Self) -> Self {
        let (difference, overflow) = left.value.subtractingReportingOverflow(right.value)
        return Self(overflow ? (right.value > 0 ? .min : .max) : difference)
    }

    /// Whether the other is stored as the complement of this one: a damaged number is not believed.
    func isComplement(of other: Self) -> Bool { value == ~other.value }
}
