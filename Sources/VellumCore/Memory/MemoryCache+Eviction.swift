// What happens inside all locks, and evicting what exceeds the limit then.

extension MemoryCache {
    @usableFromInline typealias Pace = LRUList<EntryKey, Payload, EntryFacts>.Pace

    /// Evicts entries until memory holds at most so many bytes. Entries on disk stay there.
    /// O(evicted).
    @usableFromInline package func trim(toBytes bytes: Int) -> DeferredEffects {
        var effects = DeferredEffects()
        var pace = Pace()
        evict(&effects, &pace) { $0.entries.list.totalCost > max(0, bytes) }
        return effects
    }

    /// Evicts entries that are on disk until memory holds at most this part of its bytes, or
    /// nothing else. O(n log n).
    @usableFromInline package func trim(toFraction fraction: Double) -> DeferredEffects {
        var effects = DeferredEffects()
        let (held, slots) = contents.read { contents, _ in
            (
                contents.pointee.entries.list.totalCost,
                contents.pointee.entries.list.slots { $0.entryID != 0 }
            )
        }
        let bytes = Int(Double(held) * fraction)
        var left = slots.sorted { $0.stamp < $1.stamp }[...]
        while !left.isEmpty {
            // A few at a time, so that no reader waits for long.
            let next = left.prefix(64)
            left = left.dropFirst(64)
            contents.write { contents, _ in
                for (slot, stamp) in next where contents.entries.list.totalCost > bytes {
                    contents.evict(slot, ifUsedAt: stamp, &effects)
                }
            }
        }
        return effects
    }

    /// Changes the contents, evicts what exceeds the limit then, and sets the stamps of all locks
    /// to the latest.
    @inlinable
    func changing(
        _ change: (inout Contents, AllNotes<Notes>, inout DeferredEffects) -> Void
    ) -> DeferredEffects {
        var effects = DeferredEffects()
        var pace = Pace()
        let isOver = contents.write { contents, notes in
            change(&contents, notes, &effects)
            notes.align()
            for _ in 0..<64 {
                guard contents.isOverCapacity, contents.evictOldest(&pace, &effects) else { break }
            }
            return contents.isOverCapacity
        }
        if isOver { evict(&effects, &pace) { $0.isOverCapacity } }
        return effects
    }

    /// Evicts a few entries at a time, so that no reader waits for long.
    @usableFromInline
    func evict(
        _ effects: inout DeferredEffects,
        _ pace: inout Pace,
        while isOver: (borrowing Contents) -> Bool
    ) {
        var isDone = false
        while !isDone {
            isDone = contents.write { contents, _ in
                pace.begin(contents.entries.list.count)
                for _ in 0..<64 {
                    guard isOver(contents), contents.entries.list.count > 0 else { return true }
                    guard contents.evictOldest(&pace, &effects) else { return false }
                }
                return false
            }
        }
    }
}

extension MemoryCache.Contents {
    /// Records the generation that a commit of this process created.
    ///
    /// - Returns: Whether no later change by another process is known.
    @inlinable
    mutating func take(_ change: OwnChange?) -> Bool {
        guard let change else { return true }
        if lastSeenGeneration == change.previous { lastSeenGeneration = change.last }
        return lastSeenGeneration <= change.last
    }

    @inlinable
    mutating func put(
        _ item: MemoryCache.Item,
        _ key: EntryKey,
        hash: UInt64,
        _ effects: inout MemoryCache.DeferredEffects
    ) {
        let hadUses = entries.hasDirty
        guard item.cost <= capacity.bytes else {
            if let old = entries.remove(key, hash: hash) {
                effects.payloads.append(old.payload)
            }
            effects.payloads.append(item.payload)
            if item.isDirty {
                effects.notifiesDisk = !recency.hasWaiting
                recency.add(entryID: item.entryID, stamp: item.stamp)
            }
            return
        }
        if let old = entries.insert(item, forKey: key, hash: hash) {
            effects.payloads.append(old.payload)
        }
        effects.notifiesDisk = item.isDirty && !hadUses
    }

    /// Stores an entry that was just read, unless its key was written since the ticket was issued.
    @inlinable
    mutating func fill(
        _ item: MemoryCache.Item,
        _ key: EntryKey,
        hash: UInt64,
        _ ticket: MemoryCache.FillTicket,
        _ effects: inout MemoryCache.DeferredEffects
    ) {
        guard let ticket, versions.isCurrent(ticket), item.cost <= capacity.bytes else {
            effects.payloads.append(item.payload)
            guard item.isDirty else { return }
            effects.notifiesDisk = !recency.hasWaiting
            recency.add(entryID: item.entryID, stamp: item.stamp)
            effects.isUrgent = recency.count > Self.mostPending
            return
        }
        recency.remove(entryID: item.entryID)
        put(item, key, hash: hash, &effects)
    }

    /// - Returns: Whether an entry was evicted.
    @inlinable
    mutating func evictOldest(
        _ pace: inout MemoryCache.Pace,
        _ effects: inout MemoryCache.DeferredEffects
    ) -> Bool {
        guard let slot = entries.list.oldest(&pace),
            let (key, item) = entries.remove(slot)
        else {
            return false
        }
        effects.payloads.append(item.payload)
        effects.evictions += 1
        if item.entryID == 0 { effects.lostKeys.append(key) } else { keepUse(of: item) }
        effects.isUrgent = recency.count > Self.mostPending
        return true
    }

    /// Evicts the entry in the slot, if it is on disk and was not used since.
    mutating func evict(
        _ slot: Int32,
        ifUsedAt stamp: UseStamp,
        _ effects: inout MemoryCache.DeferredEffects
    ) {
        guard let item = entries.list.held(slot), item.entryID != 0, item.stamp == stamp,
            let (_, removed) = entries.remove(slot)
        else {
            return
        }
        effects.payloads.append(removed.payload)
        effects.evictions += 1
        keepUse(of: removed)
    }

    /// Keeps the last use of an entry that leaves memory, until it is on disk.
    @inlinable
    mutating func keepUse(of item: MemoryCache.Item) {
        if item.entryID != 0, item.isDirty {
            recency.add(entryID: item.entryID, stamp: item.stamp)
        }
    }
}
