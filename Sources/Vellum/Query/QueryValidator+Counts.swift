internal import VellumCore
internal import VellumEngine

// MARK: Counts

extension QueryValidator where Property: Collection {
    /// Matches a collection with exactly `count` elements.
    public static func countEqual(with count: Int) -> Self { Self { PropertyTests($0).satisfies { $0.count == count } } }

    /// Matches a collection with more than `count` elements.
    public static func countGreater(than count: Int) -> Self { Self { PropertyTests($0).satisfies { $0.count > count } } }

    /// Matches a collection with fewer than `count` elements.
    public static func countLess(than count: Int) -> Self { Self { PropertyTests($0).satisfies { $0.count < count } } }

    /// Matches a collection with at least `count` elements.
    public static func countGreaterOrEqual(with count: Int) -> Self { Self { PropertyTests($0).satisfies { $0.count >= count } } }

    /// Matches a collection with at most `count` elements.
    public static func countLessOrEqual(with count: Int) -> Self { Self { PropertyTests($0).satisfies { $0.count <= count } } }
}

// MARK: Counts of optional collections

extension QueryValidator {
    /// Matches a collection with exactly `count` elements.
    public static func countEqual<Wrapped: Collection>(with count: Int) -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).satisfies { $0.count == count } }
    }

    /// Matches a collection with more than `count` elements.
    public static func countGreater<Wrapped: Collection>(than count: Int) -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).satisfies { $0.count > count } }
    }

    /// Matches a collection with fewer than `count` elements.
    public static func countLess<Wrapped: Collection>(than count: Int) -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).satisfies { $0.count < count } }
    }

    /// Matches a collection with at least `count` elements.
    public static func countGreaterOrEqual<Wrapped: Collection>(with count: Int) -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).satisfies { $0.count >= count } }
    }

    /// Matches a collection with at most `count` elements.
    public static func countLessOrEqual<Wrapped: Collection>(with count: Int) -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).satisfies { $0.count <= count } }
    }
}
