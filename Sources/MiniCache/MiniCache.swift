internal import Foundation
public import VellumCore
public import VellumEngine

// Decision 9.

/// A persistent cache of `Codable` values with `Codable` keys.
///
/// ```swift
/// let manager = MiniCacheManager(name: "MiniCache")
/// let cache: MiniCache<String, Int> = manager.cache(
///     cacheName: "Counter", cacheVersion: .appVersion, maxAge: .days(7))
/// cache["foo"] = 1
/// let value = cache["foo"]
/// ```
///
/// The subscript never throws: it logs failures, sends them to ``failures``, and reads `nil`. The
/// throwing methods throw them. Values are held in memory and in a file. Both have a limit, beyond
/// which the least recently used values are evicted. A value that is older than the age of the
/// handle that reads it is not returned, except to a load that accepts stale values.
///
/// A cache works from any thread, whatever its types are: values are encoded and decoded on the
/// caller's thread. Memory keeps decoded values of `Sendable` types that are not classes; values of
/// other types are kept encoded, so that every reader gets its own.
///
/// Keys are compared by their normalized encoding: strings by canonical equivalence, like Swift's
/// `==`, and numbers by value, so that 1.0 is 1 and -0.0 is 0. A type whose equal values may be
/// encoded differently, such as a `Set`, cannot be a key or part of one, nor can a number that is
/// infinite or NaN.
///
/// - Note: Every method is synchronous and blocks for the disk for some microseconds, or for a sync
///   under ``Durability/powerSafe``. A task awaits them by ``async``, and blocks no thread that
///   runs tasks.
public final class MiniCache<Key: Codable, Value: Codable>: Sendable {
    @usableFromInline let core: CacheCore
    /// How long values without an age of their own are valid for this handle.
    @usableFromInline let expiration: Expiration
    let coding: ValueCoding<Value>
    /// Whether values are known to be `Sendable`.
    let isSendable: Bool
    /// Whether memory may keep decoded values.
    @usableFromInline let keepsDecoded: Bool
    private let opening: Opening
    /// The store, if it could be opened when the handle was made, for reading: counting a reference
    /// to a weakly held object would cost as much as the rest of a hit.
    @usableFromInline let ready: UnretainedStore<CachedValue>?
    /// Whether the manager of this handle was closed, or the file of ``ready`` has vanished.
    @usableFromInline let mark: ClosedMark
    /// Whether it was reported that the cache was opened with another version.
    private let hasReportedReplacement = Locked(false)

    /// How the making of a handle ended.
    enum Opening {
        case opened(StoreHold<CachedValue>)
        /// The next call tries again.
        case failed
        /// The limits of this handle are invalid: every call throws the error.
        case invalid(MiniCacheError)
    }

    init(_ core: CacheCore, _ opening: Opening, _ expiration: Expiration, isSendable: Bool) {
        self.core = core
        self.expiration = expiration
        self.isSendable = isSendable
        keepsDecoded = isSendable && !(Value.self is AnyObject.Type)
        coding = ValueCoding(core.format)
        self.opening = opening
        if case .opened(let hold) = opening {
            ready = UnretainedStore(hold.store)
            mark = hold.mark
        } else {
            ready = nil
            mark = .open
        }
    }

    // MARK: The subscript

    /// Accesses the value of a key.
    ///
    /// Reading returns `nil` if there is no valid value or it cannot be read. It makes the value
    /// the most recently used one, and does not write to the disk immediately. A value that cannot
    /// be decoded is reported once, until it is set again.
    ///
    /// Setting `nil` removes the value. If `Value` is itself optional, `cache["foo"] = .some(nil)`
    /// stores a `nil`, which reads as `.some(nil)`.
    @inlinable
    public subscript(key: Key) -> Value? {
        get {
            do throws(MiniCacheError) {
                return try find(entryKey(of: key))
            } catch {
                report(error, key, "subscript get")
                return nil
            }
        }
        set {
            do throws(MiniCacheError) {
                if let newValue {
                    try store(newValue, key, nil)
                } else {
                    try removeValue(forKey: key)
                }
            } catch {
                report(error, key, "subscript set")
            }
        }
    }

    /// Returns the value of a key, or another one if there is no valid value or it cannot be read.
    ///
    /// ```swift
    /// let visits = cache["visits", default: 0]
    /// ```
    ///
    /// Reads as `cache["visits"]` does, and sets nothing. It cannot be set, because
    /// `cache["visits", default: 0] += 1` would lose what others write between reading and writing:
    /// ``update(forKey:maxAge:_:)`` is atomic.
    @inlinable
    public subscript(key: Key, default value: @autoclosure () -> Value) -> Value {
        get { self[key] ?? value() }
        @available(
            *,
            unavailable,
            message:
                "Call update, which is atomic: try cache.update(forKey: key) { $0 = ($0 ?? 0) + 1 }"
        )
        set {}
    }

