internal import Foundation
internal import Synchronization
internal import VellumCore

// Large values, each in a file of its own.

extension DatabaseFile {
    /// From which size on a value gets a file of its own. Only tests change it.
    package var largeValue: Int {
        get { largeValueThreshold.load(ordering: .relaxed) }
        set { largeValueThreshold.store(newValue, ordering: .relaxed) }
    }

    /// Writes the large values to files, without a lock, and runs `body` with the writes that refer to them. Removes the files that no entry
    /// refers to afterwards.
    ///
    /// - Returns: `nil` if the file is closed.
    func withValueFiles(
        for writes: [ArchiveWrite],
        _ body: (_ writes: [ArchiveWrite], WriteConnection) throws(SQLiteError) -> (WriteState, [WriteOutcome])
    ) throws(SQLiteError) -> WriteState? {
        guard writes.contains(where: { $0.size >= largeValue }) else {
            return try withWriter { (writer) throws(SQLiteError) in try body(writes, writer).0 }
        }
        var writes = writes
        var files: [UInt64?] = Array(repeating: nil, count: writes.count)
        var unused: [UInt64] = []
        defer {
            remove(valueFiles: unused)
            newValueFiles.withLock { $0.subtract(files.compactMap { $0 }) }
        }
        do throws(SQLiteError) {
            // A value must not take the room that the log needs when entries are deleted again.
            try withWriter { (writer) throws(SQLiteError) in try writer.makeRoomInLog() }
            // What is larger than the archive's limit is not stored at all.
            for index in writes.indices
            where writes[index].size >= largeValue && writes[index].size <= writes[index].archive.capacity.bytes {
                files[index] = try writes[index].moveValue { (value) throws(SQLiteError) in
                    try values.write(value) { file in newValueFiles.withLock { _ = $0.insert(file) } }
                }
            }
            return try withWriter { (writer) throws(SQLiteError) in
                let (state, outcomes) = try body(writes, writer)
                unused = zip(files, outcomes).compactMap { $1.entryID == 0 ? $0 : nil }
                return state
            }
        } catch {
            // After an error of the device the commit may be in the log nevertheless. The next opening knows.
            if !error.isOfDevice { unused = files.compactMap { $0 } }
            throw error
        }
    }

    private func remove(valueFiles files: [UInt64]) {
        for file in files {
            do throws(SQLiteError) {
                try values.remove(file)
                CrashPoint.reached(.valueFileRemoved)
            } catch {
                // It is found again when a process opens the file alone.
                Log.error("A file of a value that is no longer needed could not be removed.", error)
            }
        }
    }

    /// Runs a checkpoint. If it is complete, removes the files of entries that were gone before: they are gone from every snapshot then, and
    /// from the database that survives a power loss.
    func removingValueFiles<Result>(
        _ checkpoint: () throws(SQLiteError) -> (result: Result, isComplete: Bool)
    ) throws(SQLiteError) -> Result {
        let unused = withWriter { $0.takeUnusedFiles() } ?? []
        do throws(SQLiteError) {
            let (result, isComplete) = try checkpoint()
            if isComplete {
                remove(valueFiles: unused)
            } else if !unused.isEmpty {
                // A reader has to end its snapshot.
                withWriter { $0.add(unusedFiles: unused) }
                scheduleCheckpoint(after: .milliseconds(50))
            }
            return result
        } catch {
            withWriter { $0.add(unusedFiles: unused) }
            throw error
        }
    }

    /// Schedules the removal of files that a killed process left.
    func scheduleRemovingLeftValueFiles() {
        guard FileIdentity(path: values.folder) != nil else { return }
        schedule(.removeValueFiles) { (file) throws(SQLiteError) in try file.findLeftValueFiles() }
    }

    private func findLeftValueFiles() throws(SQLiteError) {
        let present = try values.numbers()
        // A process that opens the file later creates files that are not among these.
        guard !present.isEmpty, !isShared else { return }
        try withWriter { (writer) throws(SQLiteError) in
            // Those that were new a moment ago have an entry now, or are removed.
            let new = newValueFiles.withLock { $0 }
            let used = Set(try EntryTable.readFiles(try writer.connection.prepare(EntryTable.references)))
            writer.add(unusedFiles: present.filter { !new.contains($0) && !used.contains($0) })
        }
        scheduleCheckpoint()
    }
}

extension ArchiveWrite {
    /// Stores a value with `store`, and refers to it instead.
    fileprivate mutating func moveValue(
        _ store: (Data) throws(SQLiteError) -> ValueReference
    ) throws(SQLiteError) -> UInt64? {
        switch operation {
        case .store(let entry):
            let reference = try store(entry.bytes)
            operation = .store(entry.moved(to: reference))
            return reference.file
        case .storeIfAbsent(let entry):
            let reference = try store(entry.bytes)
            operation = .storeIfAbsent(entry.moved(to: reference))
            return reference.file
        case .takeOver(let entry):
            let reference = try store(entry.bytes)
            operation = .takeOver(entry.moved(to: reference))
            return reference.file
        case .remove, .removeUnchanged, .removeAll, .require: return nil
        }
    }
}
