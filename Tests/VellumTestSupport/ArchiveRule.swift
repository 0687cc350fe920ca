package import VellumCore
package import VellumEngine

/// A rule that every tier keeps, as a check that throws where it is broken.
///
/// Run all of them on a tier of your own, with any test framework:
///
/// ```swift
/// @Test(arguments: ArchiveRule.all)
/// func myTierKeeps(_ law: ArchiveRule) throws {
///     try law.check { capacity in MyTier(capacity: capacity) }
/// }
/// ```
package struct ArchiveRule: Sendable, CustomStringConvertible {
    /// The rule in a few words.
    package let description: String

    private let body: @Sendable (Maker) throws -> Void

    /// Makes empty tiers of a capacity, each apart from the others.
    package typealias Maker = (Capacity) throws -> DiskArchive

    init(_ description: String, _ body: @escaping @Sendable (Maker) throws -> Void) {
        self.description = description
        self.body = body
    }

    /// Holds a tier to the rule.
    ///
    /// - Throws: ``Violation``, or what the tier throws.
    package func check(_ make: Maker) throws { try body(make) }

    /// How a rule was broken.
    package struct Violation: Error, CustomStringConvertible {
        package let description: String
    }

    /// Every rule.
    package static let all: [ArchiveRule] = contents + limits + order
}

/// Throws unless the two are equal.
func expect<Value: Equatable>(_ value: Value, _ expected: Value, _ what: String) throws {
    guard value == expected else { throw ArchiveRule.Violation(description: "\(what): \(value), expected \(expected)") }
}
