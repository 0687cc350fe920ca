public import Foundation
public import VellumCore

/// Values in memory up to a limit, by count or by bytes: the least recently used leave for new ones.
///
/// ```swift
/// let images = try LRUStorage<Filename, Image>(maxCount: 100)
/// let files = try LRUStorage<Filename, Data>(maxBytes: 10.megaByte)
/// let cached = images.combined(with: disk)
/// ```
///
/// Answers at once, on the caller's thread. Retrieving and setting are uses. A value that is larger than the limit is not kept,
/// evicts nothing, and takes the place of no other: what was under its key is forgotten, because it is old. That is no error, for
/// a layer behind this one may keep it.
///
/// On Apple platforms `trimsUnderMemoryPressure(toFraction:)` lets go of values when the system asks for memory; elsewhere call
/// ``trim(toBytes:)`` or ``removeAll()`` when you know better.
///
/// - Complexity: O(1) for every verb, but for those that evict: O(evicted).
public final class LRUStorage<Key: Hashable & Sendable, Value: Sendable>: StorageProtocol, RemovableStorageProtocol {
    public let storageName = LRUStorage.name
    /// For how long values are kept.
    public let expiration: Expiration
    @usableFromInline let shelf: Locked<State>
    @usableFromInline let clock: WallClock
    @usableFromInline let size: @Sendable (Value) -> Int

    @usableFromInline
    struct State: Sendable {
        @usableFromInline var list = LRUList<Key, Value>()
        @usableFromInline var lastStamp = UseStamp.never
        @usableFromInline var capacity: Capacity

        @inlinable
        mutating func nextStamp(at now: WallInstant) -> UseStamp {
            lastStamp = UseStamp(after: lastStamp, at: now)
            return lastStamp
        }
    }

    /// A storage of at most so many values.
    ///
    /// - Throws: ``ShallowsError`` with the code `invalidLimit` if the limit holds nothing.
    public convenience init(maxCount: Int, expiration: Expiration = .never, clock: WallClock = .system) throws(ShallowsError) {
        self.init(capacity: try Self.capacity(DataSize(bytes: .max), entries: maxCount), expiration: expiration, clock: clock) { _ in 0 }
    }

    /// A storage of at most so many bytes.
    ///
    /// - Parameters:
    ///   - maxBytes: The sum of what the values count for.
    ///   - expiration: For how long values are kept.
    ///   - clock: Where the time comes from; for tests.
    ///   - size: How many bytes a value counts for. Called once for each that is set, outside any lock; negative is zero.
    /// - Throws: ``ShallowsError`` with the code `invalidLimit` if the limit holds nothing.
    @preconcurrency
    public convenience init(
        maxBytes: DataSize, expiration: Expiration = .never, clock: WallClock = .system, size: @escaping @Sendable (Value) -> Int
    ) throws(ShallowsError) {
        self.init(capacity: try Self.capacity(maxBytes), expiration: expiration, clock: clock, size: size)
    }

    /// A storage of at most so many bytes and values.
    @preconcurrency
    public init(
        capacity: Capacity, expiration: Expiration = .never, clock: WallClock = .system, size: @escaping @Sendable (Value) -> Int
    ) {
        shelf = Locked(State(capacity: capacity))
        self.expiration = expiration
        self.clock = clock
        self.size = size
    }

    private static var name: String { "lru-storage-\(Key.self):\(Value.self)" }

    private static func capacity(_ size: DataSize, entries: Int? = nil) throws(ShallowsError) -> Capacity {
        do throws(StoreError) {
            return try Capacity(size, entries: entries)
        } catch {
            throw ShallowsError(error.code, error.message, layer: name, cause: error)
        }
    }

    // MARK: The storage

    @inlinable
    public func erased() -> Storage<Key, Value> { AnyStorage(storageName, verbs) }

    public func asReadOnlyStorage() -> ReadOnlyStorage<Key, Value> { AnyStorage(storageName, verbs) }
    public func asWriteOnlyStorage() -> WriteOnlyStorage<Key, Value> { AnyStorage(storageName, verbs) }
    public func asRemovableStorage() -> RemovableStorage<Key, Value> { AnyStorage(storageName, verbs) }

    @inlinable var verbs: StorageVerbs<Key, Value> {
        .answeringAtOnce(
            self, missed: { .missed($0, self.storageName) }, retrieve: { self.value(forKey: $0) }, set: { self.insert($0, forKey: $1) },
            remove: { self.removeValue(forKey: $0) }, removeAll: { self.removeValues() })
    }

