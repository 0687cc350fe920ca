internal import Dispatch
internal import Synchronization
internal import VellumCore

// What nobody wants any more gives its bytes back without anyone reading it: a few entries at a time, when writes find that
// some are due, and when nothing happens.

extension DatabaseFile {
    /// How many entries leave in one transaction: each may be on a page of its own, and writers wait.
    private static var batch: Int { 64 }

    /// Looks soon for what is due, and then as often as needed.
    func scheduleSweep() { scheduleSweep(afterMilliseconds: 1000) }

    /// Looks when this moment has come.
    ///
    /// An hour at the longest: the wall clock may be set meanwhile, and what was due once is overdue then.
    func scheduleSweep(for end: WallInstant) {
        let now = clock.now()
        if isLate(end.rawValue) || isLate(nextSweep.load(ordering: .relaxed)) {
            scheduleSweep(afterMilliseconds: 0)
        } else {
            let latest = min(end, now.advanced(byMilliseconds: 3_600_000))
            scheduleSweep(afterMilliseconds: max(1000, latest.rawValue &- now.rawValue))
        }
    }

    private func scheduleSweep(afterMilliseconds delay: Int64) {
        nextSweep.store(clock.now().advanced(byMilliseconds: delay).rawValue, ordering: .relaxed)
        schedule(.sweep, after: .milliseconds(Int(delay))) { (file) throws(SQLiteError) in
            file.nextSweep.store(.max, ordering: .relaxed)
            do throws(SQLiteError) {
                if try file.sweep() {
                    file.scheduleSweep(afterMilliseconds: 10)
                } else if let end = file.withWriter({ $0.nextSweep }) {
                    file.scheduleSweep(for: end)
                }
            } catch {
                // The disk may be full, or another process busy: that passes.
                file.scheduleSweep(afterMilliseconds: 60_000)
                throw error
            }
        }
    }

    /// Whether a writer should see to it that something is removed: it is due before the next look, or the clock was set and the
    /// next look is late.
    func needsSweep(for end: WallInstant) -> Bool {
        let next = nextSweep.load(ordering: .relaxed)
        return end.rawValue < next || isLate(next)
    }

    private func isLate(_ moment: Int64) -> Bool {
        moment != .max && moment < clock.now().advanced(byMilliseconds: -2000).rawValue
    }

    /// Removes a little of what nobody wants any more in each archive that is open.
    ///
    /// - Returns: Whether there is more.
    func sweep() throws(SQLiteError) -> Bool {
        var hasMore = false
        var failure: SQLiteError?
        for number in withWriter({ $0.allArchives.compactMap { $0.openArchive == nil ? nil : $0.id } }) ?? [] {
            do throws(SQLiteError) {
                if try sweep(number) { hasMore = true }
            } catch {
                failure = error  // What is wrong with one is no harm to the others.
            }
        }
        if let failure { throw failure }
        return hasMore
    }

    /// Removes everything that nobody wants any more, now: for tests.
    package func sweepEverything() {
        runMaintenance { (file) throws(SQLiteError) in while try file.sweep() {} }
    }

    private func sweep(_ number: Int64) throws(SQLiteError) -> Bool {
        let swept = try withWriter(of: number) { (writer, archive) throws(SQLiteError) in
            let now = clock.now()
            if archive.needsHeartbeat, !archive.heartbeatWritten.isRecent(at: now) {
                if try archive.hasRecentHeartbeat(at: now) {
                    archive.heartbeatWritten = now
                } else {
                    try writer.transaction { () throws(SQLiteError) in try archive.writeHeartbeat(at: now) }
                }
            }
            var more = try writer.sweepSiblings(of: archive, at: now, limit: Self.batch)
            if archive.sweepMap.earliest <= now || archive.sweepMap.hasUnread {
                // Others may have said since for how long they want what is here.
                try archive.prepareSweep()
            }
            if let block = archive.sweepMap.takeDue(at: now) {
                try sweep(block, of: archive, writer, at: now)
                more = more || archive.sweepMap.hasUnread || archive.sweepMap.earliest <= now
            }
            return (more, WriteState(writer))
        }
        guard let (more, state) = swept else { return false }
        scheduleMaintenance(state)
        return more
    }

    private func sweep(_ block: Int64, of archive: ArchiveWriter, _ writer: WriteConnection, at now: WallInstant) throws(SQLiteError) {
        do throws(SQLiteError) {
            // Most blocks of an archive that was just opened hold nothing that has ended: then nothing is written.
            guard try archive.hasEnded(in: block, at: now) else { return }
            CrashPoint.reached(.sweepBegins)
            let removed = try writer.transaction { () throws(SQLiteError) in
                try archive.load()
                // Asked once more: we may have waited, and what was written since under a clock that was set back has not ended.
                return try archive.sweep(block, at: clock.now(), limit: Self.batch)
            }
            CrashPoint.reached(.sweepCommitted)
            archive.owner?.archiveDidRemove(removed, .expired)
        } catch {
            archive.sweepMap.note(block: block, end: now)
            throw error
        }
    }

    /// Writes down for how long this process wants the entries of an archive.
    func setRetention(_ setRetention: RetentionPolicy, on number: Int64) throws(SQLiteError) {
        let now = clock.now()
        defer { scheduleSweep() }
        try withWriter(of: number) { (writer, archive) throws(SQLiteError) in
            guard !archive.policies.contains(where: { $0.covers(setRetention) }) else { return }
            archive.policies.removeAll { setRetention.covers($0) }
            archive.policies.append(setRetention)
            try archive.prepareSweep()
            if try !archive.hasRecentHeartbeat(at: now) {
                try writer.transaction { () throws(SQLiteError) in try archive.writeHeartbeat(at: now) }
            }
        }
    }
}
