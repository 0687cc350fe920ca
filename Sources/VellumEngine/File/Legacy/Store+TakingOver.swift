internal import Foundation
package import VellumCore

/// What an archive has examined of a folder of version 1. Stored in the archives' file, in each transaction that records objects: an object that
/// was deleted since is not taken over again, whatever becomes of the files.
struct ExaminedFolder: Codable, Sendable {
    /// The name of the archive that has these entries. No type has one that begins so.
    static let archive = "\u{1}originals"

    enum Stage: Codable { case examining, recorded, kept }

    /// The version of the type.
    var version: Int64
    /// The last use of the newest file, in milliseconds since 1970: a newer one was written since.
    var newest: Int64 = 0
    /// The key of the last file with that use; `nil` if there is no other.
    var lastKey: String? = ""
    /// The names of files that could not be read.
    var unread: Set<String> = []
    var stage = Stage.examining

    func covers(_ file: OriginalFolder.File, _ version: Int64) -> Bool {
        guard self.version == version, !unread.contains(file.name) else { return false }
        let lastUsed = file.lastUsed.rawValue
        return lastUsed < newest || lastUsed == newest && (lastKey.map { file.key <= $0 } ?? true)
    }

    /// Notes that all files were examined. A file whose date is in the future covers no file that is written before.
    mutating func complete(_ files: [OriginalFolder.File]) {
        let now = WallClock.system.now().rawValue
        newest = min(now, max(newest, files.last?.lastUsed.rawValue ?? 0))
        lastKey = nil
        unread.formIntersection(files.map(\.name))
        stage = .recorded
    }

    /// Adds a file, in the order of their last uses.
    mutating func add(_ file: OriginalFolder.File, isRead: Bool) {
        if isRead { unread.remove(file.name) } else { unread.insert(file.name) }
        let lastUsed = file.lastUsed.rawValue
        if lastUsed > newest { (newest, lastKey) = (lastUsed, file.key) }
        if lastUsed == newest { lastKey = lastKey.map { max($0, file.key) } }
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
            var work = try TakingOver(folder, self)
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
    /// The revision of what this archive has examined, in the file; `nil` if it has examined nothing.
    var revision: UInt32?
    var examined: ExaminedFolder

    init(_ folder: OriginalFolder, _ store: Store<Value>) throws {
        (self.folder, self.store) = (folder, store)
        key = EntryKey(store.name + "\0" + folder.name)
        var options = StoreOptions<ExaminedFolder>()
        options.policy = .share
        marks = try store.disk.file.store(named: ExaminedFolder.archive, codec: JSONCodec<ExaminedFolder>(), options)
        (examined, revision) = try Self.examined(key, marks) ?? (ExaminedFolder(version: store.version), nil)
    }

    private static func examined(_ key: EntryKey, _ marks: Store<ExaminedFolder>) throws -> (ExaminedFolder, UInt32?)? {
        try marks.entryOnDisk(forKey: key).map { (try marks.codec.decode($0.bytes), $0.revision) }
    }

    mutating func run(_ report: (TakeOver) -> Void) throws -> TakeOver? {
        let all = try folder.files(kept: revision == nil || examined.stage == .examining).sorted {
            ($0.lastUsed, $0.key) < ($1.lastUsed, $1.key)
        }
        let files = all.filter { !examined.covers($0, store.version) }
        guard !files.isEmpty || revision != nil && examined.stage == .examining else {
            // A process was killed before it moved the files.
            if examined.stage == .recorded { keep(try recorded(among: all)) }
            return nil
        }
        var takeOver = TakeOver(archive: Log.displayed(store.name), total: files.count)
        var moved: [File] = []
        var rest = try filesWithRoom(files, &moved)[...]
        takeOver.withoutRoom = moved.count
        takeOver.examined = moved.count
        // Whether another process, or an earlier one, has recorded some of the objects.
        var isShared = revision != nil && examined.stage == .examining
        repeat {
            if try takeOverBatch(&rest, all, &takeOver, &moved) {
                CrashPoint.reached(.originalsRecorded)
                report(takeOver)
            } else {
                isShared = true
                (examined, revision) = try Self.examined(key, marks) ?? (ExaminedFolder(version: store.version), nil)
                rest = rest.filter { !examined.covers($0, store.version) }[...]
            }
        } while examined.stage == .examining
        // Files are moved only after their objects survive power loss.
        try store.flush()
        CrashPoint.reached(.originalsSynced)
        if examined.stage == .recorded { keep(isShared ? try recorded(among: all) : moved) }
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

    /// Records the objects of some files in one transaction, with what was examined.
    ///
    /// - Returns: `false` if another process has examined files meanwhile. Nothing was recorded then.
    private mutating func takeOverBatch(
        _ rest: inout ArraySlice<File>, _ all: [File], _ takeOver: inout TakeOver, _ moved: inout [File]
    ) throws -> Bool {
        var batch = Batch(examined: examined, takeOver: takeOver)
        if examined.version != store.version { batch.examined = ExaminedFolder(version: store.version) }
        batch.examined.stage = .examining
        batch.transaction.requireRevision(revision, of: key, in: marks)
        var (files, bytes) = (rest, 0)
        while batch.count < 2048, bytes < 8 << 20, let file = files.popFirst() {
            batch.count += 1
            bytes += file.size
            try add(file, to: &batch)
        }
        if files.isEmpty { batch.examined.complete(all) }
        try batch.transaction.record(batch.examined, forKey: key, in: marks)
        guard var answers = try commit(&batch.transaction)?.dropFirst() else { return false }
        takeOver = batch.takeOver
        for (file, key) in batch.files {
            var isRecorded = true
            if let key, answers.popFirst() != true { isRecorded = try store.contains(key) }
            if isRecorded { takeOver.recorded += 1 } else { takeOver.withoutRoom += 1 }
            moved.append(file)
        }
        takeOver.examined += batch.count
        rest = files
        examined = batch.examined
        revision = try marks.entryOnDisk(forKey: key)?.revision
        return true
    }

    /// One transaction.
    private struct Batch {
        var examined: ExaminedFolder
        var takeOver: TakeOver
        var transaction = StoreTransaction()
        var count = 0
        /// One without a key holds an object that its migration no longer needs.
        var files: [(file: File, key: EntryKey?)] = []
    }

    private func add(_ file: File, to batch: inout Batch) throws {
        var data: Data?
        var isRead = true
        do {
            data = try folder.contents(of: file)
        } catch {
            if batch.takeOver.unread == 0 { Log.notice("A file of version 1 cannot be read: \(codingReason(error)).") }
            batch.takeOver.unread += 1
            isRead = false
        }
        batch.examined.add(file, isRead: isRead)
        guard let data else { return }
        do {
            guard let value = try value(of: data, file) else { return batch.files.append((file, nil)) }
            let key = store.codec.key(of: value) ?? EntryKey(file.key)
            try batch.transaction.takeOver(value, forKey: key, lastUsed: file.lastUsed, in: store)
            batch.files.append((file, key))
        } catch {
            if batch.takeOver.undecodable == 0 {
                Log.notice("A file of version 1 cannot be decoded as \(Value.self): \(codingReason(error)).")
            }
            batch.takeOver.undecodable += 1
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
    private func keep(_ files: [File]) {
        do {
            try folder.keep(files)
            CrashPoint.reached(.originalsKept)
            var examined = examined
            examined.stage = .kept
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