    @preconcurrency
    public func retrieve(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Value>) -> Void) {
        completion(value(forKey: key).map { .success($0) } ?? .failure(MemoryStorageError.noValue))
    }

    @preconcurrency
    public func set(_ value: Value, forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        completion(.success(insert(value, forKey: key)))
    }

    @preconcurrency
    public func remove(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        completion(.success(removeValue(forKey: key)))
    }

    @preconcurrency
    public func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        completion(.success(removeValues()))
    }

    // MARK: The list. What leaves it is released outside the lock: values may have code that runs when they go.

    @inlinable
    func value(forKey key: Key) -> Value? {
        let now = clock.now()
        let (value, expired) = shelf.withLock { shelf -> (Value?, Value?) in
            let value = shelf.list.use(key, stamp: shelf.nextStamp(at: now)) { $0.contains(now, EntryKey(""), lastUse: $1) }
            return value.map { ($0, nil) } ?? (nil, shelf.list.remove(key)?.payload)
        }
        withExtendedLifetime(expired) {}
        return value
    }

    @inlinable
    func insert(_ value: Value, forKey key: Key) {
        let (cost, now) = (max(0, size(value)), clock.now())
        let validity = expiration.validity(of: EntryKey(String(describing: key)), written: now)
        let gone = shelf.withLock { shelf -> (Value?, [Value]) in
            let old = shelf.list.remove(key)?.payload
            // A key that is not equal to itself, such as a number that is none, would never be found again, nor leave.
            guard cost <= shelf.capacity.bytes, key == key else { return (old, []) }
            // Before the new one comes, so that no sum is too large to be one.
            let evicted = shelf.evict { $0.list.bytes > $0.capacity.bytes - cost || $0.list.count >= $0.capacity.entries }
            let item = LRUList<Key, Value>.Item(
                payload: value, cost: cost, stamp: shelf.nextStamp(at: now), row: 0, validity: validity, isDirty: false)
            _ = shelf.list.insert(item, forKey: key)
            return (old, evicted)
        }
        withExtendedLifetime(gone) {}
    }

    @inlinable
    func removeValue(forKey key: Key) {
        let gone = shelf.withLock { $0.list.remove(key)?.payload }
        withExtendedLifetime(gone) {}
    }

    @usableFromInline
    func removeValues() {
        let gone = shelf.withLock { $0.list.removeAll() }
        withExtendedLifetime(gone) {}
    }
}

extension LRUStorage where Value == Data {
    /// A storage of at most so many bytes.
    ///
    /// - Throws: ``ShallowsError`` with the code `invalidLimit` if the limit holds nothing.
    public convenience init(maxBytes: DataSize, expiration: Expiration = .never, clock: WallClock = .system) throws(ShallowsError) {
        try self.init(maxBytes: maxBytes, expiration: expiration, clock: clock, size: \.count)
    }
}

extension LRUStorage {
    /// What it holds, expired values that no one asked for since included.
    public var totals: StorageUsage { shelf.withLock { StorageUsage(entries: $0.list.count, bytes: $0.list.bytes) } }

    /// What it may hold. Setting it evicts what is over it.
    public var capacity: Capacity {
        get { shelf.withLock { $0.capacity } }
        set {
            let gone = shelf.withLock { shelf in
                shelf.capacity = newValue
                return shelf.keepLimits()
            }
            withExtendedLifetime(gone) {}
        }
    }

    /// Evicts the least recently used until at most so many bytes are held.
    public func trim(toBytes size: DataSize) {
        let gone = shelf.withLock { shelf in shelf.evict { $0.list.bytes > max(0, size.bytes) } }
        withExtendedLifetime(gone) {}
    }

    /// Evicts the least recently used until at most so many values are held.
    public func trim(toCount count: Int) {
        let gone = shelf.withLock { shelf in shelf.evict { $0.list.count > max(0, count) } }
        withExtendedLifetime(gone) {}
    }
}

extension LRUStorage.State {
    @inlinable
    mutating func keepLimits() -> [Value] {
        evict { $0.capacity.isExceeded(byBytes: $0.list.bytes, entries: $0.list.count) }
    }

    @inlinable
    mutating func evict(while isOver: (Self) -> Bool) -> [Value] {
        var evicted: [Value] = []
        while isOver(self), let oldest = list.oldestKey, let item = list.remove(oldest) { evicted.append(item.payload) }
        return evicted
    }
}
