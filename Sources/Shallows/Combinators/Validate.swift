public import Foundation

/// The error of a value that `validate` found invalid.
///
/// It is a ``StorageMiss``: in a composition, the next layer is asked.
public struct ValueValidationError: LocalizedError, StorageMiss {
    /// Creates the error.
    public init() {}

    /// The text for `localizedDescription`.
    public var errorDescription: String? { "The value is not valid." }
}

extension ErasableStorage {
    /// Returns a storage of valid values: retrieving an invalid value is a miss, and setting one is
    /// an error.
    ///
    /// ```swift
    /// let fresh = storage.validate { article in article.date > oldest }
    /// ```
    @preconcurrency
    public func validate(
        _ isValid: @escaping @Sendable (ErasedValue) async throws -> Bool
    ) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        let validated: @Sendable (ErasedValue) async throws -> ErasedValue = { value in
            guard try await isValid(value) else { throw ValueValidationError() }
            return value
        }
        return asyncMapping(in: validated, out: validated)
    }

    /// Returns a storage of valid values, with a synchronous check.
    @preconcurrency
    public func validate(
        _ isValid: @escaping @Sendable (ErasedValue) throws -> Bool
    ) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        let validated: @Sendable (ErasedValue) throws -> ErasedValue = { value in
            guard try isValid(value) else { throw ValueValidationError() }
            return value
        }
        return mapping(in: validated, out: validated)
    }
}
