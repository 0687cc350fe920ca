internal import CBORCoding
public import VellumCore
internal import VellumEngine

extension RawArchive {
    /// Removes entries, in one transaction. Blocks for the disk; survives `kill -9` once it has
    /// returned.
    ///
    /// - Returns: How many there were.
    /// - Complexity: O(keys × log n).
    /// - Throws: ``VellumError``, with ``VellumError/Code/contradiction`` if this program has the
    ///   archive open: remove them there; with ``VellumError/Code/readOnly`` if the file was opened
    ///   for reading. Nothing is removed then.
    @discardableResult
    public func remove(keys: [String]) throws(VellumError) -> Int {
        try changing { (store) throws(VellumError) in
            var transaction = StoreTransaction()
            for key in keys { transaction.remove(EntryKey(key), in: store) }
            return try transaction.commit().count { $0 }
        }
    }

    /// Runs `body` with the archive open for writing, with the limit and the index that it has.
    func changing<Result>(
        _ body: (Store<CBORValue>) throws(VellumError) -> Result
    ) throws(VellumError) -> Result {
        var options = StoreOptions<CBORValue>()
        // A default limit never gets less: another one would stay.
        options.defaults.disk = try summary().capacity
        let hold = try StoreHold<CBORValue>.open { [options] () throws(VellumError) in
            try file.hold(named: name, codec: RawCodec(), options)
        }
        let result = try body(hold.store)
        try hold.close()
        return result
    }
}

extension RawArchive.Summary {
    /// The limit, for whoever opens the archive and gives none.
    var capacity: Capacity {
        limit.map { Capacity(bytes: $0.bytes, entries: .max) } ?? .unlimited
    }
}
