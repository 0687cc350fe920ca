internal import VellumCore
internal import VellumEngine

// MARK: Strings

extension QueryValidator where Property == String {
    /// Matches a string that contains `string`. Every string contains the empty string, as in a `#Predicate`.
    public static func contains(string: String, caseSensitive: Bool = true) -> Self {
        guard !string.isEmpty else { return Self { _ in .all([]) } }
        let part = StringPart(string, caseSensitive: caseSensitive)
        return Self { PropertyTests($0).contains(part) }
    }

    /// Matches a string that contains `string`. Every string contains the empty string, as in a `#Predicate`.
    public static func contains(_ string: String, caseSensitive: Bool = true) -> Self {
        contains(string: string, caseSensitive: caseSensitive)
    }

    /// Matches a string in which the regular expression has a match. An invalid expression matches nothing and is reported, with the archive
    /// and the character from which on it is invalid.
    public static func matches(regex: String) -> Self {
        let expression = RegularExpression(regex)
        return Self(expression) { PropertyTests($0).satisfies(expression.matches) }
    }
}

// MARK: Optional strings

extension QueryValidator where Property == String? {
    /// Matches a string that contains `string`. Every string contains the empty string, as in a `#Predicate`. Does not match `nil`.
    public static func contains(string: String, caseSensitive: Bool = true) -> Self {
        guard !string.isEmpty else { return Self { PropertyTests(optional: $0).isNotNil } }
        let part = StringPart(string, caseSensitive: caseSensitive)
        return Self { PropertyTests(optional: $0).contains(part) }
    }

    /// Matches a string that contains `string`. Every string contains the empty string, as in a `#Predicate`. Does not match `nil`.
    public static func contains(_ string: String, caseSensitive: Bool = true) -> Self {
        contains(string: string, caseSensitive: caseSensitive)
    }

    /// Matches a string in which the regular expression has a match. An invalid expression matches nothing and is reported, with the archive
    /// and the character from which on it is invalid.
    public static func matches(regex: String) -> Self {
        let expression = RegularExpression(regex)
        return Self(expression) { PropertyTests(optional: $0).satisfies(expression.matches) }
    }
}

extension QueryValidator {
    private init(_ expression: RegularExpression, _ condition: @escaping (KeyPath<Result, Property>) -> Condition<Result>) {
        self.init(condition)
        guard let problem = expression.problem else { return }
        problems = [problem.located(archive: (Result.self as? any Archivable.Type)?.archiveName, path: nil)]
    }
}
