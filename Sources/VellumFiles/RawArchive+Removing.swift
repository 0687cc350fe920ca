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
    ///   archive open: close it first, or remove them there; with ``VellumError/Code/readOnly`` if
    ///   the file was opened for reading. Nothing is removed then.
    @discardableResult
    public func remove(keys: [String]) throws(VellumError) -> Int {
        try changing { store throws(VellumError) in
            var transaction = StoreTransaction()
            for key in keys { transaction.remove(EntryKey(key), in: store) }
            return try transaction.commit().count { $0 }
        }
    }

    /// Runs `body` with the archive open for writing, with the limit and the index that it has.
    func changing<Result>(
        _ body: (Store<CBORValue>) throws(VellumError) -> Result
    ) throws(VellumError) -> Result {
        try Self.refuseOpen(name, in: file)
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

extension RawArchive {
    /// - Throws: ``VellumError/Code/contradiction`` if this program has the archive open with its
    ///   type, whose memory would not know of writes without it.
    static func refuseOpen(_ name: String, in file: DatabaseFile) throws(VellumError) {
        guard let type = file.valueType(ofOpenArchive: name), type != CBORValue.self else { return }
        throw VellumError(
            .contradiction,
            "The archive is open in this program. Close it first, or change it by its type."
        )
        .located(archive: Log.displayed(name), path: file.path)
    }
}

extension RawArchive.Summary {
    /// The limit, for whoever opens the archive and gives none.
    var capacity: Capacity {
        limit.map { Capacity(bytes: $0.bytes, entries: .max) } ?? .unlimited
    }
}
