internal import Synchronization
internal import VellumCore

// The limits of archives: requested when a store is opened, granted, and changed on disk.

extension DatabaseFile {
    /// Raises the limits of an open store where larger ones are requested.
    ///
    /// - Returns: What could not be granted, if `policy` is to share the store anyway; otherwise `nil`.
    /// - Throws: ``VellumError/Code/contradiction`` for what cannot be granted, if `policy` is to refuse.
    func grant<Value>(_ options: StoreOptions<Value>, to store: Store<Value>, _ name: String) throws(VellumError) -> VellumError? {
        let (memory, disk, durability) = (options.memory, options.disk, options.durability)
        // Another process may have raised the limit.
        let isKnown = disk == nil || state == .suspended
        let open = isKnown ? store.capacities : try store.currentCapacities()
        let isMemoryGranted = memory?.isAtLeast(open.memory) ?? true
        let isDiskGranted = disk?.isAtLeast(open.disk) ?? true
        var refused: VellumError?
        if !isMemoryGranted || !isDiskGranted || durability != store.durability {
            let requested = (memory: memory ?? open.memory, disk: disk ?? open.disk)
            refused = .openWithOtherLimits(name, path, open, store.durability, requested: requested, durability)
        }
        if let refused, options.policy == .refuse { throw refused }
        if let memory, isMemoryGranted { store.raise(memory: memory) }
        if let disk, isDiskGranted { try store.raise(disk: disk) }
        _ = stores.giveSizes(to: store, memory: memory != nil && isMemoryGranted, disk: disk != nil && isDiskGranted)
        return refused
    }

    /// Applies the sizes that are the first to be given since the store was opened, and logs one notice if others are ignored.
    func keepFirst<Value>(_ options: StoreOptions<Value>, of store: Store<Value>, _ name: String) throws(VellumError) {
        let (isFirstOfMemory, isFirstOfDisk) = stores.giveSizes(to: store, memory: options.memory != nil, disk: options.disk != nil)
        if isFirstOfMemory, let memory = options.memory { store.resize(memory: memory) }
        if isFirstOfDisk, let disk = options.disk {
            do throws(VellumError) {
                try store.resize(disk: disk)
            } catch {
                stores.takeBackDiskSize(of: store)
                throw error
            }
        }
        let open = store.capacities
        let requested = (memory: options.memory ?? open.memory, disk: options.disk ?? open.disk)
        if store.durability != options.durability {
            let refused = VellumError.openWithOtherLimits(name, path, open, store.durability, requested: requested, options.durability)
            if stores.isFirstNotice(of: name) { Log.notice("\(refused)") }
            store.report(refused)
        } else if requested != open, stores.isFirstNotice(of: name) {
            Log.sizesIgnored(name, open, requested: requested)
        }
    }

    /// Logs a lowered limit. Called without a lock.
    func finish(_ outcome: LimitOutcome, of archive: Archive) {
        if outcome.isLowered { Log.limitLowered(archive.name, outcome.change) }
    }

    /// Changes the disk limit of an archive and evicts entries above it, in small transactions. Call ``finish(_:of:)`` afterwards.
    ///
    /// - Parameter newLimit: Returns the new limit for the stored one and the number of bytes held.
    func setLimit(
        of archive: Archive, _ newLimit: (_ stored: StoredLimit, _ held: Int64) -> StoredLimit
    ) throws(SQLiteError) -> LimitOutcome {
        // Usually the limit is unchanged and not exceeded: then nothing is written.
        let unchanged = try withWriter(of: archive) { (writer) throws(SQLiteError) -> LimitOutcome? in
            try writer.commitBatch()
            writer.forgetContents()
            let totals = try writer.contents(of: archive).totals
            let capacity = archive.limit.capacity(of: totals.limit)
            let isOver = capacity.isExceeded(byBytes: Int(totals.bytes), entries: Int(totals.entries))
            let isSame = newLimit(totals.limit, totals.bytes) == totals.limit
            return isSame && !isOver ? LimitOutcome(before: totals.limit, after: totals.limit) : nil
        }
        if let unchanged { return unchanged }
        var outcome: LimitOutcome?
        while true {
            let before = outcome
            let step = try inTransaction(archive) { (edit) throws(SQLiteError) in
                try edit.setLimit { stored, held in before == nil ? newLimit(stored, held) : stored }
            }
            guard let step else { throw .closedArchive }
            archive.note(step.after)
            CrashPoint.reached(.shrinkBatchCommitted)
            outcome = before?.followed(by: step) ?? step
            if !step.isOver { break }
            // Nothing was left to evict, although the totals exceed the limit: they are damaged.
            if step.removed.isEmpty { throw SQLiteError(code: SQLiteError.corrupt, message: "The archive's totals are wrong.") }
        }
        guard let outcome else { throw .closedArchive }
        return outcome
    }
}

extension ArchiveEdit {
    /// Changes the limit, and evicts some of the entries above it.
    fileprivate func setLimit(_ newLimit: (StoredLimit, Int64) -> StoredLimit) throws(SQLiteError) -> LimitOutcome {
        let (before, held) = (state.totals.limit, usage.bytes)
        let after = newLimit(before, Int64(held))
        state.totals.limit = after
        let removed = try evict(atMost: isOnFullDisk ? 16 : 512)
        return LimitOutcome(before: before, after: after, removed: removed, removedBytes: held - usage.bytes, isOver: isOverLimit)
    }
}

extension VellumError {
    fileprivate static func openWithOtherLimits(
        _ name: String, _ path: String, _ open: (memory: Capacity, disk: Capacity), _ openDurability: Durability,
        requested: (memory: Capacity, disk: Capacity), _ durability: Durability
    ) -> VellumError {
        guard openDurability == durability else {
            return VellumError(
                .contradiction,
                """
                The archive is open with the durability \(openDurability) and was requested with \(durability). All handles of an open archive \
                share one durability: request \(openDurability), or close the archive first.
                """
            ).located(archive: Log.displayed(name), path: path)
        }
        func list(_ limits: (memory: Capacity, disk: Capacity)) -> String {
            "\(limits.memory) of memory and \(limits.disk) of disk"
        }
        return VellumError(
            .contradiction,
            """
            The archive is open with \(list(open)), and was requested with \(list(requested)). While an archive is open, its limits can only \
            be raised. Request at least the same, or close it first.
            """
        ).located(archive: Log.displayed(name), path: path)
    }
}
