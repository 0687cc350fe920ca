internal import VellumCore
internal import VellumEngine

/// A condition on a property, for a ``QueryFinder``.
///
/// ```swift
/// archive.age(.greaterOrEqual(with: 18))
///     .tags(.contains(all: ["a", "b"])).zip(.isNilOrEmpty())
/// ```
///
/// `nil` is equal to `nil` alone, as in Swift: ``isNotEqual(with:)`` matches a property that is
/// `nil`, unless its argument is `nil`, too. The conditions on order, strings and collections do
/// not match `nil`, except `isNilOrEmpty()`. Add `isNotNil()` to leave `nil` out:
///
/// ```swift
/// archive.fullName(.isNotEqual("basic")).fullName(.isNotNil())
/// ```
public struct QueryValidator<Result, Property> {
    let condition: (KeyPath<Result, Property>) -> ValueCondition<Result>
    var problems: [VellumError] = []

    init(_ condition: @escaping (KeyPath<Result, Property>) -> ValueCondition<Result>) {
        self.condition = condition
    }

    /// Matches a value for which the closure returns `true`. The closure is called for objects that
    /// satisfy the earlier conditions.
    public static func isValid(_ validator: @escaping (Property) -> Bool) -> Self {
        Self { PropertyTests($0).satisfies(validator) }
    }
}

// MARK: Nil

extension QueryValidator {
    /// Matches `nil`.
    public static func isNil<Wrapped>() -> Self where Property == Wrapped? {
        Self { PropertyTests($0).isNil }
    }

    /// Matches every value except `nil`.
    public static func isNotNil<Wrapped>() -> Self where Property == Wrapped? {
        Self { PropertyTests($0).isNotNil }
    }

    /// Matches nothing: the property is not optional.
    @available(
        *,
        deprecated,
        message: "The property is never nil. Remove the condition, or make the property optional."
    )
    @_disfavoredOverload
    public static func isNil() -> Self { isValid { isNilValue($0) } }

    /// Matches every value: the property is not optional.
    @available(
        *,
        deprecated,
        message: "The property is never nil. Remove the condition, or make the property optional."
    )
    @_disfavoredOverload
    public static func isNotNil() -> Self { isValid { !isNilValue($0) } }
}

// MARK: Equality

extension QueryValidator where Property: Equatable {
    /// Matches a value that is equal to `value`. If `value` is `nil`, it matches `nil`.
    public static func isEqual(with value: Property?) -> Self {
        Self { value.map(PropertyTests($0).isEqual) ?? PropertyTests($0).isNil }
    }

    /// Matches a value that is not equal to `value`, as `!=` does: also `nil`, unless `value` is
    /// `nil`.
    public static func isNotEqual(with value: Property?) -> Self {
        Self { value.map(PropertyTests($0).isNotEqual) ?? PropertyTests($0).isNotNil }
    }

    /// Matches a value that is equal to `value`. If `value` is `nil`, it matches `nil`.
    public static func isEqual(_ value: Property?) -> Self { isEqual(with: value) }

    /// Matches a value that is not equal to `value`, as `!=` does: also `nil`, unless `value` is
    /// `nil`.
    public static func isNotEqual(_ value: Property?) -> Self { isNotEqual(with: value) }
}

// MARK: Order

extension QueryValidator where Property: Comparable {
    /// Matches a value that is greater than `value`.
    public static func greater(than value: Property) -> Self {
        Self { PropertyTests($0).greater(than: value) }
    }

    /// Matches a value that is less than `value`.
    public static func less(than value: Property) -> Self {
        Self { PropertyTests($0).less(than: value) }
    }

    /// Matches a value that is greater than or equal to `value`.
    public static func greaterOrEqual(with value: Property) -> Self {
        Self { PropertyTests($0).greaterOrEqual(value) }
    }

    /// Matches a value that is less than or equal to `value`.
    public static func lessOrEqual(with value: Property) -> Self {
        Self { PropertyTests($0).lessOrEqual(value) }
    }
}

extension QueryValidator {
    /// Matches a value that is greater than `value`.
    public static func greater<Wrapped: Comparable>(than value: Wrapped) -> Self
    where Property == Wrapped? {
        Self { PropertyTests(optional: $0).greater(than: value) }
    }

    /// Matches a value that is less than `value`.
    public static func less<Wrapped: Comparable>(than value: Wrapped) -> Self
    where Property == Wrapped? {
        Self { PropertyTests(optional: $0).less(than: value) }
    }

    /// Matches a value that is greater than or equal to `value`.
    public static func greaterOrEqual<Wrapped: Comparable>(with value: Wrapped) -> Self
    where Property == Wrapped? {
        Self { PropertyTests(optional: $0).greaterOrEqual(value) }
    }

    /// Matches a value that is less than or equal to `value`.
    public static func lessOrEqual<Wrapped: Comparable>(with value: Wrapped) -> Self
    where Property == Wrapped? {
        Self { PropertyTests(optional: $0).lessOrEqual(value) }
    }
}
