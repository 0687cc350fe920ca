internal import Foundation
package import VellumCore

/// What an archive has examined of a folder of version 1. Stored in the archives' file, in the transaction that records the last objects: an
/// object that was deleted since is not taken over again, whatever becomes of the files.
struct ExaminedFolder: Codable, Sendable {
    /// The name of the archive that has these entries. No type has one that begins so.
    static let archive = "\u{1}originals"

    /// The version of the type.
    var version: Int64
    /// The last use of the newest file, in milliseconds since 1970: a newer one was written since.
    var newest: Int64
    /// The names of files that could not be read.
    var unread: [String]
    /// Whether the files whose objects are recorded were moved to the folder where they are kept.
    var isKept = false

    func covers(_ file: OriginalFolder.File, _ version: Int64) -> Bool {
        self.version == version && file.lastUsed.rawValue <= newest && !unread.contains(file.name)
    }
}

extension Store {
    /// Takes over the objects of a folder of version 1. Blocks for the disk.
    ///
    /// - Parameter report: Called after each transaction.
    /// - Returns: `nil` if there was nothing to examine.
    /// - Complexity: O(n log n) for n files, with a transaction for up to 2048 of them, or 8 MB, and a sync at the end.
    package func takeOver(_ folder: OriginalFolder, report: (TakeOver) -> Void) throws(VellumError) -> TakeOver? {
        guard folder.isThere || folder.isKept else { return nil }
        do {
            let work = try TakingOver(folder, self)
            guard let takeOver = try work.run(report) else { return nil }
            state.archiveDidReport(.tookOver(takeOver))
            return takeOver
        } catch {
            throw .takingOver(error, folder.path).located(archive: Log.displayed(name), path: nil)
        }
    }
}

/// The take-over of one folder into one archive.
private struct TakingOver<Value> {
    typealias File = OriginalFolder.File

    let folder: OriginalFolder
    let store: Store<Value>
    /// What archives have examined.
    let marks: Store<ExaminedFolder>
    let key: EntryKey
    /// What this archive has examined, and its revision in the file; `nil` if nothing.
    let mark: (examined: ExaminedFolder, revision: UInt32)?

    init(_ folder: OriginalFolder, _ store: Store<Value>) throws {
        (self.folder, self.store) = (folder, store)
        key = EntryKey(store.name + "\0" + folder.name)
        var options = StoreOptions<ExaminedFolder>()
        options.policy = .share
        let codec = JSONCodec<ExaminedFolder>()
        marks = try store.disk.file.store(named: ExaminedFolder.archive, codec: codec, options)
        if let entry = try marks.entryOnDisk(forKey: key) {
            mark = (try codec.decode(entry.bytes), entry.revision)
        } else {
            mark = nil
        }
    }

    func run(_ report: (TakeOver) -> Void) throws -> TakeOver? {
        let all = try folder.files(kept: mark == nil).sorted { ($0.lastUsed, $0.key) < ($1.lastUsed, $1.key) }
        let files = all.filter { file in mark.map { !$0.examined.covers(file, store.version) } ?? true }
        guard !files.isEmpty else {
            // A process was killed before it moved the files.
            if let mark, !mark.examined.isKept { keep(try recorded(among: all), mark.examined) }
            return nil
        }
        var takeOver = TakeOver(archive: Log.displayed(store.name), total: files.count)
        var moved: [File] = []
        var rest = try filesWithRoom(files, &moved)[...]
        takeOver.withoutRoom = moved.count
        takeOver.examined = moved.count
        let now = WallClock.system.now().rawValue
        var examined = ExaminedFolder(
            version: store.version, newest: max(mark?.examined.newest ?? 0, min(now, all.last?.lastUsed.rawValue ?? 0)), unread: [])
        repeat {
            guard try takeOverBatch(&rest, &examined, &takeOver, &moved) else { return nil }
            CrashPoint.reached(.originalsRecorded)
            report(takeOver)
        } while !rest.isEmpty
        // Files are moved only after their objects survive power loss.
        try store.flush()
        CrashPoint.reached(.originalsSynced)
        keep(moved, examined)
        takeOver.isComplete = true
        report(takeOver)
        return takeOver
    }

    /// The files, or the most recently used of them for which there is room under a limit that was set. An object is seldom larger here.
    private func filesWithRoom(_ files: [File], _ others: inout [File]) throws(VellumError) -> [File] {
        guard store.disk.mirror.isGiven else { return files }
        var room = try store.currentCapacities().disk.bytes - store.statistics().disk.bytes
        var chosen: [File] = []
        for file in files.reversed() {
            if file.size <= room {
                room -= file.size
                chosen.append(file)
            } else {
                others.append(file)
            }
        }
        return chosen.reversed()
    }

