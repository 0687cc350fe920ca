internal import Foundation
internal import Shallows
internal import VellumCore
internal import VellumEngine

/// Moves the values of files into a store, one transaction at a time. Blocks its thread.
struct FolderImporter<Value: Sendable> {
    let files: ImportableFiles
    let decode: @Sendable (Data) throws -> Value
    let store: Store<Value>
    let expiration: Expiration?
    /// The name of the storage, for errors.
    let layer: String

    /// The limits of one transaction.
    private static var maxFiles: Int { 256 }
    private static var maxBytes: Int { 1 << 20 }

    private struct ImportedValue {
        var key: Filename
        var value: Value
        /// Whether the store had a value under the key before.
        var existed: Bool
    }

    /// The values of one transaction.
    private struct Batch {
        var entries: [ImportedValue] = []
        var transaction = StoreTransaction()
        var bytes = 0

        var isFull: Bool { entries.count >= maxFiles || bytes >= maxBytes }
    }

    /// - Parameter isCancelled: Called between transactions.
    func importAll(unless isCancelled: () -> Bool) throws(VellumError) -> FolderImport {
        var result = FolderImport()
        var rest = try keys()[...]
        while !rest.isEmpty {
            guard !isCancelled() else { throw VellumError(.cancelled, "The import was cancelled. Call it again: it continues from here.") }
            var batch = Batch()
            let room = try room()
            while !batch.isFull, let key = rest.popFirst() {
                do throws(VellumError) {
                    try add(key, to: &batch, room: room)
                } catch  where error.concernsOneFile {
                    keep(key, error, in: &result)
                }
            }
            try finish(&batch, in: &result)
        }
        if !result.remaining.isEmpty { Report.filesRemain(result.remaining.count) }
        return result
    }

    private func keys() throws(VellumError) -> [Filename] {
        do {
            return try files.keys()
        } catch {
            throw VellumError(.inputOutput, "The folder cannot be listed. Nothing was imported.", cause: error)
        }
    }

    /// How many bytes fit on the disk without evicting an entry.
    private func room() throws(VellumError) -> Int {
        store.capacities.disk.bytes - (try store.statistics().disk.bytes)
    }

    // MARK: One file

    private func add(_ key: Filename, to batch: inout Batch, room: Int) throws(VellumError) {
        // A value that exists takes no more room. If it is damaged, this throws, and the file stays: it may be the only good copy.
        let exists = try store.contains(EntryKey(key.rawValue))
        guard let data = try read(key) else { return }
        let value = try value(of: data)
        let size = try size(of: value)
        let limit = store.capacities.disk.bytes
        guard size <= limit else {
            throw VellumError(.tooLarge, "A value of \(DataSize(bytes: size)) is larger than the disk limit of \(DataSize(bytes: limit)).")
        }
        guard exists || size <= room - batch.bytes else {
            throw VellumError(.noRoom, "Other values would have to be evicted for this one. Raise the disk limit, then import again.")
        }
        try record(value, key, in: &batch.transaction)
        batch.entries.append(ImportedValue(key: key, value: value, existed: exists))
        if !exists { batch.bytes += size }
    }

    private func record(_ value: Value, _ key: Filename, in transaction: inout StoreTransaction) throws(VellumError) {
        // A value that another call writes concurrently is the newer one.
        try transaction.record(value, forKey: EntryKey(key.rawValue), in: store, onlyIfAbsent: true, expiration: expiration)
    }

    private func read(_ key: Filename) throws(VellumError) -> Data? {
        do {
            return try files.read(key)
        } catch {
            throw VellumError(.unreadableFile, "The file cannot be read.", cause: error)
        }
    }

    private func value(of data: Data) throws(VellumError) -> Value {
        do {
            return try decode(data)
        } catch {
            throw VellumError(.notDecodable, "The file holds no value of type \(Value.self).", cause: error)
        }
    }

    private func size(of value: Value) throws(VellumError) -> Int {
        do throws(VellumError) {
            return try store.encodedSize(of: value)
        } catch {
            throw VellumError(.notEncodable, "The value of the file cannot be encoded.", cause: error.cause)
        }
    }

    // MARK: One transaction

    private func finish(_ batch: inout Batch, in result: inout FolderImport) throws(VellumError) {
        guard !batch.entries.isEmpty else { return }
        let answers = try batch.transaction.commit()
        // Values that existed before must be as durable as the new ones: their files are removed, too.
        try store.flush()
        if answers.count == batch.entries.count {
            for (entry, wasImported) in zip(batch.entries, answers) { removeFile(of: entry.key, wasImported, in: &result) }
        } else {
            // A value that is in memory only is not written by a transaction. Importing one by one shows which it is.
            for entry in batch.entries { try finish(entry, in: &result) }
        }
    }

    private func finish(_ entry: ImportedValue, in result: inout FolderImport) throws(VellumError) {
        var transaction = StoreTransaction()
        try record(entry.value, entry.key, in: &transaction)
        if let wasImportedNow = try transaction.commit().first {
            try store.flush()
            removeFile(of: entry.key, wasImportedNow || !entry.existed, in: &result)
        } else {
            keep(entry.key, VellumError(.noRoom, "The storage has a newer value, in memory only. Raise the disk limit."), in: &result)
        }
    }

    private func removeFile(of key: Filename, _ wasImported: Bool, in result: inout FolderImport) {
        do {
            try files.remove(key)
            if wasImported { result.imported += 1 } else { result.superseded += 1 }
        } catch {
            let error = VellumError(
                .unremovedFile, "The storage has the value, but its file cannot be removed. Import again.", cause: error)
            keep(key, error, in: &result)
        }
    }

    private func keep(_ key: Filename, _ error: VellumError, in result: inout FolderImport) {
        result.remaining.append(FolderImport.RemainingFile(key: key, error: ShallowsError(error, layer: layer, key: key)))
    }
}

extension VellumError {
    /// Whether importing another file may succeed.
    fileprivate var concernsOneFile: Bool {
        [.unreadableFile, .notDecodable, .notEncodable, .tooLarge, .noRoom, .damagedEntry].contains(code)
    }
}
