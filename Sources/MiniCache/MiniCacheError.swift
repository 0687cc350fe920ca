internal import Foundation
public import VellumCore
internal import VellumEngine

/// An error of a cache: what failed, what to do about it, and the underlying error.
///
/// ```swift
/// do {
///     try cache.set(image, forKey: url)
/// } catch where error.code == .tooLarge {
///     // The image is larger than every limit. The old value is still there.
/// }
/// ```
///
/// Its `description` contains no keys and no values; `String(reflecting:)` adds the cause.
public struct MiniCacheError: EngineError {
    /// The kinds of failures.
    public typealias Code = StoreError.Code

    /// The kind of failure. A later version may add codes, so a `switch` needs a default.
    public var code: Code
    /// What failed and what to do about it, in a sentence.
    public var message: String
    /// The underlying error, if there is one. It may contain keys and values.
    public var cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    @usableFromInline
    init(_ error: StoreError) {
        self.init(error.code, error.message, cause: error.cause)
    }

    /// Whether the failure concerns one entry only.
    var concernsOneEntry: Bool { code == .damagedEntry || code == .notDecodable }
}

extension StoreError.Code {
    /// Equal keys of the type may be encoded differently, or the key contains a number that is infinite or NaN.
    public static let invalidKey = StoreError.Code("invalidKey")
}

/// Calls the engine and throws its errors as errors of a cache.
func mappingErrors<Result>(_ body: () throws(StoreError) -> Result) throws(MiniCacheError) -> Result {
    do throws(StoreError) {
        return try body()
    } catch {
        throw MiniCacheError(error)
    }
}
