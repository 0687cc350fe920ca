internal import VellumCore

/// What a caller's look at a store, or a load, came to.
enum LoadAnswer<Value> {
    /// There is a valid value, which the caller found or another load has just recorded. `nil`: it is remembered that there is none.
    case found(Value?)
    /// The loader returned.
    case loaded(Value?)
    /// The loader failed. Not new: the disk failed, or a remembered failure still holds; it must not be cached again.
    case failed(any Error, isNew: Bool)
}

extension LoadAnswer: Sendable where Value: Sendable {}
