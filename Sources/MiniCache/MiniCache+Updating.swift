public import VellumCore
internal import VellumEngine

// Changing a value that may be there.

extension MiniCache {
    /// Lets a closure change the value of a key, or make it, or remove it: atomically among all
    /// threads and processes.
    ///
    /// The closure may run several times, each time with what is there then: when another thread or
    /// process wrote the value while it ran. A value that memory has is not read from the disk;
    /// then a write of another value may make it run a second time.
    ///
    /// ```swift
    /// try cache.update(forKey: "visits") { visits in
    ///     visits = (visits ?? 0) + 1
    /// }
    /// ```
    ///
    /// Runs the closure on the caller's thread, without a lock: other calls go on meanwhile.
    /// Callers in this process that update the same key take turns. Blocks for the disk, and is as
    /// durable as ``set(_:forKey:maxAge:)``. The value becomes the most recently used one. A value
    /// whose content did not change, in whatever order its sets and dictionaries are encoded, is
    /// not written.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - maxAge: How long the value is valid for every reader from now on. `nil`: as long as
    ///     before, also where each reader has an age; a new value leaves it to each reader.
    ///   - body: Gets the value; `nil` if there is none that is valid for this handle. The value at
    ///     its end is set; `nil` removes the one it got. It must not write the same key by other
    ///     calls. If it throws, nothing is changed.
    /// - Returns: What the closure returned when it ran last.
    /// - Complexity: O(log n) each time.
    /// - Throws: The error of the closure, or ``MiniCacheError``: with the code
    ///   ``VellumError/Code/busy`` if others wrote the key 64 times in a row before this call did,
    ///   ``VellumError/Code/recursiveUpdate`` if the closure writes it itself, or if the value that
    ///   is there cannot be decoded or is of a newer version, or the disk fails. Nothing is
    ///   changed, but if only the sync of ``Durability/powerSafe`` failed: then the result was set,
    ///   with the guarantees of ``Durability/crashSafe``.
    @discardableResult
    public func update<Result>(
        forKey key: Key,
        maxAge: CacheMaxAge? = nil,
        _ body: (inout Value?) throws -> Result
    ) throws -> Result {
        try update(try entryKey(of: key), AgeOfUpdated(maxAge?.expiration, ofNew: nil), body)
    }

    /// Lets a closure change the value of a key, with an age that counts from the last use, for
    /// example.
    ///
    /// Everything else is as in ``update(forKey:maxAge:_:)``.
    @discardableResult
    public func update<Result>(
        forKey key: Key,
        expiration: Expiration,
        _ body: (inout Value?) throws -> Result
    ) throws -> Result {
        try update(try entryKey(of: key), AgeOfUpdated(expiration, ofNew: nil), body)
    }

    /// Sets the value of a key unless there is a valid one, which then stays: atomically among all
    /// threads and processes.
    ///
    /// Blocks for the disk, and is as durable as ``set(_:forKey:maxAge:)``. The value of the key
    /// becomes the most recently used one.
    ///
    /// - Parameters:
    ///   - value: The value. Encoded only if it is set.
    ///   - key: The key.
    ///   - maxAge: How long the value is valid for every reader; `nil` leaves that to each reader.
    /// - Returns: Whether the value was set.
    /// - Complexity: O(log n).
    /// - Throws: ``MiniCacheError`` as ``update(forKey:maxAge:_:)``: a value that cannot be decoded
    ///   counts as one that is there.
    @discardableResult
    public func setIfAbsent(
        _ value: Value,
        forKey key: Key,
        maxAge: CacheMaxAge? = nil
    ) throws(MiniCacheError) -> Bool {
        try setIfAbsent(value, entryKey(of: key), maxAge?.expiration)
    }

    /// Sets the value of a key unless there is a valid one, with an age that counts from the last
    /// use, for example.
    ///
    /// Everything else is as in ``setIfAbsent(_:forKey:maxAge:)``.
    @discardableResult
    public func setIfAbsent(
        _ value: Value,
        forKey key: Key,
        expiration: Expiration
    ) throws(MiniCacheError) -> Bool {
        try setIfAbsent(value, entryKey(of: key), expiration)
    }

    func setIfAbsent(
        _ value: Value,
        _ entryKey: EntryKey,
        _ expiration: Expiration?
    ) throws(MiniCacheError) -> Bool {
        do {
            return try update(entryKey, AgeOfUpdated(nil, ofNew: expiration)) { present in
                if present != nil { return false }
                present = value
                return true
            }
        } catch let error as MiniCacheError {
            throw error
        } catch {
            preconditionFailure(
                "The closure does not throw, and everything else throws a MiniCacheError: \(error)"
            )
        }
    }

    func update<Result>(
        _ key: EntryKey,
        _ age: AgeOfUpdated,
        _ body: (inout Value?) throws -> Result
    ) throws -> Result {
        // An error of the closure, which may come from another cache, is passed on as it is.
        var ofClosure: (any Error)?
        let body = { (value: inout Value?) throws -> Result in
            do {
                return try body(&value)
            } catch {
                ofClosure = error
                throw error
            }
        }
        do {
            let result: Result
            do {
                result = try update(key, age, in: try openStore(), body)
            } catch let error as MiniCacheError where error.code == .vanished && ofClosure == nil {
                result = try update(key, age, in: try openStore(), body)
            }
            core.didStore(key)
            return result
        } catch let error as MiniCacheError where ofClosure == nil {
            throw core.located(error.code == .notEncodable ? notEncodable(error) : error)
        }
    }

    private func update<Result>(
        _ key: EntryKey,
        _ age: AgeOfUpdated,
        in store: Store<CachedValue>,
        _ body: (inout Value?) throws -> Result
    ) throws -> Result {
        // A remembered miss is no value, nor is one that its migration drops.
        var isNone = false
        return try store.update(key, under: expiration, age, isNone: { _ in isNone }) { cached in
            var value = try cached.flatMap { cached throws(MiniCacheError) in
                try self.value(of: cached, key)
            }
            isNone = value == nil
            let result = try body(&value)
            cached = try value.map { value throws(MiniCacheError) in try self.cached(value) }
            return result
        }
    }
}
