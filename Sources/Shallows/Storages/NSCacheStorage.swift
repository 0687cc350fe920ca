public import Foundation

/// An `NSCache` as a storage: objects in memory, which the system may evict.
///
/// ```swift
/// // Storage<URL, Data>
/// let images = NSCacheStorage<NSURL, NSData>()
///     .toNonObjCKeys().toNonObjCValues()
/// ```
///
/// Answers synchronously, on the caller's thread. Objects that are not `Sendable`, such as
/// `NSString` and `NSData` on Linux, must be converted before the storage is composed: the
/// conversion happens inside the call.
///
/// - Important: The object that is retrieved is the one that was set: do not change it. The
///   compiler does not report such data races for objects that are not `Sendable`, neither in
///   ``cache`` nor in the calls with completions.
public final class NSCacheStorage<Key: NSObject, Value: AnyObject>: Sendable {
    /// `nscache`.
    public let storageName = "nscache"
    // Safe because `NSCache` has its own lock.
    /// The cache itself, for its limits and for direct use.
    public nonisolated(unsafe) let cache: NSCache<Key, Value>

    /// Creates a storage over a cache.
    public init(storage: NSCache<Key, Value> = NSCache()) {
        cache = storage
    }
}

extension NSCacheStorage: StorageProtocol, RemovableStorageProtocol {
    /// Retrieves the object under the key, and calls `completion` synchronously.
    @preconcurrency
    public func retrieve(
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Value>) -> Void
    ) {
        completion(
            cache.object(forKey: key).map { .success($0) } ?? .failure(MemoryStorageError.noValue)
        )
    }

    /// Sets the object under the key, and calls `completion` synchronously.
    @preconcurrency
    public func set(
        _ value: Value,
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        cache.setObject(value, forKey: key)
        completion(.success(()))
    }

    /// Removes the object under the key, if there is one, and calls `completion` synchronously.
    @preconcurrency
    public func remove(
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        cache.removeObject(forKey: key)
        completion(.success(()))
    }

    /// Removes every object, and calls `completion` synchronously.
    @preconcurrency
    public func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        cache.removeAllObjects()
        completion(.success(()))
    }
}

/// An object that stands for a value: `NSString` for `String`, `NSURL` for `URL`, `NSIndexPath`,
/// `NSData` and `NSDate`.
public protocol NonObjCConvertible {
    /// The type itself.
    associatedtype Object: NSObject
    /// The value type that it stands for.
    associatedtype NonObjC: Sendable

    /// Returns the value of an object.
    static func nonObjC(_ object: Object) -> NonObjC
    /// Returns an object with a value.
    static func object(_ value: NonObjC) -> Object
}

extension NSString: NonObjCConvertible {
    /// Returns the value of the string.
    public static func nonObjC(_ object: NSString) -> String { String(describing: object) }
    /// Returns an object with the value.
    public static func object(_ value: String) -> NSString { NSString(string: value) }
}

extension NSURL: NonObjCConvertible {
    /// Returns the value of the URL.
    public static func nonObjC(_ object: NSURL) -> URL { object as URL }
    /// Returns an object with the value.
    public static func object(_ value: URL) -> NSURL { value as NSURL }
}

extension NSIndexPath: NonObjCConvertible {
    /// Returns the value of the index path.
    public static func nonObjC(_ object: NSIndexPath) -> IndexPath { object as IndexPath }
    /// Returns an object with the value.
    public static func object(_ value: IndexPath) -> NSIndexPath { value as NSIndexPath }
}

extension NSData: NonObjCConvertible {
    /// Returns the value of the data.
    public static func nonObjC(_ object: NSData) -> Data { object as Data }
    /// Returns an object with the value.
    public static func object(_ value: Data) -> NSData { value as NSData }
}

extension NSDate: NonObjCConvertible {
    /// Returns the value of the date.
    public static func nonObjC(_ object: NSDate) -> Date { object as Date }
    /// Returns an object with the value.
    public static func object(_ value: Date) -> NSDate { value as NSDate }
}

