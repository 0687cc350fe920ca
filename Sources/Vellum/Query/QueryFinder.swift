internal import VellumCore
internal import VellumEngine

/// Finds objects by conditions on their properties. An object must satisfy all conditions.
///
/// ```swift
/// let results = archives.findWhere { archive in
///     archive.userName(.contains("premium"))
///         .fullName(.isNotEqual(nil))
/// }
/// .getResults()
/// ```
///
/// An empty finder matches every object.
@dynamicMemberLookup
public struct QueryFinder<Result> {
    var conditions: [Condition<Result>] = []
    var problems: [VellumError] = []

    /// Creates a finder that matches every object.
    public init() {}

    /// Returns a function that adds a condition on a property.
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
