internal import VellumCore
internal import VellumEngine

// MARK: Counts

extension QueryValidator where Property: Collection {
    /// Found if the count of its elements is equal to the number.
    public static func countEqual(with count: Int) -> Self { Self { PropertyTests($0).satisfies { $0.count == count } } }

    /// Found if the count of its elements is greater than the number.
    public static func countGreater(than count: Int) -> Self { Self { PropertyTests($0).satisfies { $0.count > count } } }

    /// Found if the count of its elements is less than the number.
    public static func countLess(than count: Int) -> Self { Self { PropertyTests($0).satisfies { $0.count < count } } }

    /// Found if the count of its elements is at least the number.
    public static func countGreaterOrEqual(with count: Int) -> Self { Self { PropertyTests($0).satisfies { $0.count >= count } } }

    /// Found if the count of its elements is at most the number.
    public static func countLessOrEqual(with count: Int) -> Self { Self { PropertyTests($0).satisfies { $0.count <= count } } }
}

// MARK: Counts of optional collections

extension QueryValidator {
    /// Found if the count of its elements is equal to the number.
    public static func countEqual<Wrapped: Collection>(with count: Int) -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).satisfies { $0.count == count } }
    }

    /// Found if the count of its elements is greater than the number.
    public static func countGreater<Wrapped: Collection>(than count: Int) -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).satisfies { $0.count > count } }
    }

    /// Found if the count of its elements is less than the number.
    public static func countLess<Wrapped: Collection>(than count: Int) -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).satisfies { $0.count < count } }
    }

    /// Found if the count of its elements is at least the number.
    public static func countGreaterOrEqual<Wrapped: Collection>(with count: Int) -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).satisfies { $0.count >= count } }
    }

    /// Found if the count of its elements is at most the number.
    public static func countLessOrEqual<Wrapped: Collection>(with count: Int) -> Self where Property == Wrapped? {
        Self { PropertyTests(optional: $0).satisfies { $0.count <= count } }
    }
}
