public import Foundation
public import VellumCore

/// Values in memory up to a limit, by count or by bytes: the least recently used are evicted for new ones.
///
/// ```swift
/// let images = try LRUStorage<Filename, Image>(maxCount: 100)
/// let files = try LRUStorage<Filename, Data>(maxBytes: 10.megaByte)
/// let cached = images.combined(with: disk)
/// ```
///
/// Answers synchronously, on the caller's thread. Retrieving and setting make a value the most recently used. A value that is larger than
/// the limit is not stored and evicts no other; the old value under its key is removed. That is not an error, because a layer behind this
/// one may store it.
///
/// On Apple platforms `trimsUnderMemoryPressure(toFraction:)` evicts values when the system asks for memory; elsewhere call
/// ``trim(toBytes:)`` or ``removeAll()``.
///
/// - Complexity: O(1) for every call; O(evicted) for calls that evict.
public final class LRUStorage<Key: Hashable & Sendable, Value: Sendable>: ForwardingStorageProtocol, RemovableStorageProtocol {
    /// `lru-storage-` and the types of keys and values.
    public let storageName = LRUStorage.name
    /// How long a value is valid.
    public let expiration: Expiration
    @usableFromInline let parts: Parts<Part>
    @usableFromInline let limit: Locked<Capacity>
    @usableFromInline let clock: WallClock
    @usableFromInline let size: @Sendable (Value) -> Int

    /// The values whose keys have some of the hashes.
    @usableFromInline
    struct Part: CachePart {
        @usableFromInline var list = LRUList<Key, Value, Validity>()

        @inlinable
        init() {}

        @inlinable var usage: StorageUsage { StorageUsage(entries: list.count, bytes: list.totalCost) }

        @inlinable
        mutating func oldestUse() -> UseStamp? { list.oldest()?.stamp }

        @inlinable
        func isValid(_ slot: Int32, at now: WallInstant) -> Bool {
            list[metadataOf: slot].contains(now, EntryKey(""), lastUse: list.stamp(of: slot))
        }
    }

    /// Creates a storage of at most `maxCount` values.
    ///
    /// - Throws: ``ShallowsError`` with the code `invalidLimit` if the limit is zero or below.
    public convenience init(maxCount: Int, expiration: Expiration = .never, clock: WallClock = .system) throws(ShallowsError) {
        self.init(capacity: try Self.capacity(DataSize(bytes: .max), entries: maxCount), expiration: expiration, clock: clock) { _ in 0 }
    }

    /// Creates a storage of values whose sizes sum up to at most `maxBytes`.
    ///
    /// - Parameters:
    ///   - maxBytes: The limit.
    ///   - expiration: How long a value is valid.
    ///   - clock: The source of the time; replaceable for tests.
    ///   - size: Returns the size of a value in bytes. Called once for each that is set, outside any lock. A negative size counts as zero.
    /// - Throws: ``ShallowsError`` with the code `invalidLimit` if the limit is zero or below.
    @preconcurrency
    public convenience init(
        maxBytes: DataSize, expiration: Expiration = .never, clock: WallClock = .system, size: @escaping @Sendable (Value) -> Int
    ) throws(ShallowsError) {
        self.init(capacity: try Self.capacity(maxBytes), expiration: expiration, clock: clock, size: size)
    }

    /// Creates a storage with limits for bytes and values.
    @preconcurrency
    public init(
        capacity: Capacity, expiration: Expiration = .never, clock: WallClock = .system, size: @escaping @Sendable (Value) -> Int
    ) {
        parts = Parts { Part() }
        limit = Locked(capacity)
        self.expiration = expiration
        self.clock = clock
        self.size = size
    }

    private static var name: String { "lru-storage-\(Key.self):\(Value.self)" }

    private static func capacity(_ size: DataSize, entries: Int? = nil) throws(ShallowsError) -> Capacity {
        do throws(VellumError) {
            return try Capacity(size, entries: entries)
        } catch {
            throw ShallowsError(error.code, error.message, layer: name, cause: error)
        }
    }

    // MARK: The storage

    /// The storage as transforms and compositions use it.
    @inlinable
    public var underlyingStorage: RemovableStorage<Key, Value> {
        AnyStorage(
            storageName,
            .synchronous(
                self, missed: { .missed($0, self.storageName) }, retrieve: { self.value(forKey: $0) },
                set: { self.insert($0, forKey: $1) }, remove: { self.removeValue(forKey: $0) }, removeAll: { self.removeValues() }))
    }

    // Without the underlying storage, because making that allocates.

