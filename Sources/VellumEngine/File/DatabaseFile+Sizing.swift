internal import VellumCore

// What is known of other limits is written beside the eviction order, so that tools find it.

extension DatabaseFile {
    /// How many milliseconds at least are between two writes for an archive.
    private static let sizingPause: Int64 = 60_000

    /// Writes what the archives' owners know of other limits, each at most once a minute.
    func writeSizings(isClosing: Bool = false) throws(SQLiteError) {
        let (now, pause) = (clock.now(), isClosing ? 0 : Self.sizingPause)
        guard withWriter({ $0.connection.writeRefusal == nil }) ?? false else { return }
        for archive in writing.archives {
            // Most have not been read often enough since they were opened.
            guard let owner = archive.owner, owner.sizing(ofDisk: 1) != nil, archive.upkeep.withLock({ $0.isSizingDue(at: now, after: pause) })
            else { continue }
            _ = try inTransaction(archive) { (edit) throws(SQLiteError) in
                guard let sizing = owner.sizing(ofDisk: edit.sizeOfDisk) else { return }
                try edit.write(sizing, at: now)
                if edit.state.totals.limit.isGiven == 0 { archive.noteSizing(sizing, edit.state.totals.limit.size) }
            }
        }
    }
}
