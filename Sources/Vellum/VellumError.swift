internal import Foundation
public import VellumCore
internal import VellumEngine

/// The error of this module: a code, a message that says what to do, and the underlying error.
///
/// ```swift
/// do {
///     try users.record(user)
/// } catch let error as VellumError where error.code == .tooLarge {
///     // Larger than both limits. The object that was recorded before is still there.
/// }
/// ```
///
/// Its `description` contains no keys and no values of users. `String(reflecting:)` adds the cause, which may contain some.
public struct VellumError: EngineError {
    /// The kinds of failures.
    public typealias Code = StoreError.Code

    /// The kind of failure. Later versions may add codes, so a `switch` needs a default.
    public var code: Code
    /// What went wrong and what to do about it.
    public var message: String
    /// The underlying error, if there is one. It may contain data of a user.
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
    /// The type is private or local, so its full name changes on every launch. Give it an `archiveName`.
    public static let unnamedArchive = StoreError.Code("unnamedArchive")
}
