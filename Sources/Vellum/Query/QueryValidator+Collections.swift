internal import VellumCore
internal import VellumEngine

// MARK: Elements

extension QueryValidator where Property: Collection, Property.Element: Equatable {
    /// Matches a collection that contains the element.
    public static func contains(with element: Property.Element) -> Self {
        Self { PropertyTests($0).contains(element) }
    }

    /// Matches a collection that contains at least one of the elements.
    public static func contains(atLeastOne elements: some Sequence<Property.Element>) -> Self {
        Self { PropertyTests($0).containsAny(of: elements) }
    }

    /// Matches a collection that contains all of the elements.
    public static func contains(all elements: some Sequence<Property.Element>) -> Self {
        Self { PropertyTests($0).containsAll(of: elements) }
    }

    /// Matches a collection that contains all of the elements.
    public static func contains(_ elements: Property.Element...) -> Self { contains(all: elements) }
}

extension QueryValidator {
    /// Matches a collection that contains the element.
    public static func contains<Wrapped: Collection>(
        with element: Wrapped.Element
    ) -> Self where Property == Wrapped?, Wrapped.Element: Equatable {
        Self { PropertyTests(optional: $0).contains(element) }
    }

    /// Matches a collection that contains at least one of the elements.
    public static func contains<Wrapped: Collection>(
        atLeastOne elements: some Sequence<Wrapped.Element>
    ) -> Self where Property == Wrapped?, Wrapped.Element: Equatable {
        Self { PropertyTests(optional: $0).containsAny(of: elements) }
    }

    /// Matches a collection that contains all of the elements.
    public static func contains<Wrapped: Collection>(
        all elements: some Sequence<Wrapped.Element>
    ) -> Self where Property == Wrapped?, Wrapped.Element: Equatable {
        Self { PropertyTests(optional: $0).containsAll(of: elements) }
    }

    /// Matches a collection that contains all of the elements.
    public static func contains<Wrapped: Collection>(
        _ elements: Wrapped.Element...
    ) -> Self where Property == Wrapped?, Wrapped.Element: Equatable {
        contains(all: elements)
    }
}

// MARK: Emptiness

extension QueryValidator where Property: Collection {
    /// Matches an empty collection.
    public static func isEmpty() -> Self { Self { PropertyTests($0).isEmpty } }

    /// Matches a collection that is not empty.
    public static func isNotEmpty() -> Self { Self { PropertyTests($0).isNotEmpty } }
}

extension QueryValidator {
    /// Matches an empty collection. Does not match `nil`.
    public static func isEmpty<Wrapped: Collection>() -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).isEmpty }
    }

    /// Matches a collection that is not empty. Does not match `nil`.
    public static func isNotEmpty<Wrapped: Collection>() -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).isNotEmpty }
    }

    /// Matches an empty collection and `nil`.
    public static func isNilOrEmpty<Wrapped: Collection>() -> Self where Property == Wrapped? {
        Self {
            .any([PropertyTests(optional: $0).isNil, PropertyTests(optional: $0).isEmpty])
        }
    }
}

// MARK: Counts

extension QueryValidator where Property: Collection {
    /// Matches a collection with exactly `count` elements.
    public static func countEqual(with count: Int) -> Self {
        isValid { $0.count == count }
    }

    /// Matches a collection with more than `count` elements.
    public static func countGreater(than count: Int) -> Self {
        isValid { $0.count > count }
    }

    /// Matches a collection with fewer than `count` elements.
    public static func countLess(than count: Int) -> Self {
        isValid { $0.count < count }
    }

    /// Matches a collection with at least `count` elements.
    public static func countGreaterOrEqual(with count: Int) -> Self {
        isValid { $0.count >= count }
    }

    /// Matches a collection with at most `count` elements.
    public static func countLessOrEqual(with count: Int) -> Self {
        isValid { $0.count <= count }
    }
}

// MARK: Counts of optional collections

extension QueryValidator {
    /// Matches a value that is not `nil` and for which the closure returns `true`.
    private static func isPresent<Wrapped>(_ validator: @escaping (Wrapped) -> Bool) -> Self
    where Property == Wrapped? {
        Self { PropertyTests(optional: $0).satisfies(validator) }
    }

    /// Matches a collection with exactly `count` elements.
    public static func countEqual<Wrapped: Collection>(with count: Int) -> Self
    where Property == Wrapped? {
        isPresent { $0.count == count }
    }

    /// Matches a collection with more than `count` elements.
    public static func countGreater<Wrapped: Collection>(than count: Int) -> Self
    where Property == Wrapped? {
        isPresent { $0.count > count }
    }

    /// Matches a collection with fewer than `count` elements.
    public static func countLess<Wrapped: Collection>(than count: Int) -> Self
    where Property == Wrapped? {
        isPresent { $0.count < count }
    }

    /// Matches a collection with at least `count` elements.
    public static func countGreaterOrEqual<Wrapped: Collection>(with count: Int) -> Self
    where Property == Wrapped? {
        isPresent { $0.count >= count }
    }

    /// Matches a collection with at most `count` elements.
    public static func countLessOrEqual<Wrapped: Collection>(with count: Int) -> Self
    where Property == Wrapped? {
        isPresent { $0.count <= count }
    }
}
