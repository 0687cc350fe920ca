internal import Dispatch
internal import Synchronization
internal import VellumCore

// Expired entries are reclaimed in the background, a few at a time: when a write finds that some
// are due, and when the file is idle.

extension DatabaseFile {
    /// How many entries one transaction removes: each may be on its own page, and writers wait
    /// meanwhile.
    private static var batch: Int { 64 }

    /// Schedules a sweep in one second. Each sweep schedules the next one.
    func scheduleSweep() { scheduleSweep(afterMilliseconds: 1000) }

    /// Schedules a sweep for this moment, but within an hour at the latest, because the wall clock
    /// may be set meanwhile.
    ///
    /// - Parameter last: When the last sweep began; `nil` for now.
    func scheduleSweep(for end: WallInstant, since last: WallInstant? = nil) {
        let now = clock.now()
        let latest = min(end, (last ?? now).advanced(byMilliseconds: 3_600_000))
        if isLate(latest.rawValue) || isLate(maintenance.nextSweep.load(ordering: .relaxed)) {
            scheduleSweep(afterMilliseconds: 0)
        } else {
            // The clock may have been set back since.
            scheduleSweep(
                afterMilliseconds: min(max(1000, latest.rawValue &- now.rawValue), 3_600_000)
            )
        }
    }

    private func scheduleSweep(afterMilliseconds delay: Int64) {
        maintenance.nextSweep.store(
            clock.now().advanced(byMilliseconds: delay).rawValue,
            ordering: .relaxed
        )
        schedule(.sweep, after: .milliseconds(Int(delay))) { file throws(SQLiteError) in
            file.maintenance.nextSweep.store(.max, ordering: .relaxed)
            let begin = file.clock.now()
            do throws(SQLiteError) {
                if try file.sweep() {
                    file.scheduleSweep(afterMilliseconds: 10)
                } else if let end = file.nextEnd {
                    file.scheduleSweep(for: end, since: begin)
                }
            } catch {
                // The disk may be full or another process busy: retried later.
                file.scheduleSweep(afterMilliseconds: 60_000)
                throw error
            }
        }
    }

    /// Returns whether a writer must schedule a sweep: the entry ends before the next sweep, or the
    /// next sweep is overdue because the clock was set.
    func needsSweep(for end: WallInstant) -> Bool {
        let next = maintenance.nextSweep.load(ordering: .relaxed)
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
        for archive in writing.archives {
            do throws(SQLiteError) {
                if try sweep(archive) { hasMore = true }
            } catch {
                // One archive's failure does not stop the others. The values of a version that was
                // replaced are gone.
                if !error.isVersionReplaced { failure = error }
            }
        }
        if let failure { throw failure }
        return hasMore
    }

    /// Removes every expired entry now. For tests.
    package func sweepEverything() {
        runMaintenance { file throws(SQLiteError) in while try file.sweep() {} }
    }

    private func sweep(_ archive: Archive) throws(SQLiteError) -> Bool {
        let now = clock.now()
        try beginRewriting(archive, at: now)
        try writePoliciesDaily(of: archive, at: now)
        // In one turn at the lock: a block that is taken is swept, or noted again, before anybody
        // asks whether more are due.
        let done = try withWriter(of: archive) {
            writer throws(SQLiteError) -> (commit: Commit?, hasMore: Bool) in
            // Other processes may have changed the retention policies since.
            if archive.upkeep.withLock({ $0.sweepMap.mayBeDue(at: now) }) {
                try writer.prepareSweep(of: archive)
            }
            guard let block = archive.upkeep.withLock({ $0.sweepMap.takeDue(at: now) }) else {
                return (nil, false)
            }
            do throws(SQLiteError) {
                let commit = try writer.sweep(
                    block,
                    of: archive,
                    at: now,
                    limit: Self.batch,
                    by: clock
                )
                return (commit, archive.upkeep.withLock { $0.sweepMap.mayBeDue(at: now) })
            } catch {
                if !error.isVersionReplaced {
                    archive.upkeep.withLock { $0.sweepMap.note(block: block, end: now) }
                }
                throw error
            }
        }
        guard let done else { return false }
        if let commit = done.commit { didCommit(commit) }
        return done.hasMore
    }

    /// When the next sweep is due; `nil` if none is ever needed. An archive with policies needs one
    /// at least once a day, which writes them.
    var nextEnd: WallInstant? {
        var end = WallInstant.never
        var hasPolicies = false
        for archive in writing.archives {
            archive.upkeep.withLock { upkeep in
                end = min(end, upkeep.sweepMap.earliest, upkeep.rewriting)
                hasPolicies = hasPolicies || !upkeep.policies.isEmpty
            }
        }
        return end != .never || hasPolicies ? end : nil
    }

    private func writePoliciesDaily(of archive: Archive, at now: WallInstant) throws(SQLiteError) {
        let isDue = archive.upkeep.withLock {
            !$0.policies.isEmpty && !$0.policiesWritten.isRecent(at: now)
        }
        if isDue { try writePolicies(of: archive, at: now) }
    }

    /// Writes the policies of this process, unless the file has them.
    private func writePolicies(of archive: Archive, at now: WallInstant) throws(SQLiteError) {
        let areWritten = try withWriter(of: archive) { writer throws(SQLiteError) in
            try writer.tables(of: archive).hasWrittenPolicies(of: archive, at: now)
        }
        guard let areWritten else { return }
        if areWritten { return archive.upkeep.withLock { $0.policiesWritten = now } }
        _ = try inTransaction(archive) { edit throws(SQLiteError) in
            try edit.writePolicies(at: now)
        }
    }

    /// Stores this process's retention policy for an archive.
    func setRetention(_ new: RetentionPolicy, on archive: Archive) throws(SQLiteError) {
        // Nothing is swept for this process, and others are not told how long it accepts entries.
        guard !access.isReading else { return }
        let now = clock.now()
        defer { scheduleSweep() }
        let isNew = archive.upkeep.withLock { upkeep in
            guard !upkeep.policies.contains(where: { $0.covers(new) }) else { return false }
            upkeep.policies.removeAll { new.covers($0) }
            upkeep.policies.append(new)
            return true
        }
        guard isNew else { return }
        try withWriter(of: archive) { writer throws(SQLiteError) in
            try writer.prepareSweep(of: archive)
        }
        try writePolicies(of: archive, at: now)
    }
}

extension Writer {
    /// - Returns: `nil` if no entry of the block has expired: then nothing is written. So it is
    ///   with most blocks of an archive that was just opened.
    fileprivate func sweep(
        _ block: Int64,
        of archive: Archive,
        at now: WallInstant,
        limit: Int,
        by clock: WallClock
    ) throws(SQLiteError) -> Commit? {
        let cleared = try contents(of: archive).totals.cleared
        guard
            try tables(of: archive).hasEnded(
                in: block,
                of: archive,
                after: cleared,
                at: now
            )
        else { return nil }
        CrashPoint.reached(.sweepBegins)
        let (_, commit) = try transaction { transaction throws(SQLiteError) in
            // Evaluated again: the thread may have waited, and entries written since under a clock
            // that was set back have not expired.
            try transaction.edit(of: archive).sweep(
                block,
                at: clock.now(),
                limit: limit
            )
        }
        CrashPoint.reached(.sweepCommitted)
        return commit
    }
}
