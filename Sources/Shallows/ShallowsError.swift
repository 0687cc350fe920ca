internal import Foundation
public import VellumCore

/// The one error of this module: a miss with its key, or a failure with its cause, and the layer where it arose.
///
/// ```swift
/// do throws(ShallowsError) {
///     if let city = try await cities.retrieveIfPresent(forKey: "kharkiv") { show(city) } else { showNothing() }
/// } catch {
///     log("\(error.layer): \(error)")
/// }
/// ```
///
/// Storages of this module throw it as it is. What a storage or a transform of your own throws reaches you as you threw it
/// from `retrieve` and `set`, and as the ``cause`` of a `ShallowsError` from ``StorageKind/Erased/retrieveIfPresent(forKey:)``.
///
/// Its `description` holds no key and no value of a user; `String(reflecting:)` adds the cause.
public struct ShallowsError: EngineError, StorageMiss {
    public typealias Code = StoreError.Code

    /// What kind of failure. Open: a later version may add codes, so a `switch` needs a default.
    public var code: Code
    /// What went wrong and what to do about it, in a sentence.
    public var message: String
    /// The name of the layer where it arose.
    public var layer: String
    /// The key that was asked for, as that layer has it.
    public var key: (any Sendable)?
    /// The error below this one, where there is one. It may name data of a user.
    public var cause: (any Error)?
    /// Where a value was set to some layers and not to all: the names of those that have it.
    public var reached: [String] = []

    /// How a composition takes it.
    @usableFromInline var standing: Standing
    /// Whether the documented verbs throw the cause in its place.
    @usableFromInline var isTransparent = false
    /// Whether the layer was asked all the same, and may do what the caller does not wait for.
    var mayStillBeDone = false

    @usableFromInline
    enum Standing: Sendable {
        /// There is no value: ask the next layer.
        case miss
        /// Stop here.
        case failure
        /// An error of a user's own, of which nothing is known: ask the next layer, and report it.
        case unknown
    }

    @inlinable
    public init(_ code: Code, _ message: String, layer: String, key: (any Sendable)? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.layer = layer
        self.key = key
        self.cause = cause
        standing = code == .miss ? .miss : .failure
    }

    /// That there is no value under the key.
    @inlinable
    public static func miss(forKey key: any Sendable, layer: String, cause: (any Error)? = nil) -> ShallowsError {
        var error = ShallowsError(.miss, "There is no value under the key.", layer: layer, key: key, cause: cause)
        error.isTransparent = cause != nil
        return error
    }

    /// Whether there is no value, and nothing failed.
    public var isMiss: Bool { standing == .miss }

    /// Code, layer and message: no key and no value of a user.
    public var description: String { "\(code) in \(layer): \(message)" }
}

extension ShallowsError {
    /// An error that someone else made: a storage, a transform, a closure of a user's own.
    ///
    /// - Parameter standing: How it is taken where it does not say so itself.
    @usableFromInline
    init(_ error: any Error, layer: String, key: (any Sendable)? = nil, standing: Standing) {
        switch error {
        case let error as ShallowsError:
            self = error
            if self.key == nil { self.key = key }
        case let error as any StorageMiss where error.isMiss: self = .miss(forKey: key ?? (), layer: layer, cause: error)
        case let error as StoreError: self = ShallowsError(error.code, error.message, layer: layer, key: key, cause: error.cause)
        case is CancellationError:
            self = ShallowsError(.cancelled, "The task was cancelled.", layer: layer, key: key, cause: error)
        default:
            self = ShallowsError(.failed, "The storage failed; its own error is the cause.", layer: layer, key: key, cause: error)
            self.standing = error is any StorageMiss ? .failure : standing
        }
        // What a user's own code threw is what a user's own code expects.
        isTransparent = isTransparent || !(error is any EngineError)
    }

    /// Whether it is about the call, and says nothing of what the storage has.
    var isOfTheCall: Bool { code == .cancelled || code == .wouldBlock }

    /// Whether a set failed because the call was refused in a layer, which may take the value all the same.
    var isOfRefusedSet: Bool { (cause as? ShallowsError)?.mayStillBeDone ?? false }

    /// What the documented verbs throw: the error as whoever made it made it.
    @usableFromInline var surfaced: any Error { isTransparent ? (cause ?? self) : self }
}

extension StoreError.Code {
    /// There is no value under the key.
    public static let miss = StoreError.Code("miss")
    /// A storage or a transform of a user's own failed.
    public static let failed = StoreError.Code("failed")
    /// A value was set to some layers and not to all.
    public static let partiallySet = StoreError.Code("partiallySet")
    /// A value was removed from some layers and not from all.
    public static let partiallyRemoved = StoreError.Code("partiallyRemoved")
    /// A storage that answers later was asked to answer at once, inside a task.
    public static let wouldBlock = StoreError.Code("wouldBlock")
    /// A call waits for what it is part of, such as an update of the key that is being updated.
    public static let recursiveCall = StoreError.Code("recursiveCall")
    /// A storage dropped the completion that it was to call.
    public static let unanswered = StoreError.Code("unanswered")
}