    // MARK: Throwing methods

    /// Returns the value of a key, or `nil` if there is no valid one.
    ///
    /// The value becomes the most recently used one.
    ///
    /// - Complexity: O(1) in memory, O(log n) on disk.
    /// - Throws: ``MiniCacheError`` if the key is invalid, the disk fails, or the stored value is
    ///   damaged or not a `Value`.
    @inlinable
    public func value(forKey key: Key) throws(MiniCacheError) -> Value? {
        try unlessReplaced(nil, find(entryKey(of: key)))
    }

    /// Sets the value of a key, replacing any existing value.
    ///
    /// The value becomes the most recently used one. When the call returns, the value is as durable
    /// as the manager's ``MiniCacheManager/durability`` says.
    ///
    /// - Parameters:
    ///   - value: The value. Encoded once, on this thread.
    ///   - key: The key.
    ///   - maxAge: How long the value is valid for every reader; `nil` leaves that to each reader.
    /// - Complexity: O(log n), and O(log n) for each value that is evicted.
    /// - Throws: ``MiniCacheError`` if the key is invalid, the value cannot be encoded or is larger
    ///   than every limit, or the disk fails. Then the old value stays.
    public func set(
        _ value: Value,
        forKey key: Key,
        maxAge: CacheMaxAge? = nil
    ) throws(MiniCacheError) {
        try store(value, key, maxAge?.expiration)
    }

    /// Sets the value of a key, replacing any existing value, with an age that counts from the last
    /// use, for example.
    ///
    /// ```swift
    /// try cache.set(
    ///     token, forKey: "token", expiration: .unused(for: .seconds(1800)))
    /// ```
    ///
    /// Everything else is as in ``set(_:forKey:maxAge:)``.
    public func set(_ value: Value, forKey key: Key, expiration: Expiration) throws(MiniCacheError)
    {
        try store(value, key, expiration)
    }

    /// Removes the value of a key.
    ///
    /// - Returns: Whether there was a value, valid or not.
    /// - Complexity: O(log n).
    /// - Throws: ``MiniCacheError`` if the key is invalid or the disk fails.
    @discardableResult
    public func removeValue(forKey key: Key) throws(MiniCacheError) -> Bool {
        let entryKey = try entryKey(of: key)
        defer { core.didWrite(entryKey) }
        return try withStore { store throws(VellumError) in try store.remove(entryKey) }
    }

    /// Returns whether there is a valid value for a key.
    ///
    /// Decodes nothing, and does not affect the eviction order.
    ///
    /// - Throws: ``MiniCacheError`` if the key is invalid or the disk fails.
    public func contains(_ key: Key) throws(MiniCacheError) -> Bool {
        try metadata(forKey: key) != nil
    }

    /// Returns the size and the dates of the value of a key, or `nil` if there is no valid one.
    ///
    /// Decodes nothing, and does not affect the eviction order.
    ///
    /// - Throws: ``MiniCacheError`` if the key is invalid or the disk fails.
    public func metadata(forKey key: Key) throws(MiniCacheError) -> EntryMetadata? {
        try metadata(of: entryKey(of: key))
    }

    func metadata(of entryKey: EntryKey) throws(MiniCacheError) -> EntryMetadata? {
        try unlessReplaced(
            nil,
            withStore { store throws(VellumError) in
                guard let metadata = try store.metadata(forKey: entryKey, under: expiration) else {
                    return nil
                }
                return try isTombstone(entryKey, bytes: metadata.size.bytes, in: store)
                    ? nil : metadata
            }
        )
    }

    /// Runs a read, which finds nothing once the cache was opened with another version.
    @inlinable
    func unlessReplaced<Result>(
        _ nothing: Result,
        _ read: @autoclosure () throws(MiniCacheError) -> Result
    ) throws(MiniCacheError) -> Result {
        do throws(MiniCacheError) {
            return try read()
        } catch {
            guard error.code == .cacheVersionChanged else { throw error }
            return nothing
        }
    }

