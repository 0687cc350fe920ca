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
    @usableFromInline let state: Locked<State>
    @usableFromInline let clock: WallClock
    @usableFromInline let size: @Sendable (Value) -> Int

    /// When a value is valid, and when it was last used.
    @usableFromInline
    struct Use: Sendable {
        @usableFromInline var validity: Validity
        @usableFromInline var stamp: UseStamp

        @inlinable
        init(validity: Validity, stamp: UseStamp) {
            (self.validity, self.stamp) = (validity, stamp)
        }
    }

    @usableFromInline
    struct State: Sendable {
        @usableFromInline var list = LRUList<Key, Value, Use>()
        @usableFromInline var lastStamp = UseStamp.never
        @usableFromInline var capacity: Capacity

        /// Returns the value under the key and moves it to the front, unless it has expired.
        @inlinable
        mutating func use(_ key: Key, at now: WallInstant) -> Value? {
            let stamp = nextStamp(at: now)
            guard let slot = list.slot(of: key) else { return nil }
            let use = list[metadataOf: slot]
            guard use.validity.contains(now, EntryKey(""), lastUse: use.stamp) else { return nil }
            list.moveToFront(slot)
            list[metadataOf: slot].stamp = stamp
            return list.payload(slot)
        }

        @inlinable
        mutating func nextStamp(at now: WallInstant) -> UseStamp {
            lastStamp = UseStamp(after: lastStamp, at: now)
            return lastStamp
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
        state = Locked(State(capacity: capacity))
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
    public func retrieve(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Value>) -> Void) {
        completion(value(forKey: key).map { .success($0) } ?? .failure(MemoryStorageError.noValue))
    }

    /// Sets the value under the key, and calls `completion` synchronously.
    @preconcurrency
    public func set(_ value: Value, forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        completion(.success(insert(value, forKey: key)))
    }

    // MARK: The list. Values are released outside the lock, because they may run code then.

    @inlinable
    func value(forKey key: Key) -> Value? {
        let now = clock.now()
        let (value, expired) = state.withLock { state -> (Value?, Value?) in
            let value = state.use(key, at: now)
            return value.map { ($0, nil) } ?? (nil, state.list.remove(key)?.payload)
        }
        withExtendedLifetime(expired) {}
        return value
    }

    @inlinable
    func insert(_ value: Value, forKey key: Key) {
        let (cost, now) = (max(0, size(value)), clock.now())
        let validity = expiration.validity(of: EntryKey(String(describing: key)), written: now)
        let gone = state.withLock { state -> (Value?, [Value]) in
            let old = state.list.remove(key)?.payload
            // A key that is not equal to itself, such as NaN, would never be found again, and never be evicted.
            guard cost <= state.capacity.bytes, key == key else { return (old, []) }
            // Before the new value is inserted, so that the sum does not overflow.
            let evicted = state.evict { $0.list.totalCost > $0.capacity.bytes - cost || $0.list.count >= $0.capacity.entries }
            let item = LRUList<Key, Value, Use>.Item(
                payload: value, cost: cost, metadata: Use(validity: validity, stamp: state.nextStamp(at: now)))
            _ = state.list.insert(item, forKey: key)
            return (old, evicted)
        }
        withExtendedLifetime(gone) {}
    }

    @inlinable
    func removeValue(forKey key: Key) {
        let gone = state.withLock { $0.list.remove(key)?.payload }
        withExtendedLifetime(gone) {}
    }

    @usableFromInline
    func removeValues() {
        let gone = state.withLock { $0.list.removeAll() }
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
    public var totals: StorageUsage { state.withLock { StorageUsage(entries: $0.list.count, bytes: $0.list.totalCost) } }

    /// The limits. Setting them evicts the least recently used values beyond them.
    public var capacity: Capacity {
        get { state.withLock { $0.capacity } }
        set {
            let gone = state.withLock { state in
                state.capacity = newValue
                return state.keepLimits()
            }
            withExtendedLifetime(gone) {}
        }
    }

    /// Evicts the least recently used values until their sizes sum up to at most `size`.
    public func trim(toBytes size: DataSize) {
        let gone = state.withLock { state in state.evict { $0.list.totalCost > max(0, size.bytes) } }
        withExtendedLifetime(gone) {}
    }

    /// Evicts the least recently used values until at most `count` are left.
    public func trim(toCount count: Int) {
        let gone = state.withLock { state in state.evict { $0.list.count > max(0, count) } }
        withExtendedLifetime(gone) {}
    }
}

extension LRUStorage.State {
    @inlinable
    mutating func keepLimits() -> [Value] {
        evict { $0.capacity.isExceeded(byBytes: $0.list.totalCost, entries: $0.list.count) }
    }

    @inlinable
    mutating func evict(while isOver: (Self) -> Bool) -> [Value] {
        var evicted: [Value] = []
        while isOver(self), let oldest = list.oldestKey, let item = list.remove(oldest) { evicted.append(item.payload) }
        return evicted
    }
}
