/// Why a value was not given or taken: `validate` found it not valid.
///
/// A ``StorageMiss``: in a composition, a value that is not valid is as good as none, and the next layer is asked.
public struct ValueValidationError: Error, StorageMiss {
    public init() {}
}

extension ErasableStorage {
    /// The storage of valid values alone: retrieving one that is not valid is a miss, and setting it an error.
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

    /// The same with a function that does not wait: then neither does the storage.
    @preconcurrency
    public func validate(_ isValid: @escaping @Sendable (ErasedValue) throws -> Bool) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        let validated: @Sendable (ErasedValue) throws -> ErasedValue = { value in
            guard try isValid(value) else { throw ValueValidationError() }
            return value
        }
        return mapping(in: validated, out: validated)
    }
}
