internal import Dispatch
internal import Synchronization
internal import VellumCore

// Expired entries are reclaimed in the background, a few at a time: when a write finds that some are due, and when the file is idle.

extension DatabaseFile {
    /// How many entries one transaction removes: each may be on its own page, and writers wait meanwhile.
    private static var batch: Int { 64 }

    /// Schedules a sweep in one second. Each sweep schedules the next one.
    func scheduleSweep() { scheduleSweep(afterMilliseconds: 1000) }

    /// Schedules a sweep for this moment, but within an hour at the latest, because the wall clock may be set meanwhile.
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
                } else if let end = file.withWriter({ $0.archives.nextSweep }) {
                    file.scheduleSweep(for: end)
                }
            } catch {
                // The disk may be full or another process busy: retried later.
                file.scheduleSweep(afterMilliseconds: 60_000)
                throw error
            }
        }
    }

    /// Returns whether a writer must schedule a sweep: the entry ends before the next sweep, or the next sweep is overdue because the clock
    /// was set.
    func needsSweep(for end: WallInstant) -> Bool {
        let next = nextSweep.load(ordering: .relaxed)
        return end.rawValue < next || isLate(next)
    }

    private func isLate(_ moment: Int64) -> Bool {
        moment != .max && moment < clock.now().advanced(byMilliseconds: -2000).rawValue
    }

    /// Removes a batch of expired entries from each open archive.
    ///
    /// - Returns: Whether more are due.
    func sweep() throws(SQLiteError) -> Bool {
        var hasMore = false
        var failure: SQLiteError?
        for number in withWriter({ $0.archives.all.compactMap { $0.openArchive == nil ? nil : $0.id } }) ?? [] {
            do throws(SQLiteError) {
                if try sweep(number) { hasMore = true }
            } catch {
                // One archive's failure does not stop the others. The values of a version that was replaced are gone.
                if !error.isVersionReplaced { failure = error }
            }
        }
        if let failure { throw failure }
        return hasMore
    }

    /// Removes every expired entry now. For tests.
    package func sweepEverything() {
        runMaintenance { (file) throws(SQLiteError) in while try file.sweep() {} }
    }

    private func sweep(_ number: Int64) throws(SQLiteError) -> Bool {
        let swept = try withWriter(of: number) { (writer, archive) throws(SQLiteError) in
            let now = clock.now()
            try writePoliciesDaily(of: archive, writer, at: now)
            var more = false
            if archive.sweepMap.earliest <= now || archive.sweepMap.hasUnread {
                // Other processes may have changed the retention policies since.
                try archive.prepareSweep()
            }
            if let block = archive.sweepMap.takeDue(at: now) {
                try sweep(block, of: archive, writer, at: now)
                more = archive.sweepMap.hasUnread || archive.sweepMap.earliest <= now
            }
            return (more, WriteState(writer))
        }
        guard let (more, state) = swept else { return false }
        scheduleMaintenance(state)
        return more
    }

    private func writePoliciesDaily(of archive: ArchiveWriter, _ writer: WriteConnection, at now: WallInstant) throws(SQLiteError) {
        guard archive.hasPolicies, !archive.policiesWritten.isRecent(at: now) else { return }
        guard try !archive.hasWrittenPolicies(at: now) else {
            archive.policiesWritten = now
            return
        }
        try writer.transaction { () throws(SQLiteError) in
            try archive.load()
            try archive.writePolicies(at: now)
        }
    }

    private func sweep(_ block: Int64, of archive: ArchiveWriter, _ writer: WriteConnection, at now: WallInstant) throws(SQLiteError) {
        do throws(SQLiteError) {
            // Most blocks of an archive that was just opened hold no expired entry: then nothing is written.
            guard try archive.hasEnded(in: block, at: now) else { return }
            CrashPoint.reached(.sweepBegins)
            let removed = try writer.transaction { () throws(SQLiteError) in
                try archive.load()
                // Evaluated again: the thread may have waited, and entries written since under a clock that was set back have not expired.
                return try archive.sweep(block, at: clock.now(), limit: Self.batch)
            }
            CrashPoint.reached(.sweepCommitted)
            archive.owner?.archiveDidRemove(removed, .expired)
        } catch {
            if !error.isVersionReplaced { archive.sweepMap.note(block: block, end: now) }
            throw error
        }
    }

    /// Stores this process's retention policy for an archive.
    func setRetention(_ setRetention: RetentionPolicy, on number: Int64) throws(SQLiteError) {
        let now = clock.now()
        defer { scheduleSweep() }
        try withWriter(of: number) { (writer, archive) throws(SQLiteError) in
            guard !archive.policies.contains(where: { $0.covers(setRetention) }) else { return }
            archive.policies.removeAll { setRetention.covers($0) }
            archive.policies.append(setRetention)
            try archive.prepareSweep()
            if try !archive.hasWrittenPolicies(at: now) {
                try writer.transaction { () throws(SQLiteError) in try archive.writePolicies(at: now) }
            }
        }
    }
}
