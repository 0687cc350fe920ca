package import VellumCore
package import VellumEngine

/// A rule that every archive must follow, as a check that throws if it is broken.
///
/// Run all of them with any test framework:
///
/// ```swift
/// @Test(arguments: ArchiveRule.all)
/// func myArchiveFollows(_ rule: ArchiveRule) throws {
///     try rule.check { capacity in try file.archive(named: "a", capacity: capacity) }
/// }
/// ```
package struct ArchiveRule: Sendable, CustomStringConvertible {
    /// The rule in a sentence.
    package let description: String

    private let body: @Sendable (Maker) throws -> Void

    /// Creates separate empty archives with a capacity.
    package typealias Maker = (Capacity) throws -> DiskArchive

    init(_ description: String, _ body: @escaping @Sendable (Maker) throws -> Void) {
        self.description = description
        self.body = body
    }

    /// Checks that an archive follows the rule.
    ///
    /// - Throws: ``Violation``, or an error of the archive.
    package func check(_ make: Maker) throws { try body(make) }

    /// A broken rule.
    package struct Violation: Error, CustomStringConvertible {
        package let description: String
    }

    /// Every rule.
    package static let all: [ArchiveRule] = contents + limits + order
}

/// Throws unless the two are equal.
func expect<Value: Equatable>(_ value: Value, _ expected: Value, _ what: String) throws {
    guard value == expected else {
        throw ArchiveRule.Violation(description: "\(what): \(value), expected \(expected)")
    }
}
