public import Foundation

/// An `NSCache` as a storage: objects in memory, which the system may let go of.
///
/// ```swift
/// let images = NSCacheStorage<NSURL, NSData>().toNonObjCKeys().toNonObjCValues()   // Storage<URL, Data>
/// ```
///
/// Answers at once, on the caller's thread. Objects that may not go from one thread to another, as `NSString` and `NSData` may not
/// on Linux, have to be converted before the storage is composed: the conversion happens inside the call.
///
/// - Important: What is set and what is retrieved is one object: do not change it afterwards. Of objects that are not `Sendable` the
///   compiler does not say where that would be a race, in ``cache`` and in the verbs with completions.
public final class NSCacheStorage<Key: NSObject, Value: AnyObject>: Sendable {
    public let storageName = "nscache"
    /// The cache, for its limits, and to use it by itself.
    public nonisolated(unsafe) let cache: NSCache<Key, Value>  // Safe because `NSCache` is: it has a lock of its own.

    public init(storage: NSCache<Key, Value> = NSCache()) {
        cache = storage
    }
}

extension NSCacheStorage: StorageProtocol, RemovableStorageProtocol {
    @preconcurrency
    public func retrieve(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Value>) -> Void) {
        completion(cache.object(forKey: key).map { .success($0) } ?? .failure(MemoryStorageError.noValue))
    }

    @preconcurrency
    public func set(_ value: Value, forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        cache.setObject(value, forKey: key)
        completion(.success(()))
    }

    @preconcurrency
    public func remove(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        cache.removeObject(forKey: key)
        completion(.success(()))
    }

    @preconcurrency
    public func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        cache.removeAllObjects()
        completion(.success(()))
    }
}
