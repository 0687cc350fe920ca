/// The answer to looking for something: there, or not there and why. A failure is neither; it is thrown.
@frozen
public enum Lookup<Value> {
    case hit(Value)
    case miss(Miss)

    /// What was found, if anything.
    @inlinable
    public var value: Value? {
        if case .hit(let value) = self { value } else { nil }
    }
}

/// Why there was nothing.
@frozen
public enum Miss: Hashable, Sendable {
    /// Nothing is recorded under the key.
    case absent
    /// What was recorded is past its age, or dated in the future.
    case expired
}

extension Lookup: Sendable where Value: Sendable {}
extension Lookup: Equatable where Value: Equatable {}
