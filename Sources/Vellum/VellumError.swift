internal import Foundation
public import VellumCore
internal import VellumEngine

/// The one error of this module: what went wrong, what to do about it, and what lay below.
///
/// ```swift
/// do {
///     try users.record(user)
/// } catch let error as VellumError where error.code == .tooLarge {
///     // larger than every limit; what was recorded before is still there
/// }
/// ```
///
/// Its `description` holds no key and no value of a user; `String(reflecting:)` adds the cause.
public struct VellumError: EngineError {
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
    /// The type is private or local and has no name that lasts: give it an `archiveName`.
    public static let unnamedArchive = StoreError.Code("unnamedArchive")
}
