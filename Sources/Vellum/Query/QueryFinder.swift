internal import VellumCore
internal import VellumEngine

/// Finds objects by their properties: each is told by its name and what it must be, and all must hold.
///
/// ```swift
/// let results = archives.findWhere { archive in
///     archive.userName(.contains("premium"))
///         .fullName(.isNotEqual(nil))
/// }
/// .getResults()
/// ```
///
/// A finder that was told nothing finds everything.
@dynamicMemberLookup
public struct QueryFinder<Result> {
    var conditions: [Condition<Result>] = []
    var problems: [VellumError] = []

    /// A finder that finds everything.
    public init() {}

    /// Finds by a property, besides what the finder finds by already.
    public subscript<Property>(
        dynamicMember property: KeyPath<Result, Property>
    ) -> (QueryValidator<Result, Property>) -> QueryFinder<Result> {
        { validator in
            var finder = self
            finder.conditions.append(validator.condition(property))
            finder.problems += validator.problems
            return finder
        }
    }
}
