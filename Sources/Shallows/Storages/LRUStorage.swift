public import Foundation
internal import Synchronization
public import VellumCore

/// Values in memory up to a limit, by count or by bytes: the least recently used are evicted for
/// new ones.
///
/// ```swift
/// let images = try LRUStorage<Filename, Image>(maxCount: 100)
/// let files = try LRUStorage<Filename, Data>(maxBytes: 10.megaByte)
/// let cached = images.combined(with: disk)
/// ```
///
/// Answers synchronously, on the caller's thread. Retrieving and setting make a value the most
/// recently used. A value that is larger than the limit is not stored and evicts no other; the old
/// value under its key is removed. That is not an error, because a layer behind this one may store
/// it.
///
/// When the system is short of memory, values are evicted (`MemoryPressure`):
/// ``trimsUnderMemoryPressure(toFraction:)`` says how many.
///
/// - Complexity: O(1) for every call; O(evicted) for calls that evict.
public final class LRUStorage<Key: Hashable & Sendable, Value: Sendable>: ForwardingStorageProtocol,
    RemovableStorageProtocol
{
    /// `lru-storage-` and the types of keys and values.
    public let storageName = LRUStorage.name
    /// How long a value is valid.
    public let expiration: Expiration
    @usableFromInline let contents: ReadMostly<Contents, UseStamps>
    @usableFromInline let clock: WallClock
    @usableFromInline let size: @Sendable (Value) -> Int
    /// The part of the values that stays when memory is short, as its bits; not a number if nobody
    /// said it.
    let keptFraction = Atomic(Double.nan.bitPattern)

    @usableFromInline typealias List = LRUList<Key, Value, Validity>
    /// Keys and values that leave: they are released outside the lock, because they may run code
    /// then.
    @usableFromInline typealias Gone = [(key: Key, value: Value)]

    @usableFromInline
    struct Contents: ~Copyable, Sendable {
        @usableFromInline var list = List()
        @usableFromInline var capacity: Capacity

        init(capacity: Capacity) { self.capacity = capacity }

        @inlinable
        borrowing func isValid(_ slot: Int32, at now: WallInstant) -> Bool {
            list[metadataOf: slot].contains(
                now,
                EntryKey(""),
                lastUse: list.stamp(of: slot)
            )
        }

        @inlinable var isOverCapacity: Bool {
            list.totalCost > min(capacity.bytes, LRUStorage.greatestSum)
                || list.count > capacity.entries
        }

        @inlinable
        mutating func remove(_ slot: Int32, _ gone: inout Gone) {
            if let (key, item) = list.remove(slot) {
                gone.append((key, item.payload))
            }
        }

        /// Evicts at most 64 values. Returns whether nothing is left to evict.
        mutating func evict(
            _ gone: inout Gone,
            _ pace: inout List.Pace,
            while isOver: (borrowing Contents) -> Bool
        ) -> Bool {
            pace.begin(list.count)
            for _ in 0..<64 {
                guard isOver(self), list.count > 0 else { return true }
                guard let slot = list.oldest(&pace) else { return false }
                remove(slot, &gone)
            }
            return false
        }

        @inlinable var usage: StorageUsage {
            StorageUsage(entries: list.count, bytes: list.totalCost)
        }
    }

    /// Creates a storage of at most `maxCount` values.
    ///
    /// - Throws: ``ShallowsError`` with the code `invalidLimit` if the limit is zero or below,
    ///   `invalidDuration` if the age is NaN.
    public convenience init(
        maxCount: Int,
        expiration: Expiration = .never,
        clock: WallClock = .system
    ) throws(ShallowsError) {
        self.init(
            capacity: try Self.capacity(.unlimited, entries: maxCount, expiration),
            expiration: expiration,
            clock: clock
        ) { _ in 0 }
    }

    /// Creates a storage of values whose sizes sum up to at most `maxBytes`.
    ///
    /// - Parameters:
    ///   - maxBytes: The limit.
    ///   - expiration: How long a value is valid.
    ///   - clock: The source of the time; replaceable for tests.
    ///   - size: Returns the size of a value in bytes. Called once for each that is set, outside
    ///     any lock. A negative size counts as zero.
    /// - Throws: ``ShallowsError`` with the code `invalidLimit` if the limit is zero or below,
    ///   `invalidDuration` if the age is NaN.
    @preconcurrency
    public convenience init(
        maxBytes: DataSize,
        expiration: Expiration = .never,
        clock: WallClock = .system,
        size: @escaping @Sendable (Value) -> Int
    ) throws(ShallowsError) {
        self.init(
            capacity: try Self.capacity(maxBytes, expiration),
            expiration: expiration,
            clock: clock,
            size: size
        )
    }

    /// Creates a storage with limits for bytes and values.
    @preconcurrency
    public init(
        capacity: Capacity,
        expiration: Expiration = .never,
        clock: WallClock = .system,
        size: @escaping @Sendable (Value) -> Int
    ) {
        contents = ReadMostly(Contents(capacity: capacity)) { UseStamps(number: $0, count: $1) }
        self.expiration = expiration
        self.clock = clock
        self.size = size
        MemoryHolders.shared.insert(self)
    }

    private static var name: String { "lru-storage-\(Key.self):\(Value.self)" }

    private static func capacity(
        _ size: DataSize,
        entries: Int? = nil,
        _ expiration: Expiration
    ) throws(ShallowsError) -> Capacity {
        do throws(VellumError) {
            try expiration.check()
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
            StorageOperations(
                retrieve: { key, _ in
                    guard let value = self.value(forKey: key) else {
                        return .failure(.missed(key, self.storageName))
                    }
                    return .success(value)
                },
                set: { value, key, _ in .success(self.insert(value, forKey: key)) },
                remove: { key, _ in .success(self.removeValue(forKey: key)) },
                removeAll: { _ in .success(self.removeValues()) },
                lockKey: { LockKey(of: self, $0) }
            )
        )
    }

    // Without the underlying storage, because making that allocates.

    /// Retrieves the value under the key, and calls `completion` synchronously.
    @preconcurrency
    @inlinable
    public func retrieve(
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Value>) -> Void
    ) {
        completion(
            value(forKey: key).map { .success($0) } ?? .failure(MemoryStorageError.noValue)
        )
    }

    /// Sets the value under the key, and calls `completion` synchronously.
    @preconcurrency
    @inlinable
    public func set(
        _ value: Value,
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        completion(.success(insert(value, forKey: key)))
    }

    // MARK: The list

    @inlinable
    func value(forKey key: Key) -> Value? {
        let now = clock.now()
        let hash = Self.hash(key)
        var isExpired = false
        let value = contents.read { contents, stamps -> Value? in
            guard let slot = contents.pointee.list.slot(of: key, hash: hash) else { return nil }
            guard contents.pointee.isValid(slot, at: now) else {
                isExpired = true
                return nil
            }
            _ = contents.pointee.list.use(slot, stamps.next(at: now), marksDirty: false)
            return contents.pointee.list.payload(slot) { copy $0 }
        }
        if isExpired { removeExpired(key, at: now) }
        return value
    }

    @usableFromInline
    func removeExpired(_ key: Key, at now: WallInstant) {
        let hash = Self.hash(key)
        changing { contents, _, gone in
            guard let slot = contents.list.slot(of: key, hash: hash),
                !contents.isValid(slot, at: now)
            else { return }
            contents.remove(slot, &gone)
        }
    }

    @inlinable
    func insert(_ value: Value, forKey key: Key) {
        let bytes = max(0, size(value))
        let now = clock.now()
        let hash = Self.hash(key)
        let validity = expiration.validity(of: EntryKey(String(describing: key)), written: now)
        // A key that is not equal to itself, such as NaN, would never be found again, and never be
        // evicted.
        guard key == key else { return }
        changing { contents, stamps, gone in
            guard bytes <= contents.capacity.bytes else {
                if let slot = contents.list.slot(of: key, hash: hash) {
                    contents.remove(slot, &gone)
                }
                return
            }
            let item = List.Item(
                payload: value,
                cost: min(bytes, Self.greatestSum),
                stamp: stamps.next(at: now),
                metadata: validity
            )
            if let old = contents.list.insert(item, forKey: key, hash: hash).old {
                gone.append((key, old.payload))
            }
        }
    }

    @inlinable
    func removeValue(forKey key: Key) {
        let hash = Self.hash(key)
        changing { contents, _, gone in
            if let slot = contents.list.slot(of: key, hash: hash) {
                contents.remove(slot, &gone)
            }
        }
    }

    @usableFromInline
    func removeValues() {
        changing { contents, _, gone in
            gone += contents.list.removeAll().map { ($0.key, $0.payload) }
        }
    }

    /// Eight terabytes: what a value or all values count at most, so that the sum does not
    /// overflow.
    @inlinable static var greatestSum: Int { .max >> 20 }

    @inlinable
    static func hash(_ key: Key) -> UInt64 { UInt64(truncatingIfNeeded: key.hashValue) }

    /// Changes the contents, and evicts what exceeds the limit then.
    @inlinable
    func changing(_ change: (inout Contents, AllNotes<UseStamps>, inout Gone) -> Void) {
        var gone: Gone = []
        let isOver = contents.write { contents, stamps in
            change(&contents, stamps, &gone)
            stamps.align()
            return contents.isOverCapacity
        }
        if isOver { evict(&gone) { $0.isOverCapacity } }
        withExtendedLifetime(gone) {}
    }

    /// Evicts a few values at a time, so that no reader waits for long.
    @usableFromInline
    func evict(_ gone: inout Gone, while isOver: (borrowing Contents) -> Bool) {
        var pace = List.Pace()
        while !contents.write(
            { contents, _ in contents.evict(&gone, &pace, while: isOver) }
        ) {}
    }

    fileprivate func trim(while isOver: (borrowing Contents) -> Bool) {
        var gone: Gone = []
        evict(&gone, while: isOver)
        withExtendedLifetime(gone) {}
    }
}

