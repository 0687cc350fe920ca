public import Tiers

/// A rule that every tier keeps, as a check that throws where it is broken.
///
/// Run all of them on a tier of your own, with any test framework:
///
/// ```swift
/// @Test(arguments: TierLaw.all)
/// func myTierKeeps(_ law: TierLaw) throws {
///     try law.check { capacity in MyTier(capacity: capacity) }
/// }
/// ```
public struct TierLaw: Sendable, CustomStringConvertible {
    /// The rule in a few words.
    public let description: String

    private let body: @Sendable (Maker) throws -> Void

    /// Makes empty tiers of a capacity, each apart from the others.
    public typealias Maker = (Capacity) throws -> any Tier

    init(_ description: String, _ body: @escaping @Sendable (Maker) throws -> Void) {
        self.description = description
        self.body = body
    }

    /// Holds a tier to the rule.
    ///
    /// - Throws: ``Violation``, or what the tier throws.
    public func check(_ make: Maker) throws { try body(make) }

    /// How a rule was broken.
    public struct Violation: Error, CustomStringConvertible {
        public let description: String
    }

    /// Every rule.
    public static let all: [TierLaw] = contents + limits + order
}

/// Throws unless the two are equal.
func expect<Value: Equatable>(_ value: Value, _ expected: Value, _ what: String) throws {
    guard value == expected else { throw TierLaw.Violation(description: "\(what): \(value), expected \(expected)") }
}
