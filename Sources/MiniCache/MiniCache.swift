internal import Foundation
public import Tiers

/// A persistent cache of `Codable` values under `Codable` keys.
///
/// ```swift
/// let manager = MiniCacheManager(name: "MiniCache")
/// let cache: MiniCache<String, Int> = manager.cache(cacheName: "Counter", cacheVersion: .appVersion, maxAge: .days(7))
/// cache["foo"] = 1
/// let value = cache["foo"]
/// ```
///
/// The subscript never throws: what fails is logged, told to ``failures``, and reads as nil. The throwing verbs tell
/// what happened. There is no third way. Values lie in memory over a file, both bounded, the least recently used leaving first;
/// one that is past the age of the handle that reads it is never returned.
///
/// Works from any thread, whatever its types: values are encoded and decoded on the thread of the caller. A
/// `Sendable` value that is no object is remembered as it is; any other as data, so that whoever reads it gets one of their own.
///
/// Two keys are one when their canonical JSON is the same: names in order, strings in normal form, -0.0 as 0 and 1.0 as 1. A type
/// whose equal values may be encoded differently, such as a `Set`, makes no key, nor does a number that is infinite or none.
///
/// - Note: Every verb is synchronous and blocks for the disk for some microseconds, or for a sync of it under
///   ``Durability/powerSafe``.
public final class MiniCache<Key: Codable, Value: Codable>: Sendable {
    @usableFromInline let core: CacheCore
    /// For how long this handle takes values that have no age of their own.
    @usableFromInline let expiration: Expiration
    /// Whether memory may keep values decoded.
    @usableFromInline let keepsValues: Bool
    /// The engine, if it could be opened when the handle was made.
    private let engineIfReady: TieredStore<CachedValue>?
    /// The same, for reading: counting a reference to what others hold weakly costs as much as the rest of a hit.
    @usableFromInline let ready: UncountedStore<CachedValue>?
    /// Whether the manager of this handle was closed.
    @usableFromInline let mark: ClosedMark
    /// What makes this handle of no use, if anything: an age or a limit that makes no sense.
    private let trouble: MiniCacheError?

    init(_ core: CacheCore, _ expiration: Expiration, _ trouble: MiniCacheError?, keepsValues: Bool) {
        self.core = core
        self.expiration = expiration
        self.trouble = trouble
        self.keepsValues = keepsValues
        engineIfReady = trouble == nil ? core.opened : nil
        ready = engineIfReady.map { UncountedStore($0) }
        mark = core.mark ?? .open
    }

    // MARK: The subscript

    /// The value under the key; nil if there is none, it is past its age, or it cannot be read. Setting nil removes it.
    ///
    /// Reading is a use, in memory and for the disk, and writes nothing. A value that cannot be decoded is told of once, until
    /// it is set anew. Where `Value` is itself an optional, `cache["foo"] = .some(nil)` sets a nil, which reads as `.some(nil)` and not
    /// as the `nil` of a value that is missing.
    @inlinable
    public subscript(key: Key) -> Value? {
        get {
            do throws(MiniCacheError) {
                return try find(key)
            } catch {
                report(error, key, "subscript get")
                return nil
            }
        }
        set {
            do throws(MiniCacheError) {
                if let newValue {
                    try put(newValue, key, nil)
                } else {
                    try removeValue(forKey: key)
                }
            } catch {
                report(error, key, "subscript set")
            }
        }
    }

    // MARK: Verbs that throw

    /// The value under the key, or nil if there is none or it is past its age. A use of it.
    ///
    /// - Complexity: O(1) from memory, O(log n) from disk.
    /// - Throws: ``MiniCacheError`` if the key is none, the disk fails, or what is stored is damaged or no `Value`.
    @inlinable
    public func value(forKey key: Key) throws(MiniCacheError) -> Value? {
        try find(key)
    }

    /// Sets the value under the key, whatever is there. A use of it.
    ///
    /// - Parameters:
    ///   - value: Encoded once, on this thread.
    ///   - key: Any key that is always encoded alike.
    ///   - maxAge: How long it is valid, whoever reads; nil leaves that to each reader.
    /// - Complexity: O(log n), and O(log n) for each value that must leave.
    /// - Throws: ``MiniCacheError`` if the key is none, the value cannot be encoded or is larger than every limit, or the disk
    ///   fails. Then the old value stays.
    public func set(_ value: Value, forKey key: Key, maxAge: CacheMaxAge? = nil) throws(MiniCacheError) {
        try put(value, key, maxAge)
    }

    /// Removes what is under the key.
    ///
    /// - Returns: Whether something was there, valid or not.
    /// - Complexity: O(log n).
    @discardableResult
    public func removeValue(forKey key: Key) throws(MiniCacheError) -> Bool {
        let entryKey = try CacheKey.of(key)
        let store = try engine()
        defer { core.didWrite(entryKey) }
        return try strictly { () throws(StoreError) in try store.remove(entryKey) }
    }

    /// Whether there is a valid value under the key. Not a use, and decodes nothing.
    public func contains(_ key: Key) throws(MiniCacheError) -> Bool {
        try metadata(forKey: key) != nil
    }