/// An `NSCache` whose keys or values are converted to Swift types: a storage, and a ``Storage``
/// once both are converted.
///
/// Keys and values are converted inside the call, so that no object crosses threads that is not
/// `Sendable`.
public struct ConvertedNSCache<Key, Value>: StorageProtocol, RemovableStorageProtocol {
    /// `nscache`.
    public let storageName = "nscache"
    fileprivate let get: @Sendable (Key) -> Value?
    fileprivate let put: @Sendable (Value, Key) -> Void
    fileprivate let drop: @Sendable (Key) -> Void
    fileprivate let dropAll: @Sendable () -> Void

    /// Retrieves the value under the key, and calls `completion` synchronously.
    public func retrieve(
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Value>) -> Void
    ) {
        completion(get(key).map { .success($0) } ?? .failure(MemoryStorageError.noValue))
    }

    /// Sets the value under the key, and calls `completion` synchronously.
    public func set(
        _ value: Value,
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        completion(.success(put(value, key)))
    }

    /// Removes the value under the key, if there is one, and calls `completion` synchronously.
    public func remove(
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        completion(.success(drop(key)))
    }

    /// Removes every value, and calls `completion` synchronously.
    public func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        completion(.success(dropAll()))
    }
}

extension NSCacheStorage where Key: NonObjCConvertible, Key.Object == Key {
    /// The cache with Swift types as keys.
    public func toNonObjCKeys() -> ConvertedNSCache<Key.NonObjC, Value> {
        ConvertedNSCache(
            get: { self.cache.object(forKey: Key.object($0)) },
            put: { self.cache.setObject($0, forKey: Key.object($1)) },
            drop: { self.cache.removeObject(forKey: Key.object($0)) },
            dropAll: { self.cache.removeAllObjects() }
        )
    }

    /// The cache with Swift types as keys, as a ``Storage``: its values are `Sendable`.
    @_disfavoredOverload
    public func toNonObjCKeys() -> Storage<Key.NonObjC, Value> where Value: Sendable {
        toNonObjCKeys().erased()
    }
}

extension NSCacheStorage where Value: NonObjCConvertible, Value.Object == Value {
    /// The cache with Swift types as values.
    public func toNonObjCValues() -> ConvertedNSCache<Key, Value.NonObjC> {
        ConvertedNSCache(
            get: { self.cache.object(forKey: $0).map(Value.nonObjC) },
            put: { self.cache.setObject(Value.object($0), forKey: $1) },
            drop: { self.cache.removeObject(forKey: $0) },
            dropAll: { self.cache.removeAllObjects() }
        )
    }

    /// The cache with Swift types as values, as a ``Storage``: its keys are `Sendable`.
    @_disfavoredOverload
    public func toNonObjCValues() -> Storage<Key, Value.NonObjC> where Key: Sendable {
        toNonObjCValues().erased()
    }
}

extension ConvertedNSCache where Key: NonObjCConvertible, Key.Object == Key, Value: Sendable {
    /// Converts the keys to Swift types; the values are Swift types already.
    public func toNonObjCKeys() -> Storage<Key.NonObjC, Value> {
        ConvertedNSCache<Key.NonObjC, Value>(
            get: { get(Key.object($0)) },
            put: { put($0, Key.object($1)) },
            drop: { drop(Key.object($0)) },
            dropAll: dropAll
        ).erased()
    }
}

extension ConvertedNSCache where Value: NonObjCConvertible, Value.Object == Value, Key: Sendable {
    /// Converts the values to Swift types; the keys are Swift types already.
    public func toNonObjCValues() -> Storage<Key, Value.NonObjC> {
        ConvertedNSCache<Key, Value.NonObjC>(
            get: { get($0).map(Value.nonObjC) },
            put: { put(Value.object($0), $1) },
            drop: drop,
            dropAll: dropAll
        ).erased()
    }
}

extension ErasableStorage where ErasedKey: NonObjCConvertible, ErasedKey.Object == ErasedKey {
    /// The storage with Swift types as keys.
    public func toNonObjCKeys() -> AnyStorage<Access, ErasedKey.NonObjC, ErasedValue> {
        mapKeys { ErasedKey.object($0) }
    }
}

extension ErasableStorage where ErasedValue: NonObjCConvertible, ErasedValue.Object == ErasedValue {
    /// The storage with Swift types as values.
    public func toNonObjCValues() -> AnyStorage<Access, ErasedKey, ErasedValue.NonObjC> {
        mapping(in: { ErasedValue.nonObjC($0) }, out: { ErasedValue.object($0) })
    }
}
