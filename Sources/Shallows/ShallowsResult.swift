/// What a completion is called with: the value, or why there is none.
public typealias ShallowsResult<Value> = Result<Value, any Error>

extension Optional {
    /// There was no value to unwrap.
    public struct UnwrapError: Error {
        public init() {}
    }

    /// The value, where `nil` is an error: for transforms that may come to nothing.
    ///
    /// ```swift
    /// let numbers = strings.mapValues(transformIn: { try Int($0).unwrap() }, transformOut: { String($0) })
    /// ```
    ///
    /// - Throws: ``UnwrapError`` if there is none.
    @inlinable
    public func unwrap() throws -> Wrapped {
        try unwrap(orThrow: UnwrapError())
    }

    /// The value, where `nil` is that error.
    @inlinable
    public func unwrap(orThrow error: @autoclosure () -> any Error) throws -> Wrapped {
        guard let self else { throw error() }
        return self
    }
}
