/// The result of an operation of a layer.
@usableFromInline package typealias Outcome<Value> = Result<Value, ShallowsError>

extension Result where Failure == ShallowsError {
    /// The result with the error that `retrieve` and `set` throw.
    @inlinable
    consuming func withUnderlyingError() -> ShallowsResult<Success> {
        switch consume self {
        case .success(let value): .success(value)
        case .failure(let error): .failure(error.underlyingError)
        }
    }

    /// Returns the value, or throws what `retrieve` and `set` throw.
    @inlinable
    consuming func value() throws -> Success {
        switch consume self {
        case .success(let value): return value
        case .failure(let error): throw error.underlyingError
        }
    }

    /// The value, if there is one.
    var success: Success? { if case .success(let value) = self { value } else { nil } }

    var error: ShallowsError? { if case .failure(let error) = self { error } else { nil } }

    /// Returns the reply that `next` makes of the value, or the failure.
    @inlinable
    func then<Next: Sendable>(_ next: (Success) -> Reply<Next>) -> Reply<Next> {
        switch self {
        case .success(let value): next(value)
        case .failure(let error): .failure(error)
        }
    }
}
