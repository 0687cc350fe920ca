public import Foundation

/// An object that stands for a value: `NSString` for `String`, `NSURL` for `URL`, `NSIndexPath`, `NSData` and `NSDate`.
public protocol NonObjCConvertible {
    associatedtype Object: NSObject
    associatedtype NonObjC: Sendable

    static func nonObjC(_ object: Object) -> NonObjC
    static func object(_ value: NonObjC) -> Object
}

extension NSString: NonObjCConvertible {
    public static func nonObjC(_ object: NSString) -> String { String(describing: object) }
    public static func object(_ value: String) -> NSString { NSString(string: value) }
}

extension NSURL: NonObjCConvertible {
    public static func nonObjC(_ object: NSURL) -> URL { object as URL }
    public static func object(_ value: URL) -> NSURL { value as NSURL }
}

extension NSIndexPath: NonObjCConvertible {
    public static func nonObjC(_ object: NSIndexPath) -> IndexPath { object as IndexPath }
    public static func object(_ value: IndexPath) -> NSIndexPath { value as NSIndexPath }
}

extension NSData: NonObjCConvertible {
    public static func nonObjC(_ object: NSData) -> Data { object as Data }
    public static func object(_ value: Data) -> NSData { value as NSData }
}

extension NSDate: NonObjCConvertible {
    public static func nonObjC(_ object: NSDate) -> Date { object as Date }
    public static func object(_ value: Date) -> NSDate { value as NSDate }
}

/// An `NSCache` under keys, or of values, that are no objects: a storage, and once the others are converted too, a ``Storage``.
///
/// Keys and values are converted inside the call, so that no object goes from one thread to another that may not.
public struct ConvertedNSCache<Key, Value>: StorageProtocol, RemovableStorageProtocol {
    public let storageName = "nscache"
    fileprivate let get: @Sendable (Key) -> Value?
    fileprivate let put: @Sendable (Value, Key) -> Void
    fileprivate let drop: @Sendable (Key) -> Void
    fileprivate let dropAll: @Sendable () -> Void

    public func retrieve(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Value>) -> Void) {
        completion(get(key).map { .success($0) } ?? .failure(MemoryStorageError.noValue))
    }

    public func set(_ value: Value, forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        completion(.success(put(value, key)))
    }

    public func remove(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        completion(.success(drop(key)))
    }

    public func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        completion(.success(dropAll()))
    }
}

extension NSCacheStorage where Key: NonObjCConvertible, Key.Object == Key {
    /// The cache under keys that are no objects.
    public func toNonObjCKeys() -> ConvertedNSCache<Key.NonObjC, Value> {
        ConvertedNSCache(
            get: { self.cache.object(forKey: Key.object($0)) }, put: { self.cache.setObject($0, forKey: Key.object($1)) },
            drop: { self.cache.removeObject(forKey: Key.object($0)) }, dropAll: { self.cache.removeAllObjects() })
    }

    /// The same, where the values may go from one thread to another.
    @_disfavoredOverload
    public func toNonObjCKeys() -> Storage<Key.NonObjC, Value> where Value: Sendable { toNonObjCKeys().erased() }
}

extension NSCacheStorage where Value: NonObjCConvertible, Value.Object == Value {
    /// The cache of values that are no objects.
    public func toNonObjCValues() -> ConvertedNSCache<Key, Value.NonObjC> {
        ConvertedNSCache(
            get: { self.cache.object(forKey: $0).map(Value.nonObjC) }, put: { self.cache.setObject(Value.object($0), forKey: $1) },
            drop: { self.cache.removeObject(forKey: $0) }, dropAll: { self.cache.removeAllObjects() })
    }

    /// The same, where the keys may go from one thread to another.
    @_disfavoredOverload
    public func toNonObjCValues() -> Storage<Key, Value.NonObjC> where Key: Sendable { toNonObjCValues().erased() }
}

extension ConvertedNSCache where Key: NonObjCConvertible, Key.Object == Key, Value: Sendable {
    /// The storage under keys that are no objects, as its values are none.
    public func toNonObjCKeys() -> Storage<Key.NonObjC, Value> {
        ConvertedNSCache<Key.NonObjC, Value>(
            get: { get(Key.object($0)) }, put: { put($0, Key.object($1)) }, drop: { drop(Key.object($0)) }, dropAll: dropAll
        ).erased()
    }
}

extension ConvertedNSCache where Value: NonObjCConvertible, Value.Object == Value, Key: Sendable {
    /// The storage of values that are no objects, as its keys are none.
    public func toNonObjCValues() -> Storage<Key, Value.NonObjC> {
        ConvertedNSCache<Key, Value.NonObjC>(
            get: { get($0).map(Value.nonObjC) }, put: { put(Value.object($0), $1) }, drop: drop, dropAll: dropAll
        ).erased()
    }
}

extension ErasableStorage where ErasedKey: NonObjCConvertible, ErasedKey.Object == ErasedKey {
    /// The storage under keys that are no objects.
    public func toNonObjCKeys() -> AnyStorage<Access, ErasedKey.NonObjC, ErasedValue> { mapKeys { ErasedKey.object($0) } }
}

extension ErasableStorage where ErasedValue: NonObjCConvertible, ErasedValue.Object == ErasedValue {
    /// The storage of values that are no objects.
    public func toNonObjCValues() -> AnyStorage<Access, ErasedKey, ErasedValue.NonObjC> {
        mapping(in: { ErasedValue.nonObjC($0) }, out: { ErasedValue.object($0) })
    }
}
