public import Foundation

/// An `NSCache` as a storage: objects in memory, which the system may evict.
///
/// ```swift
/// let images = NSCacheStorage<NSURL, NSData>().toNonObjCKeys().toNonObjCValues()   // Storage<URL, Data>
/// ```
///
/// Answers synchronously, on the caller's thread. Objects that are not `Sendable`, such as `NSString` and `NSData` on Linux, must be
/// converted before the storage is composed: the conversion happens inside the call.
///
/// - Important: The object that is retrieved is the one that was set: do not change it. The compiler does not report such data races for
///   objects that are not `Sendable`, neither in ``cache`` nor in the calls with completions.
public final class NSCacheStorage<Key: NSObject, Value: AnyObject>: Sendable {
    /// `nscache`.
    public let storageName = "nscache"
    /// The cache itself, for its limits and for direct use.
    public nonisolated(unsafe) let cache: NSCache<Key, Value>  // Safe because `NSCache` has its own lock.

    /// Creates a storage over a cache.
    public init(storage: NSCache<Key, Value> = NSCache()) {
        cache = storage
    }
}

extension NSCacheStorage: StorageProtocol, RemovableStorageProtocol {
    /// Retrieves the object under the key, and calls `completion` synchronously.
    @preconcurrency
    public func retrieve(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Value>) -> Void) {
        completion(cache.object(forKey: key).map { .success($0) } ?? .failure(MemoryStorageError.noValue))
    }

    /// Sets the object under the key, and calls `completion` synchronously.
    @preconcurrency
    public func set(_ value: Value, forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        cache.setObject(value, forKey: key)
        completion(.success(()))
    }

    /// Removes the object under the key, if there is one, and calls `completion` synchronously.
    @preconcurrency
    public func remove(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
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
