internal import VellumCore
internal import VellumEngine

// Decision 77.

extension String {
    /// The string without differences of upper and lower case, in normal form C.
    ///
    /// ```swift
    /// let text = search.ignoringCase
    /// let found = #Predicate<City> { $0.name.ignoringCase.contains(text) }
    /// ```
    ///
    /// This is full case folding by the tables of Unicode 15.0: `ß` becomes `ss`, and `ς` becomes
    /// `σ`. It does not depend on the locale, and is the same on every platform. Use it on both
    /// sides of a comparison. ``ArchiveIndex/index(_:ignoring:named:)-51as`` makes an index of it.
    ///
    /// - Complexity: O(n).
    public var ignoringCase: String { CaseFolding.folded(self, keepsDiacritics: true) }

    /// The string without differences of upper and lower case, and without diacritics, in normal
    /// form C.
    ///
    /// ```swift
    /// let text = search.ignoringCaseAndDiacritics
    /// let found = #Predicate<City> {
    ///     $0.name.ignoringCaseAndDiacritics.starts(with: text)
    /// }
    /// ```
    ///
    /// `Zürich` becomes `zurich`, `İstanbul` becomes `istanbul`, and Hebrew and Arabic lose their
    /// points. Letters that consist of no letter and a mark (`ø`, `ł`, `đ`, `ı`, `æ`) stay, and so
    /// do vowel signs of Indic and Thai words and the marks of `が` and `≠`. It does not depend on
    /// the locale, and is the same on every platform. Use it on both sides of a comparison.
    ///
    /// - Complexity: O(n), and O(n log n) in the longest run of marks.
    public var ignoringCaseAndDiacritics: String {
        CaseFolding.folded(self, keepsDiacritics: false)
    }
}

extension String? {
    /// The string without differences of upper and lower case; `nil` for `nil`.
    ///
    /// In a predicate, write `$0.nick.ignoringCase`: an index of an optional property is of this,
    /// and not of `$0.nick?.ignoringCase`.
    ///
    /// - Complexity: O(n).
    public var ignoringCase: String? { map(\.ignoringCase) }

    /// The string without differences of upper and lower case, and without diacritics; `nil` for
    /// `nil`.
    ///
    /// In a predicate, write `$0.nick.ignoringCaseAndDiacritics`: an index of an optional property
    /// is of this.
    ///
    /// - Complexity: O(n), and O(n log n) in the longest run of marks.
    public var ignoringCaseAndDiacritics: String? { map(\.ignoringCaseAndDiacritics) }
}

/// What a condition on strings ignores.
public enum StringDifference: Hashable, Sendable {
    /// Upper and lower case, as `ignoringCase` of a string does.
    case `case`
    /// Upper and lower case, and diacritics, as `ignoringCaseAndDiacritics` of a string does.
    case caseAndDiacritics

    fileprivate var path: KeyPath<String, String> {
        switch self {
        case .case: \.ignoringCase
        case .caseAndDiacritics: \.ignoringCaseAndDiacritics
        }
    }

    fileprivate var optionalPath: KeyPath<String?, String?> {
        switch self {
        case .case: \.ignoringCase
        case .caseAndDiacritics: \.ignoringCaseAndDiacritics
        }
    }

    /// The end of the name of an indexed property.
    fileprivate var suffix: String {
        switch self {
        case .case: ".ignoringCase"
        case .caseAndDiacritics: ".ignoringCaseAndDiacritics"
        }
    }
}

// MARK: Indexes

extension ArchiveIndex {
    /// Returns an index of a string without the differences that `difference` names.
    ///
    /// ```swift
    /// static var archiveIndexes: [ArchiveIndex<City>] {
    ///     [.index(\.name, ignoring: .caseAndDiacritics)]
    /// }
    /// ```
    ///
    /// It answers equality, prefixes and sorts of `$0.name.ignoringCaseAndDiacritics`, and finders
    /// that are `ignoring: .caseAndDiacritics`.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - difference: What the index ignores.
    ///   - name: The name of the property in the file; `nil` for the name in the source and what is
    ///     ignored.
    public static func index(
        _ property: KeyPath<Root, String>,
        ignoring difference: StringDifference,
        named name: String? = nil
    ) -> Self {
        let given = name ?? PropertyName.of(property, Root.self, nil).text + difference.suffix
        return index(property.appending(path: difference.path), named: given)
    }

    /// Returns an index of an optional string without the differences that `difference` names.
    ///
    /// It answers conditions on `$0.nick.ignoringCase`, and not on `$0.nick?.ignoringCase`.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - difference: What the index ignores.
    ///   - name: The name of the property in the file; `nil` for the name in the source and what is
    ///     ignored.
    public static func index(
        _ property: KeyPath<Root, String?>,
        ignoring difference: StringDifference,
        named name: String? = nil
    ) -> Self {
        let given = name ?? PropertyName.of(property, Root.self, nil).text + difference.suffix
        return index(property.appending(path: difference.optionalPath), named: given)
    }
}

// MARK: Finders

extension QueryValidator where Property == String {
    /// Matches a string that contains `string`, without the differences that `difference` names.
    ///
    /// ```swift
    /// archive.name(.contains("zurich", ignoring: .caseAndDiacritics))
    /// ```
    ///
    /// No index answers it. A `string` of diacritics alone is empty without them, and every string
    /// contains it.
    public static func contains(_ string: String, ignoring difference: StringDifference) -> Self {
        let text = string[keyPath: difference.path]
        guard !text.isEmpty else { return Self { _ in .all([]) } }
        let part = StringPart(text)
        return Self { PropertyTests($0.appending(path: difference.path)).contains(part) }
    }

    /// Matches a string that begins with `string`, without the differences that `difference` names.
    /// An index that ignores the same answers it.
    public static func starts(with string: String, ignoring difference: StringDifference) -> Self {
        let start = string[keyPath: difference.path]
        return Self { PropertyTests($0.appending(path: difference.path)).starts(with: start) }
    }

    /// Matches a string that is equal to `string`, without the differences that `difference` names.
    /// An index that ignores the same answers it.
    public static func isEqual(_ string: String, ignoring difference: StringDifference) -> Self {
        let text = string[keyPath: difference.path]
        return Self { PropertyTests($0.appending(path: difference.path)).isEqual(text) }
    }
}

extension QueryValidator where Property == String? {
    /// Matches a string that contains `string`, without the differences that `difference` names.
    /// Does not match `nil`. No index answers it.
    public static func contains(_ string: String, ignoring difference: StringDifference) -> Self {
        let text = string[keyPath: difference.path]
        guard !text.isEmpty else { return Self { PropertyTests(optional: $0).isNotNil } }
        let part = StringPart(text)
        return Self {
            PropertyTests(optional: $0.appending(path: difference.optionalPath)).contains(part)
        }
    }

    /// Matches a string that begins with `string`, without the differences that `difference` names.
    /// Does not match `nil`. An index that ignores the same answers it.
    public static func starts(with string: String, ignoring difference: StringDifference) -> Self {
        let start = string[keyPath: difference.path]
        return Self {
            PropertyTests(optional: $0.appending(path: difference.optionalPath)).starts(with: start)
        }
    }

    /// Matches a string that is equal to `string`, without the differences that `difference` names.
    /// If `string` is `nil`, it matches `nil`. An index that ignores the same answers it.
    public static func isEqual(_ string: String?, ignoring difference: StringDifference) -> Self {
        let text = string[keyPath: difference.optionalPath]
        return Self { PropertyTests($0.appending(path: difference.optionalPath)).isEqual(text) }
    }
}