    /// Records the objects of some files in one transaction, and with the last of them what was examined.
    ///
    /// - Returns: `false` if another process has examined the folder meanwhile. Nothing was recorded then.
    private func takeOverBatch(
        _ rest: inout ArraySlice<File>, _ examined: inout ExaminedFolder, _ takeOver: inout TakeOver, _ moved: inout [File]
    ) throws -> Bool {
        var batch = Batch()
        batch.transaction.requireRevision(mark?.revision, of: key, in: marks)
        var (count, bytes) = (0, 0)
        while count < 2048, bytes < 8 << 20, let file = rest.popFirst() {
            count += 1
            bytes += file.size
            if let data = contents(of: file, &examined, &takeOver) { add(data, of: file, to: &batch, &takeOver) }
        }
        if rest.isEmpty { try batch.transaction.record(examined, forKey: key, in: marks) }
        guard let answers = try commit(&batch.transaction) else { return false }
        var rest = answers.dropFirst()
        for (file, key) in batch.files {
            var isRecorded = true
            if let key, rest.popFirst() != true { isRecorded = try store.contains(key) }
            if isRecorded { takeOver.recorded += 1 } else { takeOver.withoutRoom += 1 }
            moved.append(file)
        }
        takeOver.examined += count
        return true
    }

    /// The files of one transaction. One without a key holds an object that its migration no longer needs.
    private struct Batch {
        var transaction = StoreTransaction()
        var files: [(file: File, key: EntryKey?)] = []
    }

    /// - Returns: `nil` if the file is gone, or cannot be read now.
    private func contents(of file: File, _ examined: inout ExaminedFolder, _ takeOver: inout TakeOver) -> Data? {
        do {
            return try folder.contents(of: file)
        } catch {
            if takeOver.unread == 0 { Log.notice("A file of version 1 cannot be read: \(codingReason(error)).") }
            examined.unread.append(file.name)
            takeOver.unread += 1
            return nil
        }
    }

    private func add(_ data: Data, of file: File, to batch: inout Batch, _ takeOver: inout TakeOver) {
        do {
            guard let value = try value(of: data, file) else { return batch.files.append((file, nil)) }
            let key = store.codec.key(of: value) ?? EntryKey(file.key)
            try batch.transaction.takeOver(value, forKey: key, lastUsed: file.lastUsed, in: store)
            batch.files.append((file, key))
        } catch {
            if takeOver.undecodable == 0 { Log.notice("A file of version 1 cannot be decoded as \(Value.self): \(codingReason(error)).") }
            takeOver.undecodable += 1
        }
    }

    /// - Returns: `nil` if another process has examined the folder meanwhile.
    private func commit(_ transaction: inout StoreTransaction) throws -> [Bool]? {
        do throws(VellumError) {
            return try transaction.commit()
        } catch {
            guard error.sqliteCode == SQLiteError.otherRevision.code else { throw error }
            return nil
        }
    }

    /// The object in a file; `nil` if it is no longer needed.
    private func value(of data: Data, _ file: File) throws -> Value? {
        guard store.version > 0 else { return try store.codec.decode(data) }
        // Version 1 of the package knew no versions of types.
        switch try store.codec.migrate(data, from: 0, of: EntryKey(file.key)) {
        case .value(let value): return value
        case .removed: return nil
        }
    }

    /// The files that the type can decode.
    private func recorded(among files: [File]) throws -> [File] {
        try files.filter { file in
            guard let data = try folder.contents(of: file) else { return false }
            do {
                _ = try value(of: data, file)
                return true
            } catch {
                return false
            }
        }
    }

    /// Moves files to where they are kept. If that fails, the objects are in the archive all the same.
    private func keep(_ files: [File], _ examined: ExaminedFolder) {
        do {
            try folder.keep(files)
            CrashPoint.reached(.originalsKept)
            var examined = examined
            examined.isKept = true
            try marks.record(examined, forKey: key)
        } catch {
            let error = VellumError.keeping(error, folder.path).located(archive: Log.displayed(store.name), path: nil)
            Log.error("Files of version 1 could not be moved.", error)
            store.events.keep(.failure(error))
        }
    }
}

extension VellumError {
    fileprivate static func takingOver(_ error: any Error, _ path: String) -> VellumError {
        if let error = error as? VellumError { return error }
        return VellumError(
            .inputOutput,
            "The objects of version 1 in \(path) could not all be taken over. They are still there; opening the archive again goes on.",
            cause: error)
    }

    fileprivate static func keeping(_ error: any Error, _ path: String) -> VellumError {
        VellumError(
            .inputOutput,
            "The objects of version 1 in \(path) were taken over, but their files could not be moved. Opening the archive again tries it again.",
            cause: error)
    }
}