    /// Size and dates of the value under the key. Not a use, and decodes nothing.
    public func metadata(forKey key: Key) throws(MiniCacheError) -> EntryMetadata? {
        let entryKey = try CacheKey.of(key)
        let store = try engine()
        return try strictly { () throws(StoreError) in
            guard let metadata = try store.metadata(forKey: entryKey, under: expiration) else { return nil }
            return try isNothing(entryKey, bytes: metadata.size.bytes, store) ? nil : metadata
        }
    }

    /// Whether what is there is a miss that was remembered, which is no value.
    func isNothing(_ key: EntryKey, bytes: Int, _ store: TieredStore<CachedValue>) throws(StoreError) -> Bool {
        guard bytes == NothingBox.bytes.count else { return false }
        return try store.peek(key)?.box is NothingBox
    }

    // MARK: Steps

    @inlinable
    func find(_ key: Key) throws(MiniCacheError) -> Value? {
        guard let ready else { return try findLate(key) }
        let entryKey = try CacheKey.of(key)
        let cached: CachedValue
        do throws(StoreError) {
            guard !mark.isClosed else { throw .closed }
            guard let found = try ready.find(entryKey, under: expiration) else { return nil }
            cached = found
        } catch {
            throw MiniCacheError(error)
        }
        if let box = cached.typed(as: Value.self) { return box.value }
        return try decoded(cached, entryKey)
    }

    /// The same, where the engine could not be opened before.
    @usableFromInline
    func findLate(_ key: Key) throws(MiniCacheError) -> Value? {
        let store = try engine()
        let entryKey = try CacheKey.of(key)
        guard let cached = try strictly({ () throws(StoreError) in try store.find(entryKey, under: expiration) }) else { return nil }
        if let box = cached.typed(as: Value.self) { return box.value }
        return try decoded(cached, entryKey)
    }

    /// What is not there as a `Value` yet: bytes, or a value of another handle's type.
    @usableFromInline
    func decoded(_ cached: CachedValue, _ key: EntryKey) throws(MiniCacheError) -> Value? {
        if cached.box is NothingBox { return nil }
        let value: Value
        do {
            value = try ValueCoding.decode(Value.self, from: try cached.box.encoded())
        } catch {
            throw MiniCacheError(
                .notDecodable,
                """
                What is stored cannot be decoded as \(Value.self). The type may have changed: set the value anew, or ask for the cache \
                with another version.
                """, cause: error)
        }
        if keepsValues, cached.box is BytesBox {
            try engine().refine(key, to: CachedValue(TypedBox(value, core.format)), where: { $0.box === cached.box })
        }
        return value
    }

    @usableFromInline
    func put(_ value: Value, _ key: Key, _ maxAge: CacheMaxAge?) throws(MiniCacheError) {
        let entryKey = try CacheKey.of(key)
        let store = try engine()
        do {
            let box = keepsValues ? TypedBox(value, core.format) : BytesBox(try ValueCoding.encode(value, as: core.format))
            try store.record(CachedValue(box), forKey: entryKey, expiration: maxAge?.expiration)
        } catch let error as StoreError where error.code != .notEncodable {
            throw MiniCacheError(error)
        } catch {
            let cause = (error as? StoreError)?.cause ?? error
            throw MiniCacheError(
                .notEncodable, "A value of type \(Value.self) cannot be encoded. The old value is still there.", cause: cause)
        }
        core.didWrite(entryKey)
    }

    /// Whether nothing is wrong with the handle itself.
    var isSound: Bool { trouble == nil }

    @usableFromInline
    func engine() throws(MiniCacheError) -> TieredStore<CachedValue> {
        if let engineIfReady {
            if mark.isClosed { throw MiniCacheError(.closed) }
            return engineIfReady
        }
        if let trouble { throw trouble }
        return try strictly { () throws(StoreError) in try core.store(claiming: expiration) }
    }

    func strictly<Result>(_ body: () throws(StoreError) -> Result) throws(MiniCacheError) -> Result {
        do throws(StoreError) {
            return try body()
        } catch {
            throw MiniCacheError(error)
        }
    }

    // MARK: Failures

    /// What fails from now on where no caller can be told: in the subscript, and behind the callers' backs. A file that was set
    /// aside while it was opened is told to the first who asks.
    public var failures: some AsyncSequence<MiniCacheError, Never> & Sendable { core.stream() }

    @usableFromInline
    func report(_ error: MiniCacheError, _ key: Key, _ verb: StaticString) {
        if error.concernsOneEntry {
            do throws(MiniCacheError) {
                guard core.shouldTell(of: try CacheKey.of(key), Value.self) else { return }
            } catch {
                // It led to an entry a moment ago; what it led to is told of.
            }
        }
        report(error, verb)
    }

    func report(_ error: MiniCacheError, _ verb: StaticString) {
        Report.failure(error, verb: verb, Value.self)
        core.failures.send(error)
    }
}

extension MiniCacheError {
    /// Whether the failure is that of one entry and says nothing of the others.
    var concernsOneEntry: Bool { code == .damagedEntry || code == .notDecodable }
}