    /// Retrieves the value under the key, and calls `completion` synchronously.
    @preconcurrency
    @inlinable
    public func retrieve(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Value>) -> Void) {
        completion(value(forKey: key).map { .success($0) } ?? .failure(MemoryStorageError.noValue))
    }

    /// Sets the value under the key, and calls `completion` synchronously.
    @preconcurrency
    @inlinable
    public func set(_ value: Value, forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        completion(.success(insert(value, forKey: key)))
    }

    // MARK: The list. Values are released outside the lock, because they may run code then.

    @inlinable
    func value(forKey key: Key) -> Value? {
        let now = clock.now()
        let (value, isExpired) = parts.withLock(index(of: key)) { part -> (Value?, Bool) in
            guard let slot = part.list.slot(of: key) else { return (nil, false) }
            guard part.isValid(slot, at: now) else { return (nil, true) }
            part.list.use(slot, parts.clock.stamp(at: now))
            return (part.list.payload(slot), false)
        }
        if isExpired { removeExpired(key, at: now) }
        return value
    }

    @usableFromInline
    func removeExpired(_ key: Key, at now: WallInstant) {
        let gone = parts.update(index(of: key)) { part -> Value? in
            guard let slot = part.list.slot(of: key), !part.isValid(slot, at: now) else { return nil }
            return part.list.remove(key)?.payload
        }
        withExtendedLifetime(gone) {}
    }

    @inlinable
    func insert(_ value: Value, forKey key: Key) {
        let (bytes, now) = (max(0, size(value)), clock.now())
        let validity = expiration.validity(of: EntryKey(String(describing: key)), written: now)
        let capacity = capacity
        // A key that is not equal to itself, such as NaN, would never be found again, and never be evicted.
        guard bytes <= capacity.bytes, key == key else { return removeValue(forKey: key) }
        let cost = min(bytes, Self.greatestSum)
        let old = parts.update(index(of: key)) { part in
            let stamp = parts.clock.stamp(at: now)
            return part.list.insert(.init(payload: value, cost: cost, stamp: stamp, metadata: validity), forKey: key).old?.payload
        }
        withExtendedLifetime(old) {}
        evict(beyond: capacity)
    }

    @inlinable
    func removeValue(forKey key: Key) {
        let gone = parts.update(index(of: key)) { $0.list.remove(key)?.payload }
        withExtendedLifetime(gone) {}
    }

    @usableFromInline
    func removeValues() {
        var gone: [Value] = []
        parts.updateAll { gone += $0.list.removeAll() }
        withExtendedLifetime(gone) {}
    }

    @inlinable
    func index(of key: Key) -> Int { parts.index(ofHash: UInt64(truncatingIfNeeded: key.hashValue)) }

    /// Eight terabytes: what a value or all values count at most, so that the sum does not overflow.
    @inlinable static var greatestSum: Int { .max >> 20 }

    @inlinable
    func evict(beyond capacity: Capacity) {
        let bytes = min(capacity.bytes, Self.greatestSum)
        evict { $0.bytes > bytes || $0.entries > capacity.entries }
    }

    @inlinable
    func evict(while isOver: (StorageUsage) -> Bool) {
        var gone: [Value] = []
        parts.evict {
            isOver(parts.usage)
        } _: { part in
            if let key = part.list.oldest()?.key, let item = part.list.remove(key) { gone.append(item.payload) }
        }
        withExtendedLifetime(gone) {}
    }
}

extension LRUStorage where Value == Data {
    /// Creates a storage of at most `maxBytes` bytes.
    ///
    /// - Throws: ``ShallowsError`` with the code `invalidLimit` if the limit is zero or below.
    public convenience init(maxBytes: DataSize, expiration: Expiration = .never, clock: WallClock = .system) throws(ShallowsError) {
        try self.init(maxBytes: maxBytes, expiration: expiration, clock: clock, size: \.count)
    }
}

extension LRUStorage {
    /// The number of values and the sum of their sizes, including expired values that were not retrieved since.
    public var totals: StorageUsage { parts.usage }

    /// The limits. Setting them evicts the least recently used values beyond them.
    public var capacity: Capacity {
        @inlinable get { limit.withLock { $0 } }
        set {
            limit.withLock { $0 = newValue }
            evict(beyond: newValue)
        }
    }

    /// Evicts the least recently used values until their sizes sum up to at most `size`.
    public func trim(toBytes size: DataSize) { evict { $0.bytes > max(0, size.bytes) } }

    /// Evicts the least recently used values until at most `count` are left.
    public func trim(toCount count: Int) { evict { $0.entries > max(0, count) } }
}