extension LRUStorage where Value == Data {
    /// Creates a storage of at most `maxBytes` bytes.
    ///
    /// - Throws: ``ShallowsError`` with the code `invalidLimit` if the limit is zero or below,
    ///   `invalidDuration` if the age is NaN.
    public convenience init(
        maxBytes: DataSize,
        expiration: Expiration = .never,
        clock: WallClock = .system
    ) throws(ShallowsError) {
        try self.init(maxBytes: maxBytes, expiration: expiration, clock: clock, size: \.count)
    }
}

extension LRUStorage {
    /// The number of values and the sum of their sizes, including expired values that were not
    /// retrieved since.
    public var totals: StorageUsage { contents.read { contents, _ in contents.pointee.usage } }

    /// The limits. Setting them evicts the least recently used values beyond them.
    public var capacity: Capacity {
        get { contents.read { contents, _ in contents.pointee.capacity } }
        set { changing { contents, _, _ in contents.capacity = newValue } }
    }

    /// Evicts the least recently used values until their sizes sum up to at most `size`.
    public func trim(toBytes size: DataSize) {
        trim { $0.list.totalCost > max(0, size.bytes) }
    }

    /// Evicts the least recently used values until at most `count` are left.
    public func trim(toCount count: Int) {
        trim { $0.list.count > max(0, count) }
    }
}
