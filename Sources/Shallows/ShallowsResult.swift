public import Foundation

/// The argument of a completion: the value, or the error.
public typealias ShallowsResult<Value> = Result<Value, any Error>

extension Optional {
    /// The error that ``unwrap()`` throws for `nil`.
    public struct UnwrapError: LocalizedError {
        /// Creates the error.
        public init() {}

        /// The text for `localizedDescription`.
        public var errorDescription: String? {
            "There is nil in the place of a value of type \(Wrapped.self)."
        }
    }

    /// Returns the value, or throws if it is `nil`: for transforms that may fail.
    ///
    /// ```swift
    /// let numbers = strings.mapValues(
    ///     transformIn: { try Int($0).unwrap() }, transformOut: { String($0) })
    /// ```
    ///
    /// - Throws: ``UnwrapError`` for `nil`.
    @inlinable
    public func unwrap() throws -> Wrapped {
        try unwrap(orThrow: UnwrapError())
    }

    /// Returns the value, or throws the error if it is `nil`.
    @inlinable
    public func unwrap(orThrow error: @autoclosure () -> any Error) throws -> Wrapped {
        guard let self else { throw error() }
        return self
    }
}
