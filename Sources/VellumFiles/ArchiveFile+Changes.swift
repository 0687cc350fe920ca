internal import VellumCore
internal import VellumEngine

extension ArchiveFile {
    /// A change of an archive, by any program.
    public struct Change: Sendable {
        /// The name of the archive.
        public let archive: String
        /// How many keys were written or removed; `nil` if only their number is known to be large,
        /// or all were removed.
        public let count: Int?
        /// Those of the keys that are known, and there.
        public let present: [String]
        /// How many keys are known by their hashes alone: their entries are gone.
        public let removed: Int
    }

    /// Returns the changes that programs make from now on, also this one.
    ///
    /// ```swift
    /// for try await change in file.changes() {
    ///     print(change.archive, change.present)
    /// }
    /// ```
    ///
    /// Looks twenty times a second at the page on which programs announce their changes, and
    /// changes nothing. Up to 4,096 changes between two looks are known one by one. Relaxed writes
    /// of a program that has the file alone come with their commit.
    ///
    /// Ends when the task is cancelled. Throws ``VellumError`` if the file is gone or cannot be
    /// read.
    public func changes() -> AsyncThrowingStream<Change, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    try await follow { continuation.yield($0) }
                } catch {
                    continuation.finish(throwing: error is CancellationError ? nil : error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func follow(_ tell: (Change) -> Void) async throws {
        var page = ChangeReader(besides: file.path)
        while true {
            try await Task.sleep(for: .milliseconds(50))
            var known: [RawArchive] = []
            let changes = try page.next { () throws(VellumError) in
                known = try archives()
                return known.map(\.archive.id)
            }
            for (number, keys) in changes {
                for archive in known where archive.archive.id == number {
                    tell(try archive.change(keys))
                }
            }
        }
    }
}

extension RawArchive {
    fileprivate func change(_ keys: ChangedKeys) throws(VellumError) -> ArchiveFile.Change {
        guard keys.isOfSingleKeys else {
            return ArchiveFile.Change(archive: name, count: nil, present: [], removed: 0)
        }
        let hashes = Set(keys.single.map(\.hash))
        let present = try reading { tables throws(SQLiteError) in
            var present: [String] = []
            for hash in hashes { present += try tables.keys(ofHash: hash) }
            return present.sorted()
        }
        return ArchiveFile.Change(
            archive: name,
            count: hashes.count,
            present: present,
            removed: max(0, hashes.count - present.count)
        )
    }
}

extension ArchiveTables {
    fileprivate func keys(ofHash hash: UInt64) throws(SQLiteError) -> [String] {
        let read = try prepared(query: RawRows.keysOfHash(id))
        defer { read.reset() }
        read.bind(Int64(Int32(truncatingIfNeeded: hash)), at: 1)
        var keys: [String] = []
        while try read.step() {
            let key = read.key(RawRows.Key.key)
            if checksum.hash.of(key) == hash { keys.append(key.normalized) }
        }
        return keys
    }
}
