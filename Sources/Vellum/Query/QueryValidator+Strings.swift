internal import Foundation
internal import VellumCore
internal import VellumEngine

// MARK: Strings

extension QueryValidator where Property == String {
    /// Matches a string that contains `string`. Every string contains the empty string, as in a
    /// `#Predicate`.
    public static func contains(string: String, caseSensitive: Bool = true) -> Self {
        guard !string.isEmpty else { return Self { _ in .all([]) } }
        let part = StringPart(string, caseSensitive: caseSensitive)
        return Self { PropertyTests($0).contains(part) }
    }

    /// Matches a string that contains `string`. Every string contains the empty string, as in a
    /// `#Predicate`.
    public static func contains(_ string: String, caseSensitive: Bool = true) -> Self {
        contains(string: string, caseSensitive: caseSensitive)
    }

    /// Matches a string in which the regular expression has a match. An invalid expression matches
    /// nothing and is reported, with the archive and the character from which on it is invalid.
    public static func matches(regex: String) -> Self {
        let expression = RegularExpression(regex)
        return Self(expression) { PropertyTests($0).satisfies(expression.matches) }
    }
}

// MARK: Optional strings

extension QueryValidator where Property == String? {
    /// Matches a string that contains `string`. Every string contains the empty string, as in a
    /// `#Predicate`. Does not match `nil`.
    public static func contains(string: String, caseSensitive: Bool = true) -> Self {
        guard !string.isEmpty else { return Self { PropertyTests(optional: $0).isNotNil } }
        let part = StringPart(string, caseSensitive: caseSensitive)
        return Self { PropertyTests(optional: $0).contains(part) }
    }

    /// Matches a string that contains `string`. Every string contains the empty string, as in a
    /// `#Predicate`. Does not match `nil`.
    public static func contains(_ string: String, caseSensitive: Bool = true) -> Self {
        contains(string: string, caseSensitive: caseSensitive)
    }

    /// Matches a string in which the regular expression has a match, as for a property that is not
    /// optional. Does not match `nil`.
    public static func matches(regex: String) -> Self {
        let expression = RegularExpression(regex)
        return Self(expression) { PropertyTests(optional: $0).satisfies(expression.matches) }
    }
}

extension QueryValidator {
    private init(
        _ expression: RegularExpression,
        _ condition: @escaping (KeyPath<Result, Property>) -> ValueCondition<Result>
    ) {
        self.init(condition)
        guard let problem = expression.problem else { return }
        problems = [
            problem.located(archive: (Result.self as? any Archivable.Type)?.archiveName, path: nil)
        ]
    }
}

// MARK: Regular expressions

/// A regular expression that is compiled once. An invalid one matches nothing.
struct RegularExpression {
    private let expression: NSRegularExpression?
    /// The error of an invalid expression. It says where the pattern is invalid, and does not
    /// contain the pattern.
    let problem: VellumError?

    init(_ pattern: String) {
        expression = Self.compiled(pattern)
        problem = expression == nil ? Self.problem(of: pattern) : nil
    }

    /// Says what is wrong with an invalid pattern. Foundation does not say it, so this looks for
    /// the longest start that is valid, among the first 200 characters.
    private static func problem(of pattern: String) -> VellumError {
        var valid = pattern.prefix(200)
        while !valid.isEmpty, compiled(String(valid)) == nil { valid.removeLast() }
        let fault = pattern.isEmpty ? "empty" : "invalid from character \(valid.count + 1) on"
        return VellumError(
            .invalidQuery,
            """
            A regular expression in a query is \(fault), and matches nothing. Correct the \
            expression.
            """
        )
    }

    private static func compiled(_ pattern: String) -> NSRegularExpression? {
        do {
            return try NSRegularExpression(pattern: pattern)
        } catch {
            return nil
        }
    }

    /// Returns whether the expression has a match in the string.
    func matches(_ string: String) -> Bool {
        guard let expression else { return false }
        return expression.firstMatch(in: string, range: NSRange(string.startIndex..., in: string))
            != nil
    }
}
