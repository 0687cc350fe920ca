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
/// Each condition is added to this finder, which is returned: conditions can also be added one by one. An empty finder matches every object.
@dynamicMemberLookup
public final class QueryFinder<Result> {
    /// A function that adds a condition on a property.
    public typealias QueryProperty<Property> = (QueryValidator<Result, Property>) -> QueryFinder<Result>

    var conditions: [ValueCondition<Result>] = []
    var problems: [VellumError] = []

    /// Creates a finder that matches every object.
    public init() {}

    /// Returns a function that adds a condition on a property.
    public subscript<Property>(dynamicMember property: KeyPath<Result, Property>) -> QueryProperty<Property> {
        { validator in
            self.conditions.append(validator.condition(property))
            self.problems += validator.problems
            return self
        }
    }
}