    /// Returns whether an entry of this size is a remembered miss.
    func isTombstone(
        _ key: EntryKey,
        bytes: Int,
        in store: Store<CachedValue>
    ) throws(VellumError) -> Bool {
        guard bytes == EncodedForm.tombstone.bytes.count else { return false }
        do throws(VellumError) {
            return try store.peek(key)?.isTombstone ?? false
        } catch {
            // A damaged entry hides no other. The store has reported it.
            guard error.concernsOneEntry else { throw error }
            return false
        }
    }

    /// Runs `work` on a thread that may block, for callers that must not: several calls in one
    /// visit. One call is awaited by ``async``.
    ///
    /// ```swift
    /// try await cache.perform { try $0.set(page, forKey: url) }
    /// ```
    ///
    /// `work` runs to its end even if the caller's task is cancelled, with the task-local values of
    /// the caller. In generic code the types of the cache must be `Sendable`, or at least
    /// `SendableMetatype`.
    ///
    /// - Throws: The error of `work`.
    public func perform<Result: Sendable>(
        _ work: @escaping @Sendable (MiniCache<Key, Value>) throws -> Result
    ) async throws -> Result where Key: SendableMetatype, Value: SendableMetatype {
        try await lanes.visits.run { try work(self) }
    }

    // MARK: Reading

    /// Returns the valid value of a key, and sets `isDue` if the given part of its age is over.
    @inlinable
    func find(
        _ entryKey: EntryKey,
        refreshAhead part: Double? = nil,
        isDue: UnsafeMutablePointer<Bool>? = nil
    ) throws(MiniCacheError) -> Value? {
        let ahead = RefreshAhead(part, isDue: isDue)
        guard let ready, !mark.isClosed else { return try findAfterOpening(entryKey, ahead) }
        let cached: CachedValue
        do throws(VellumError) {
            guard let found = try ready.value(forKey: entryKey, under: expiration, ahead: ahead)
            else { return nil }
            cached = found
        } catch {
            guard error.code == .vanished else { throw error }
            return try findAfterOpening(entryKey, ahead)
        }
        return try value(of: cached, entryKey)
    }

    /// Returns the valid value of a key if memory has it, and sets `isDue` as
    /// ``find(_:refreshAhead:isDue:)`` does.
    @inlinable
    func findInMemory(
        _ entryKey: EntryKey,
        refreshAhead part: Double? = nil,
        isDue: UnsafeMutablePointer<Bool>? = nil
    ) throws(MiniCacheError) -> Value? {
        guard let ready, !mark.isClosed,
            let cached = try ready.valueInMemory(
                forKey: entryKey,
                under: expiration,
                ahead: RefreshAhead(part, isDue: isDue)
            )
        else {
            return nil
        }
        return try value(of: cached, entryKey)
    }

    @usableFromInline
    func findAfterOpening(
        _ entryKey: EntryKey,
        _ ahead: RefreshAhead?
    ) throws(MiniCacheError) -> Value? {
        let cached = try withStore { store throws(VellumError) in
            try store.value(forKey: entryKey, under: expiration, ahead: ahead)
        }
        return try cached.flatMap { cached throws(MiniCacheError) in
            try value(of: cached, entryKey)
        }
    }

    @inlinable
    func value(of cached: CachedValue, _ key: EntryKey) throws(MiniCacheError) -> Value? {
        if let decoded = cached.decoded(as: Value.self) { return decoded.value }
        return try decode(cached, key)
    }

    /// Decodes bytes, or a value of another handle's type.
    @usableFromInline
    func decode(_ cached: CachedValue, _ key: EntryKey) throws(MiniCacheError) -> Value? {
        if cached.isTombstone { return nil }
        let value: Value
        do {
            guard let decoded = try coding.decode(cached.form, of: key) else { return nil }
            value = decoded
        } catch let error as MiniCacheError where error.code == .newerVersion {
            throw error
        } catch {
            throw MiniCacheError(
                .notDecodable,
                """
                The stored value cannot be decoded as \(Value.self): \(codingReason(error)). If \
                the type has changed, conform it to VersionedArchive and migrate it, or use \
                another version of the cache, or set the value again.
                """,
                cause: error
            )
        }
        if keepsDecoded, cached.form is EncodedForm {
            try openStore().refine(
                key,
                to: CachedValue(DecodedForm(value, coding)),
                where: { $0.form === cached.form }
            )
        }
        return value
    }

    // MARK: Writing

    @usableFromInline
    func store(
        _ value: Value,
        _ key: Key,
        _ expiration: Expiration?,
        _ groups: Set<String> = []
    ) throws(MiniCacheError) {
        let entryKey = try entryKey(of: key)
        let groups = try core.groups(groups)
        do throws(MiniCacheError) {
            let cached = try cached(value)
            try withStore { store throws(VellumError) in
                try store.record(cached, forKey: entryKey, expiration: expiration, groups: groups)
            }
        } catch {
            throw error.code == .notEncodable ? notEncodable(error) : error
        }
        core.didStore(entryKey)
    }

