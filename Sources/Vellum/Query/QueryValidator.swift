internal import VellumCore
internal import VellumEngine

/// What a property must be to be found by a ``QueryFinder``.
///
/// ```swift
/// archive.age(.greaterOrEqual(with: 18)).tags(.contains(all: ["a", "b"])).zip(.isNilOrEmpty())
/// ```
///
/// Of an optional property, `nil` is found only by the tests for `nil`: neither by a comparison nor by its opposite.
public struct QueryValidator<Result, Property> {
    let condition: (KeyPath<Result, Property>) -> Condition<Result>
    var problems: [VellumError] = []

    init(_ condition: @escaping (KeyPath<Result, Property>) -> Condition<Result>) {
        self.condition = condition
    }

    /// Found if the closure says so. It is called for each object that everything before it finds.
    public static func isValid(_ validator: @escaping (Property) -> Bool) -> Self {
        Self { PropertyTests($0).satisfies(validator) }
    }
}

// MARK: Nil

extension QueryValidator {
    /// Found if it is `nil`.
    public static func isNil<Wrapped>() -> Self where Property == Wrapped? {
        Self { PropertyTests($0).isNil }
    }

    /// Found unless it is `nil`.
    public static func isNotNil<Wrapped>() -> Self where Property == Wrapped? {
        Self { PropertyTests($0).isNotNil }
    }
}

// MARK: Equality

extension QueryValidator where Property: Equatable {
    /// Found if it is equal to the value; for `nil`, if it is `nil`.
    public static func isEqual(with value: Property?) -> Self {
        Self { value.map(PropertyTests($0).isEqual) ?? PropertyTests($0).isNil }
    }

    /// Found if it is not equal to the value; for `nil`, if it is not `nil`. Of an optional property, `nil` is never found.
    public static func isNotEqual(with value: Property?) -> Self {
        Self { value.map(PropertyTests($0).isNotEqual) ?? PropertyTests($0).isNotNil }
    }

    /// Found if it is equal to the value; for `nil`, if it is `nil`.
    public static func isEqual(_ value: Property?) -> Self { isEqual(with: value) }

    /// Found if it is not equal to the value; for `nil`, if it is not `nil`. Of an optional property, `nil` is never found.
    public static func isNotEqual(_ value: Property?) -> Self { isNotEqual(with: value) }
}

// MARK: Order

extension QueryValidator where Property: Comparable {
    /// Found if it is greater than the value.
    public static func greater(than value: Property) -> Self { Self { PropertyTests($0).greater(than: value) } }

    /// Found if it is less than the value.
    public static func less(than value: Property) -> Self { Self { PropertyTests($0).less(than: value) } }

    /// Found if it is greater than the value or equal to it.
    public static func greaterOrEqual(with value: Property) -> Self { Self { PropertyTests($0).greaterOrEqual(value) } }

    /// Found if it is less than the value or equal to it.
    public static func lessOrEqual(with value: Property) -> Self { Self { PropertyTests($0).lessOrEqual(value) } }
}

extension QueryValidator {
    /// Found if it is greater than the value.
    public static func greater<Wrapped: Comparable>(than value: Wrapped) -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).greater(than: value) }
    }

    /// Found if it is less than the value.
    public static func less<Wrapped: Comparable>(than value: Wrapped) -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).less(than: value) }
    }

    /// Found if it is greater than the value or equal to it.
    public static func greaterOrEqual<Wrapped: Comparable>(with value: Wrapped) -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).greaterOrEqual(value) }
    }

    /// Found if it is less than the value or equal to it.
    public static func lessOrEqual<Wrapped: Comparable>(with value: Wrapped) -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).lessOrEqual(value) }
    }
}
