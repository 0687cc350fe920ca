/// A result as layers give it to one another.
@usableFromInline package typealias Outcome<Value> = Result<Value, ShallowsError>

extension Result where Failure == ShallowsError {
    /// The result as the documented operations give it.
    @inlinable
    consuming func withUnderlyingError() -> ShallowsResult<Success> {
        switch consume self {
        case .success(let value): .success(value)
        case .failure(let error): .failure(error.underlyingError)
        }
    }

    /// The value, or what the documented operations throw.
    @inlinable
    consuming func value() throws -> Success {
        switch consume self {
        case .success(let value): return value
        case .failure(let error): throw error.underlyingError
        }
    }

    /// The value; what stands in its place is looked at where it matters.
    var success: Success? { if case .success(let value) = self { value } else { nil } }

    var error: ShallowsError? { if case .failure(let error) = self { error } else { nil } }

    /// Goes on with the value, or with the failure.
    @inlinable
    func then<Next: Sendable>(_ next: (Success) -> Reply<Next>) -> Reply<Next> {
        switch self {
        case .success(let value): next(value)
        case .failure(let error): .failure(error)
        }
    }
}
