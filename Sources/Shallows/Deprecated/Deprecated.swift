public import Foundation
internal import VellumCore

// Names of the original that have a better one now.

/// Returns a failure.
@available(*, deprecated, message: "Write '.failure(error)'.")
public func fail<Value>(with error: any Error) -> ShallowsResult<Value> { .failure(error) }

/// Returns a success.
@available(*, deprecated, message: "Write '.success(value)'.")
public func succeed<Value>(with value: Value) -> ShallowsResult<Value> { .success(value) }

/// Returns a function that throws where `block` returns `nil`.
///
/// - Throws: `Optional.UnwrapError`, in the returned function.
@available(*, deprecated, message: "Write '{ try block($0).unwrap() }'.")
@preconcurrency
public func throwing<In, Out>(
    _ block: @escaping @Sendable (In) -> Out?
) -> @Sendable (In) throws -> Out {
    { input in try block(input).unwrap() }
}

/// Whether compositions say in the log that a layer failed and the next one was asked.
@available(
    *,
    deprecated,
    message: """
        Set the level of the logger 'vellum.shallows' (swift-log) to debug, or use 'reporting(_:)'.
        """
)
public enum ShallowsLog {
    /// Whether they say it at the level `notice`, and not at `debug`. `false` at first. May be set
    /// on any thread.
    public static var isEnabled: Bool {
        get { StorageReport.isVerbose.withLock { $0 } }
        set { StorageReport.isVerbose.withLock { $0 = newValue } }
    }
}

/// A value that is read and changed under a lock. Copies share the value.
@available(*, deprecated, message: "Use 'Mutex' of the module Synchronization, or an actor.")
public struct ThreadSafe<Value>: Sendable {
    private let contents: Contents

    // Unchecked because `value` is protected by `lock`. Not `Locked`, whose value must be
    // `Sendable`.
    private final class Contents: @unchecked Sendable {
        let lock = NSLock()
        var value: Value

        init(_ value: Value) { self.value = value }
    }

    /// Creates a value under a lock.
    public init(_ value: Value) { contents = Contents(value) }

    /// Returns the value.
    public func read() -> Value { contents.lock.withLock { contents.value } }

    /// Changes the value. `modify` must not use it in another way.
    public mutating func write(with modify: (inout Value) -> Void) {
        contents.lock.withLock { modify(&contents.value) }
    }

    /// Replaces the value.
    public mutating func write(_ newValue: Value) {
        contents.lock.withLock { contents.value = newValue }
    }
}

/// The error that storages of decoded values threw.
///
/// Only in Swift 5 mode, because its name hides Swift's `DecodingError`.
@available(
    swift,
    deprecated: 5,
    message: """
        Storages throw ShallowsError with the code 'notDecodable'. Its cause is the decoder's error.
        """
)
@available(
    swift,
    obsoleted: 6,
    message: """
        Storages throw ShallowsError with the code 'notDecodable'. Its cause is the decoder's error.
        """
)
public struct DecodingError<T>: Error {
    /// The bytes that could not be decoded.
    @StringPrinted public var originalData: Data
    /// The decoder's error.
    public var rawError: any Error
}

/// Bytes that are described as the text that they encode.
@available(
    *,
    deprecated,
    message: "Write 'String(decoding: data, as: UTF8.self)' where you print data."
)
@propertyWrapper
public struct StringPrinted: CustomStringConvertible, Sendable {
    /// The bytes.
    public var wrappedValue: Data

    /// Creates a description of bytes.
    public init(wrappedValue: Data) { self.wrappedValue = wrappedValue }

    /// The text, or a text that says that there is none.
    public var description: String {
        String(data: wrappedValue, encoding: .utf8) ?? "__raw-unmappable-data__"
    }
}

extension DiskStorage {
    /// The errors that files could not be written with.
    @available(*, deprecated, message: "Files fail with ShallowsError. Its cause is a POSIXError.")
    public enum Error: Swift.Error {
        /// The file could not be written.
        case cantCreateFile
        /// The folder could not be made.
        case cantCreateDirectory(any Swift.Error)
    }
}

extension NSCacheStorage {
    /// The error of a key without a value.
    ///
    /// Unchecked because the key is protected by never being read or changed here: it is only
    /// handed on.
    @available(
        *,
        deprecated,
        message:
            "A missing value is MemoryStorageError.noValue, as that of every storage in memory."
    )
    public enum Error: Swift.Error, @unchecked Sendable {
        /// There is no value under the key.
        case noValue(Key)
    }
}

extension StorageProtocol {
    /// Single calls that involve a second storage.
    @available(
        *,
        deprecated,
        message: "Write 'backed(by:)' or 'pushing(to:)', which return a storage to keep."
    )
    public var dev: Storage<Key, Value>.Dev {
        Storage<Key, Value>.Dev(frontStorage: asStorage())
    }
}

extension AnyStorage where Access == StorageKind.ReadWrite {
    /// Single calls that involve a second storage. See ``StorageProtocol/dev``.
    @available(
        *,
        deprecated,
        message: "Write 'backed(by:)' or 'pushing(to:)', which return a storage to keep."
    )
    public struct Dev: Sendable {
        let frontStorage: Storage<Key, Value>

        /// Sets the value to this storage, and then to the other.
        @preconcurrency
        public func set<Back: WritableStorageProtocol>(
            _ value: Value,
            forKey key: Key,
            pushingTo backStorage: Back,
            completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
        ) where Back.Key == Key, Back.Value == Value {
            frontStorage.pushing(to: backStorage).set(value, forKey: key, completion: completion)
        }

        /// Retrieves the value from this storage, or from the other and sets it to this one.
        @preconcurrency
        public func retrieve<Back: ReadableStorageProtocol>(
            forKey key: Key,
            backedBy backStorage: Back,
            completion: @escaping @Sendable (ShallowsResult<Value>) -> Void
        ) where Back.Key == Key, Back.Value == Value {
            frontStorage.backed(by: backStorage).retrieve(forKey: key, completion: completion)
        }
    }
}
