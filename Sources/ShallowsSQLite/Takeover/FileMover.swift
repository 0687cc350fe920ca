internal import Foundation
internal import Shallows
internal import VellumCore
internal import VellumEngine

/// Moves files into a store, so many at a time. Blocks its thread.
struct FileMover<Value: Sendable> {
    let files: MovableFiles
    let decode: @Sendable (Data) throws -> Value
    let store: Store<Value>
    let expiration: Expiration?
    /// The name of the storage, for errors.
    let layer: String

    /// A transaction takes so many, or so many bytes.
    private static var mostFiles: Int { 256 }
    private static var mostBytes: Int { 1 << 20 }

    private struct Movable {
        var key: Filename
        var value: Value
        /// Whether the store had a value under the key before.
        var wasThere: Bool
    }

    /// What is moved in one transaction.
    private struct Batch {
        var entries: [Movable] = []
        var transaction = StoreTransaction()
        var bytes = 0

        var isFull: Bool { entries.count >= mostFiles || bytes >= mostBytes }
    }

    /// - Parameter isCancelled: Asked between transactions.
    func moveAll(unless isCancelled: () -> Bool) throws(StoreError) -> FolderTakeover {
        var takeover = FolderTakeover()
        var rest = try keys()[...]
        while !rest.isEmpty {
            guard !isCancelled() else { throw StoreError(.cancelled, "The move was cancelled. Move again: it goes on from here.") }
            var batch = Batch()
            let room = try room()
            while !batch.isFull, let key = rest.popFirst() {
                do throws(StoreError) {
                    try add(key, to: &batch, room: room)
                } catch  where error.concernsOneFile {
                    leave(key, error, in: &takeover)
                }
            }
            try finish(&batch, in: &takeover)
        }
        if !takeover.left.isEmpty { Report.filesLeft(takeover.left.count) }
        return takeover
    }

    private func keys() throws(StoreError) -> [Filename] {
        do {
            return try files.keys()
        } catch {
            throw StoreError(.inputOutput, "The folder cannot be listed. Nothing was moved.", cause: error)
        }
    }

    /// How many bytes the disk takes without any of its entries having to leave.
    private func room() throws(StoreError) -> Int {
        store.capacities.disk.bytes - (try store.statistics().disk.bytes)
    }

    // MARK: One file

    private func add(_ key: Filename, to batch: inout Batch, room: Int) throws(StoreError) {
        // What is there takes no more room. If it is damaged, the file may be all that is left of the value, and stays.
        let isThere = try store.contains(EntryKey(key.rawValue))
        guard let data = try read(key) else { return }
        let value = try value(of: data)
        let size = try size(of: value)
        let limit = store.capacities.disk.bytes
        guard size <= limit else {
            throw StoreError(.tooLarge, "A value of \(DataSize(bytes: size)) is larger than the disk limit of \(DataSize(bytes: limit)).")
        }
        guard isThere || size <= room - batch.bytes else {
            throw StoreError(.noRoom, "Other values would have to leave for this one. Raise the disk limit, then move again.")
        }
        try record(value, key, in: &batch.transaction)
        batch.entries.append(Movable(key: key, value: value, wasThere: isThere))
        if !isThere { batch.bytes += size }
    }

    private func record(_ value: Value, _ key: Filename, in transaction: inout StoreTransaction) throws(StoreError) {
        // Of two who write the key at once, the other one's value is the newer.
        try transaction.record(value, forKey: EntryKey(key.rawValue), in: store, onlyIfAbsent: true, expiration: expiration)
    }

    private func read(_ key: Filename) throws(StoreError) -> Data? {
        do {
            return try files.read(key)
        } catch {
            throw StoreError(.unreadableFile, "The file cannot be read.", cause: error)
        }
    }

    private func value(of data: Data) throws(StoreError) -> Value {
        do {
            return try decode(data)
        } catch {
            throw StoreError(.notDecodable, "The file holds no value of type \(Value.self).", cause: error)
        }
    }

    private func size(of value: Value) throws(StoreError) -> Int {
        do throws(StoreError) {
            return try store.encodedSize(of: value)
        } catch {
            throw StoreError(.notEncodable, "The value of the file cannot be encoded.", cause: error.cause)
        }
    }

    // MARK: One transaction

    private func finish(_ batch: inout Batch, in takeover: inout FolderTakeover) throws(StoreError) {
        guard !batch.entries.isEmpty else { return }
        let answers = try batch.transaction.commit()
        // What was there before must be as safe as what came now: its file goes, too.
        try store.flush()
        if answers.count == batch.entries.count {
            for (entry, wasMoved) in zip(batch.entries, answers) { removeFile(of: entry.key, wasMoved, in: &takeover) }
        } else {
            // A value that memory alone has is no write in a transaction: which of them it is shows when they come one by one.
            for entry in batch.entries { try finish(entry, in: &takeover) }
        }
    }

    private func finish(_ entry: Movable, in takeover: inout FolderTakeover) throws(StoreError) {
        var transaction = StoreTransaction()
        try record(entry.value, entry.key, in: &transaction)
        if let wasMovedNow = try transaction.commit().first {
            try store.flush()
            removeFile(of: entry.key, wasMovedNow || !entry.wasThere, in: &takeover)
        } else {
            leave(entry.key, StoreError(.noRoom, "The storage has a newer value, in memory alone. Raise the disk limit."), in: &takeover)
        }
    }

    private func removeFile(of key: Filename, _ wasMoved: Bool, in takeover: inout FolderTakeover) {
        do {
            try files.remove(key)
            if wasMoved { takeover.moved += 1 } else { takeover.superseded += 1 }
        } catch {
            let error = StoreError(.unremovedFile, "The storage has the value, but its file cannot be removed. Move again.", cause: error)
            leave(key, error, in: &takeover)
        }
    }

    private func leave(_ key: Filename, _ error: StoreError, in takeover: inout FolderTakeover) {
        takeover.left.append(FolderTakeover.Left(key: key, error: ShallowsError(error, layer: layer, key: key)))
    }
}

extension StoreError {
    /// Whether another file may fare better.
    fileprivate var concernsOneFile: Bool {
        [.unreadableFile, .notDecodable, .notEncodable, .tooLarge, .noRoom, .damagedEntry].contains(code)
    }
}
