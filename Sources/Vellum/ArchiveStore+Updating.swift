public import VellumCore
public import VellumEngine

// Changing an object that may be there.

extension ArchiveStore {
    /// Lets a closure change the object with the key, or make it, or delete it: atomically among
    /// all threads and processes.
    ///
    /// The closure may run several times, each time with what is there then: when another thread or
    /// process wrote the object while it ran. An object that memory has is not read from the disk;
    /// then a write of another object may make it run a second time.
    ///
    /// ```swift
    /// let visits = try counters.update(archiveWithKey: "home") { counter in
    ///     counter = Counter(id: "home", count: (counter?.count ?? 0) + 1)
    ///     return counter?.count
    /// }
    /// ```
    ///
    /// Runs the closure on the caller's thread, without a lock: other calls go on meanwhile.
    /// Callers in this process that update the same key take turns. Blocks for the disk, and is as
    /// durable as ``record(_:expiration:)``. Archivable properties are recorded with the object.
    /// The object becomes the most recently used. An object whose content did not change is not
    /// written, nor are its archivable properties: sets and dictionaries may be encoded in another
    /// order.
    ///
    /// - Parameters:
    ///   - key: The key of the object.
    ///   - expiration: How long the object is valid from now on. `nil`: as long as before, or for
    ///     the ``expiration`` of this handle if there was none.
    ///   - body: Gets the object; `nil` if there is none, or it has expired. The object at its end
    ///     is recorded; `nil` deletes the one it got. It must not write the same object by other
    ///     calls. If it throws, nothing is changed.
    /// - Returns: What the closure returned when it ran last.
    /// - Complexity: O(log n) each time.
    /// - Throws: The error of the closure, or ``VellumError``: with the code
    ///   ``VellumError/Code/busy`` if others wrote the object 64 times in a row before this call
    ///   did, ``VellumError/Code/recursiveUpdate`` if the closure writes the object itself,
    ///   ``VellumError/Code/otherKey`` if the object it leaves has another key, or if the object
    ///   that is there cannot be decoded or is of a newer version, or the disk fails. Nothing is
    ///   changed, but if only the sync of ``Durability/powerSafe`` failed: then the result was
    ///   recorded, with the guarantees of ``Durability/crashSafe``.
    @discardableResult
    @inlinable
    public func update<Result>(
        archiveWithKey key: String,
        expiration: Expiration? = nil,
        _ body: (inout Archive?) throws -> Result
    ) throws -> Result {
        try update(EntryKey(key), AgeOfUpdated(expiration, ofNew: self.expiration), body)
    }

    /// Records an object unless there is a valid one with its key, which then stays: atomically
    /// among all threads and processes.
    ///
    /// ```swift
    /// guard try sessions.recordIfAbsent(session) else { throw Duplicate() }
    /// ```
    ///
    /// Blocks for the disk, and is as durable as ``record(_:expiration:)``. The object with the key
    /// becomes the most recently used.
    ///
    /// - Parameters:
    ///   - object: Encoded only if it is recorded.
    ///   - expiration: How long the object is valid. `nil`: the ``expiration`` of this handle.
    /// - Returns: Whether the object was recorded.
    /// - Complexity: O(log n).
    /// - Throws: ``VellumError`` as ``update(archiveWithKey:expiration:_:)``: an object that cannot
    ///   be decoded counts as one that is there.
    @discardableResult
    @inlinable
    public func recordIfAbsent(_ object: Archive, expiration: Expiration? = nil) throws -> Bool {
        try update(
            EntryKey(object.primaryKey),
            AgeOfUpdated(nil, ofNew: expiration ?? self.expiration)
        ) { present in
            if present != nil { return false }
            present = object
            return true
        }
    }

    /// Reads and writes archives of this one's ``factory`` in one transaction, as
    /// ``ArchivesFactory/transaction(_:)`` does.
    ///
    /// ```swift
    /// try accounts.transaction { transaction in
    ///     try transaction.record(ann, in: accounts)
    ///     try transaction.record(order, in: orders)
    /// }
    /// ```
    ///
    /// Runs the closure on the caller's thread, without a lock, then blocks for the disk; again if
    /// others write meanwhile what it read.
    ///
    /// - Throws: ``VellumError`` as ``ArchivesFactory/transaction(_:)``, and the error of `body`;
    ///   then nothing is changed.
    @discardableResult
    public func transaction<Result>(
        _ body: (inout ArchiveTransaction) throws -> Result
    ) throws -> Result {
        try factory.transaction(body)
    }

    @inlinable
    func update<Result>(
        _ key: EntryKey,
        _ age: AgeOfUpdated,
        _ body: (inout Archive?) throws -> Result
    ) throws -> Result {
        var ofClosure: (any Error)?
        do {
            guard !mark.isClosed else { throw VellumError.closed }
            return try store.update(key, age, adding: add(propertiesOf:to:)) { object in
                let result: Result
                do {
                    result = try body(&object)
                } catch {
                    ofClosure = error
                    throw error
                }
                guard !mark.isClosed else { throw VellumError.closed }
                if let object, EntryKey(object.primaryKey) != key {
                    throw VellumError.updatedToOtherKey
                }
                return result
            }
        } catch let error as VellumError where ofClosure == nil {
            throw store.located(error)
        }
    }

    @inlinable
    func add(
        propertiesOf object: Archive,
        to transaction: inout StoreTransaction
    ) throws(VellumError) {
        try nestedArchives.add(propertiesOf: object, to: &transaction, factory)
    }
}

extension VellumError {
    @usableFromInline
    static let updatedToOtherKey = VellumError(
        .otherKey,
        """
        The closure of an update left an object with another key. Leave one with the same \
        'primaryKey', or 'nil' to delete it.
        """
    )
}