    /// Returns the value as the store keeps it, decoded or encoded.
    func cached(_ value: Value) throws(MiniCacheError) -> CachedValue {
        do {
            return CachedValue(
                keepsDecoded ? DecodedForm(value, coding) : try coding.encoded(value)
            )
        } catch {
            throw notEncodable(error)
        }
    }

    func notEncodable(_ error: any Error) -> MiniCacheError {
        // A refused subclass is said already.
        if let error = error as? VellumError, error.cause == nil { return core.located(error) }
        let cause = (error as? VellumError)?.cause ?? error
        return core.located(
            MiniCacheError(
                .notEncodable,
                """
                A value of type \(Value.self) cannot be encoded: \(codingReason(cause)). The old \
                value is still there.
                """,
                cause: cause
            )
        )
    }

    // MARK: The store

    /// Returns the engine's key of a key.
    @inlinable
    func entryKey(of key: Key) throws(MiniCacheError) -> EntryKey {
        do throws(MiniCacheError) {
            return try CacheKey.of(key)
        } catch {
            throw core.located(error)
        }
    }

    /// Whether the limits of this handle are valid.
    var isValid: Bool { if case .invalid = opening { false } else { true } }

    /// The store, if it is open.
    var openedStore: Store<CachedValue>? {
        if case .opened(let hold) = opening, !mark.isClosed, !hold.store.isClosed {
            hold.store
        } else {
            nil
        }
    }

    /// Where calls are carried out that are awaited.
    var lanes: FileLanes { openedStore?.lanes ?? core.lanes }

    /// Returns the store, opened if that failed before, or if its file has vanished.
    @usableFromInline
    func openStore() throws(MiniCacheError) -> Store<CachedValue> {
        if let openedStore { return openedStore }
        if case .invalid(let error) = opening { throw error }
        return try core.locatingErrors { () throws(VellumError) in
            try core.hold(for: expiration, keyedBy: Key.self).store
        }
    }

    /// Runs `body` with the store, and once more with a new one if the file was deleted, replaced
    /// or renamed while it was open.
    @usableFromInline
    func withStore<Result>(
        _ body: (Store<CachedValue>) throws(VellumError) -> Result
    ) throws(MiniCacheError) -> Result {
        let store = try openStore()
        return try core.locatingErrors { () throws(VellumError) in
            do throws(VellumError) {
                return try body(store)
            } catch {
                guard error.code == .vanished else { throw error }
                return try body(try openStore())
            }
        }
    }

    // MARK: Failures

    /// The failures from now on that no caller receives: those of the subscript, and those in the
    /// background.
    ///
    /// It has every failure. The log has one line when a file can no longer be used, and one with
    /// the number of failed calls when it is opened or written again; of other failures with one
    /// code, it has the 1st, 10th, 100th and so on.
    ///
    /// If the file was set aside while it was opened, the first observer learns of it.
    public var failures: some AsyncSequence<MiniCacheError, Never> & Sendable { core.stream() }

    @usableFromInline
    func report(_ error: MiniCacheError, _ key: Key, _ operation: StaticString) {
        guard error.concernsOneEntry || error.isOfDecoding else { return report(error, operation) }
        do throws(MiniCacheError) {
            report(error, try entryKey(of: key), operation)
        } catch {
            report(error, operation)
        }
    }

    /// Reports a failure of one entry once, until its value is set again.
    func report(_ error: MiniCacheError, _ entryKey: EntryKey, _ operation: StaticString) {
        if core.shouldReport(entryKey, Value.self) { report(error, operation) }
    }

    func report(_ error: MiniCacheError, _ operation: StaticString) {
        // Once for each handle.
        if error.code == .cacheVersionChanged,
            hasReportedReplacement.withLock({ exchange(&$0, with: true) })
        {
            return
        }
        core.log(error, operation, Value.self)
        core.failures.send(error)
    }
}

extension MiniCache where Key: SendableMetatype, Value: SendableMetatype {
    /// The methods of this cache to be awaited, which block no thread that runs tasks.
    ///
    /// ```swift
    /// try await cache.async.set(page, forKey: url)
    /// ```
    ///
    /// In generic code the types of the cache must be `Sendable`, or at least `SendableMetatype`.
    public var async: AsyncMiniCache<Key, Value> { AsyncMiniCache(cache: self) }
}
