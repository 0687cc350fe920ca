internal import VellumCore

// The writes of one call, in a transaction of their own or in that which relaxed writes share.

extension Writer {
    /// Carries out the writes in one transaction, and calls `update` with their outcomes (decision
    /// 54).
    ///
    /// - Parameters:
    ///   - isRelaxed: Whether they may share a transaction with others.
    ///   - isShared: Whether another process has the file open. Asked under SQLite's write lock:
    ///     every process that opens the file waits for it.
    func carryOut(
        _ writes: [ArchiveWrite],
        isRelaxed: Bool,
        sharing isShared: () -> Bool,
        _ update: ([WriteOutcome]) -> Void
    ) throws(SQLiteError) -> Commit {
        // Before a transaction begins: a closed archive must not roll back the writes of others in
        // the batch.
        try check(writes)
        let marksRemovals = lasting.marksRemovals > 0 && writes.allSatisfy { $0.onlyRemoves }
        return isRelaxed && !marksRemovals
            ? try addToBatch(writes, sharing: isShared, update)
            : try commitAlone(writes, marksRemovals: marksRemovals, update)
    }

    private func check(_ writes: [ArchiveWrite]) throws(SQLiteError) {
        for index in writes.indices
        where index == 0 || writes[index].archive !== writes[index - 1].archive {
            // It may have been opened with another version of its cache in this process.
            guard !writes[index].archive.isReplaced else { throw .versionReplaced }
            guard writes[index].archive.isListed else { throw .closedArchive }
        }
    }

    /// Carries out the writes of several calls in one transaction. Those of a call that fails are
    /// undone alone, and the call has the error.
    ///
    /// - Throws: What fails after the last of them, or on a full disk: nothing was written.
    func commit(_ calls: [WriteCall]) throws(SQLiteError) -> Commit {
        try endBatch()
        let transaction = try begin()
        defer { transaction.endChange() }
        let commit: Commit
        do throws(SQLiteError) {
            for call in calls { try apply(call, to: transaction) }
            guard calls.contains(where: { $0.refusal == nil }) else {
                rollBack()
                return Commit(changes: [])
            }
            transaction.beginChange()
            commit = try transaction.commit()
        } catch {
            rollBack()
            throw error
        }
        for call in calls where call.refusal == nil {
            commit.number(&call.outcomes, of: call.writes)
            call.updateMemory(call.outcomes)
        }
        commit.tellOwners()
        CrashPoint.reached(.memoryUpdated)
        return commit
    }

    private func apply(_ call: WriteCall, to transaction: Transaction) throws(SQLiteError) {
        do throws(SQLiteError) {
            call.outcomes = try transaction.attempt { () throws(SQLiteError) in
                try check(call.writes)
                return try apply(call.writes, to: transaction)
            }
        } catch {
            // The rest of the transaction is gone with it.
            guard connection.isInTransaction, !error.isFull else { throw error }
            call.refusal = error
        }
    }

    private func commitAlone(
        _ writes: [ArchiveWrite],
        marksRemovals: Bool,
        _ update: ([WriteOutcome]) -> Void
    ) throws(SQLiteError) -> Commit {
        try endBatch()
        let transaction = try begin(marksRemovals: marksRemovals)
        var outcomes: [WriteOutcome]
        let commit: Commit
        defer { transaction.endChange() }
        do throws(SQLiteError) {
            outcomes = try apply(writes, to: transaction)
            transaction.beginChange()
            commit = try transaction.commit()
        } catch {
            rollBack()
            throw error
        }
        commit.number(&outcomes, of: writes)
        update(outcomes)
        commit.tellOwners()
        CrashPoint.reached(.memoryUpdated)
        return commit
    }

    /// Adds the writes to the transaction that relaxed writes share, and commits that if it is full
    /// or the file is shared.
    private func addToBatch(
        _ writes: [ArchiveWrite],
        sharing isShared: () -> Bool,
        _ update: ([WriteOutcome]) -> Void
    ) throws(SQLiteError) -> Commit {
        noticeLostBatch()
        let transaction = if let batch { batch } else { try begin() }
        // A write that memory does not keep fails if the disk limit is too small for it
        // (``SQLiteError/tooLarge``), and a cache that another process opened with another version
        // refuses it. Neither rolls back the writes of others in the batch.
        let isUndoneAlone =
            !transaction.isEmpty
            && writes.contains { !$0.isKeptInMemory || !transaction.holdsEdit(of: $0.archive) }
        var outcomes: [WriteOutcome]
        do throws(SQLiteError) {
            outcomes =
                isUndoneAlone
                ? try transaction.attempt { () throws(SQLiteError) in
                    try apply(writes, to: transaction)
                }
                : try apply(writes, to: transaction)
        } catch {
            if transaction.isEmpty {
                rollBack()
            } else if !isUndoneAlone || !connection.isInTransaction {
                // The rollback also loses the earlier writes of the transaction, so the owners are
                // notified.
                loseBatch(error)
            }
            throw error
        }
        transaction.beginChange()
        defer { transaction.endChange() }
        var commit = keep(transaction, adding: writes.reduce(0) { $0 + $1.size })
        // The old entry is gone from the file before memory drops its value, so a reader that
        // misses in memory does not find it there.
        CrashPoint.reached(.relaxedWriteApplied)
        if isShared(), let committed = try commitBatch() {
            commit.follow(committed)
            commit.number(&outcomes, of: writes)
        }
        update(outcomes)
        commit.tellOwners()
        CrashPoint.reached(.relaxedWriteInMemory)
        if batch?.isFull ?? false, let committed = try commitBatch() { commit.follow(committed) }
        return commit
    }

    private func apply(
        _ writes: [ArchiveWrite],
        to transaction: Transaction
    ) throws(SQLiteError) -> [WriteOutcome] {
        var outcomes: [WriteOutcome] = []
        outcomes.reserveCapacity(writes.count)
        for index in writes.indices {
            outcomes.append(
                try transaction.edit(of: writes[index].archive).apply(writes[index])
            )
            CrashPoint.reached(.writeApplied)
        }
        return outcomes
    }
}

extension Commit {
    /// Notes in each outcome the number under which its write was announced.
    fileprivate func number(_ outcomes: inout [WriteOutcome], of writes: [ArchiveWrite]) {
        for index in outcomes.indices {
            for change in 0..<changes.count
            where changes[change].archive == writes[index].archive.id {
                outcomes[index].change = changes[change].number
            }
        }
    }
}

extension ArchiveWrite {
    /// The number of bytes that the write stores.
    var size: Int {
        switch operation {
        case .store(let entry), .storeIfAbsent(let entry): entry.bytes.count
        case .renew, .remove, .removeExpired, .removeUnchanged, .removeAll, .removeGroup,
            .announcePrefix, .require:
            0
        }
    }

    /// Whether the write stores nothing.
    var onlyRemoves: Bool {
        switch operation {
        case .store, .storeIfAbsent, .renew: false
        case .remove, .removeExpired, .removeUnchanged, .removeAll, .removeGroup, .announcePrefix,
            .require:
            true
        }
    }

    /// Whether the write stores an entry whose validity depends on its last use.
    var isSliding: Bool {
        switch operation {
        case .store(let entry), .storeIfAbsent(let entry), .renew(let entry, _):
            entry.idle != nil
        case .remove, .removeExpired, .removeUnchanged, .removeAll, .removeGroup, .announcePrefix,
            .require:
            false
        }
    }
}
