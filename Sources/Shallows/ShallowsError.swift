public import Foundation
public import VellumCore

/// The error of this module: a miss with its key, or a failure with its cause, and the layer where
/// it arose.
///
/// ```swift
/// do throws(ShallowsError) {
///     if let city = try await cities.retrieveIfPresent(forKey: "kharkiv") {
///         show(city)
///     } else {
///         showNothing()
///     }
/// } catch {
///     log("\(error.layer): \(error)")
/// }
/// ```
///
/// Storages of this module throw it. What your own storages and transforms throw reaches you
/// unchanged from `retrieve` and `set`, and as the ``cause`` of a `ShallowsError` from
/// ``StorageFamily/Erased/retrieveIfPresent(forKey:)``.
///
/// Its `description` quotes an error of your own storage or transform as that error describes
/// itself, and adds no key and no value. `String(reflecting:)` adds the cause.
public struct ShallowsError: LocalizedError, Sendable, CustomStringConvertible,
    CustomDebugStringConvertible, StorageMiss
{
    /// What kind of failure an error is.
    public typealias Code = VellumError.Code

    /// What kind of failure it is. A later version may add codes, so a `switch` needs a default.
    public var code: Code
    /// What went wrong and what to do about it. Quotes the cause, if a storage or a transform of
    /// your own threw it.
    public var message: String {
        get {
            guard quotesCause, let cause else { return text }
            return "\(text): \(Self.reason(of: cause))"
        }
        set {
            text = newValue
            quotesCause = false
        }
    }
    /// The name of the layer where it arose.
    public var layer: String
    /// The key that was asked for, as that layer knows it.
    public var key: (any Sendable)?
    /// The error that caused this one, if any. It may contain user data.
    public var cause: (any Error)?
    /// If a value was set to, or removed from, some layers and not all: the names of those where
    /// that succeeded.
    public var succeededLayers: [String] = []

    /// The message, without the cause that it quotes.
    @usableFromInline var text: String
    /// Whether the message ends with the cause. It is written only when it is read, because many
    /// storages throw an error for each miss.
    @usableFromInline var quotesCause = false
    /// What a composition does with it.
    @usableFromInline var disposition: Disposition
    /// Whether `retrieve` and `set` throw the cause in its place.
    @usableFromInline var throwsCause = false

    @usableFromInline
    enum Disposition: Sendable {
        /// There is no value: ask the next layer.
        case miss
        /// Stop here.
        case failure
        /// A user-supplied storage failed, and does not say how: ask the next layer, and report the
        /// error.
        case unknown
    }

    /// Creates an error. Its code says whether it is a miss.
    @inlinable
    public init(
        _ code: Code,
        _ message: String,
        layer: String,
        key: (any Sendable)? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        text = message
        self.layer = layer
        self.key = key
        self.cause = cause
        disposition = code == .miss ? .miss : .failure
    }

    /// Returns the error that says that there is no value under the key.
    @inlinable
    public static func miss(
        forKey key: any Sendable,
        layer: String,
        cause: (any Error)? = nil
    ) -> ShallowsError {
        var error = ShallowsError(
            .miss,
            "There is no value under the key.",
            layer: layer,
            key: key,
            cause: cause
        )
        error.throwsCause = cause != nil
        return error
    }

    /// Whether there is no value and nothing failed.
    public var isMiss: Bool { disposition == .miss }

    /// Code, layer and message.
    public var description: String { "\(code) in \(layer): \(message)" }
}

extension ShallowsError {
    /// The error for what a storage, a transform or a closure threw.
    ///
    /// - Parameter disposition: Its disposition, if the error does not say so itself.
    @usableFromInline
    init(
        _ error: any Error,
        layer: String,
        key: (any Sendable)? = nil,
        disposition: Disposition
    ) {
        switch error {
        case let error as ShallowsError:
            self = error
            if self.key == nil { self.key = key }
        case let error as any StorageMiss where error.isMiss:
            self = .miss(forKey: key ?? (), layer: layer, cause: error)
        case let error as VellumError:
            self = ShallowsError(
                error.code,
                error.located,
                layer: layer,
                key: key,
                cause: error.cause
            )
        case is CancellationError:
            self = ShallowsError(
                .cancelled,
                "The task was cancelled.",
                layer: layer,
                key: key,
                cause: error
            )
        default:
            self = ShallowsError(
                .failed,
                "The storage failed",
                layer: layer,
                key: key,
                cause: error
            )
            quotesCause = true
            self.disposition = error is any StorageMiss ? .failure : disposition
        }
        // User code expects the errors that user code threw.
        throwsCause = throwsCause || !(error is VellumError || error is ShallowsError)
    }

    /// What an error says about itself. Errors of the system and of coding have keys, values and
    /// paths in their descriptions: of these the reason alone.
    static func reason(of error: any Error) -> String {
        if isOfCoding(error) { return codingReason(error) }
        if let text = (error as? any LocalizedError)?.errorDescription { return text }
        if error is any CustomNSError || type(of: error) is NSError.Type {
            return codingReason(error)
        }
        return String(describing: error)
    }

    /// The same error, as a failure if it says nothing about itself.
    var strict: ShallowsError {
        var error = self
        if disposition == .unknown { error.disposition = .failure }
        return error
    }

    /// Whether it is about the call, and says nothing about what the storage has.
    var isOfTheCall: Bool { code == .cancelled || code == .wouldBlock }

    /// What `retrieve` and `set` throw: the error as it was thrown first.
    @usableFromInline var underlyingError: any Error { throwsCause ? (cause ?? self) : self }

    /// The description and the cause.
    public var debugDescription: String {
        guard let cause else { return "ShallowsError(\(description))" }
        return "ShallowsError(\(description) Cause: \(String(reflecting: cause)))"
    }

    /// The message, then code and layer, for `localizedDescription`.
    public var errorDescription: String? { "\(message) (\(code) in \(layer))" }
}

extension VellumError.Code {
    /// There is no value under the key.
    public static let miss = VellumError.Code("miss")
    /// A user-supplied storage or transform failed.
    public static let failed = VellumError.Code("failed")
    /// A value was set to some layers and not all.
    public static let partiallySet = VellumError.Code("partiallySet")
    /// A value was removed from some layers and not all.
    public static let partiallyRemoved = VellumError.Code("partiallyRemoved")
    /// A storage that answers later was called synchronously inside a task.
    public static let wouldBlock = VellumError.Code("wouldBlock")
    /// A call would wait for work that it is part of, such as an update of the key that is being
    /// updated.
    public static let recursiveCall = VellumError.Code("recursiveCall")
    /// A storage released its completion without calling it.
    public static let unanswered = VellumError.Code("unanswered")
}

/// An error that may mean that there is no value.
///
/// In a composition, a miss continues with the next layer; so does an unknown error of a
/// user-supplied storage, which is reported, unless that storage is ``ErasableStorage/strict()``; a
/// failure of a storage of this package stops.
///
/// ```swift
/// extension KeychainError: StorageMiss {
///     var isMiss: Bool { self == .itemNotFound }
/// }
/// ```
public protocol StorageMiss: Error {
    /// Whether the error means that there is no value. By default `true`. If `false`, a composition
    /// stops and throws the error.
    var isMiss: Bool { get }
}

extension StorageMiss {
    /// `true`: the error means that there is no value.
    public var isMiss: Bool { true }
}
