public import Foundation

/// The shape of every error of this package: the engine's own, and those of the faces, which tell the same under their names.
public protocol EngineError: LocalizedError, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// What kind of failure.
    var code: StoreError.Code { get }
    /// What went wrong and what to do about it, in a sentence.
    var message: String { get }
    /// The error below this one, where there is one. It may name data of a user.
    var cause: (any Error)? { get }
}

extension EngineError {
    /// Code and message: no key and no value of a user.
    public var description: String { "\(code): \(message)" }

    /// The same, and the cause.
    public var debugDescription: String {
        guard let cause else { return "\(Self.self)(\(description))" }
        return "\(Self.self)(\(description) Cause: \(String(reflecting: cause)))"
    }

    public var errorDescription: String? { description }
}
