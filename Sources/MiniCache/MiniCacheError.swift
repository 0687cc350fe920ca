internal import Foundation
public import VellumCore
internal import VellumEngine

/// The one error of this module: what went wrong, what to do about it, and what lay below.
///
/// ```swift
/// do {
///     try cache.set(image, forKey: url)
/// } catch where error.code == .tooLarge {
///     // larger than every limit; the old value is still there
/// }
/// ```
///
/// Its `description` holds no key and no value of a user; `String(reflecting:)` adds the cause.
public struct MiniCacheError: EngineError {
    public typealias Code = StoreError.Code

    /// What kind of failure. Open: a later version may add codes, so a `switch` needs a default.
    public var code: Code
    /// What went wrong and what to do about it, in a sentence.
    public var message: String
    /// The error below this one, where there is one. It may name data of a user.
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
}

extension StoreError.Code {
    /// Equal keys of the type may be encoded differently, or the key holds a number that is none.
    public static let invalidKey = StoreError.Code("invalidKey")
}
