// A memory tier of entries is a tier like any other: for stores without a disk, and for holding it to the same laws.

extension MemoryTier: Tier where Payload == Entry {
    public func entry(forKey key: EntryKey) -> Lookup<Entry> {
        peek(key).map { .hit($0.payload) } ?? .miss(.absent)
    }

    public func lastUse(ofKey key: EntryKey) -> UseStamp? { peek(key)?.stamp }

    public func keysByUse(limit: Int, validAt now: WallInstant, under expiration: Expiration) -> [KeyUse] {
        newest(.max).lazy.filter { $0.item.isValid(at: now, $0.key, under: expiration) }.prefix(limit)
            .map { KeyUse(key: $0.key, lastUse: $0.item.stamp, bytes: $0.item.cost) }
    }

    public func commit(_ writes: [TierWrite], durability: Durability, committed: ([WriteOutcome]) -> Void) throws(StoreError) {
        guard writes.allSatisfy({ $0.tier.underlying === self }) else {
            throw StoreError(.differentFiles, "A transaction can only hold writes to one memory tier.")
        }
        // One transaction at a time, and its owner hears of it before the next.
        revisions.withLock { revision in
            committed(writes.map { apply($0, &revision) })
        }
    }

    private func apply(_ write: TierWrite, _ revision: inout UInt32) -> WriteOutcome {
        var outcome = WriteOutcome()
        let present = peek(write.key)
        outcome.wasPresent = present != nil
        if let condition = write.condition {
            let isValid = present?.isValid(at: condition.now, write.key, under: condition.expiration) ?? false
            guard condition.isMet(by: present?.payload.version, isValid: isValid) else {
                outcome.wasDeclined = true
                return outcome
            }
        }
        switch write.change {
        case .storeIfAbsent(let entry) where present?.isValid(at: entry.written, write.key) ?? false:
            outcome.wasDeclined = true
        case .store(let entry), .storeIfAbsent(let entry):
            var held = entry
            held.row = 1  // It has no rows of its own; a store above must only see that the entry is here.
            revision &+= 1
            held.revision = revision
            let leftovers = store(
                held, forKey: write.key, cost: entry.bytes.count, stamp: write.stamp, row: 0, validity: entry.validity,
                wasPresent: outcome.wasPresent)
            outcome.row = entry.bytes.count <= capacity.bytes ? held.row : 0
            outcome.evicted = leftovers.lostKeys
        case .remove, .removeUnchanged:
            _ = remove(write.key)
        case .removeAll:
            outcome.wasPresent = totals().entries > 0
            _ = removeAll()
        }
        return outcome
    }

    public func resize(to capacity: Capacity) -> [EntryKey] { setCapacity(capacity).lostKeys }

    public func removeUnused(before stamp: UseStamp, limit: Int) -> [EntryKey] {
        let cold = newest(.max).reversed().prefix { $0.item.stamp < stamp }.prefix(limit).map(\.key)
        for key in cold { _ = remove(key) }
        return cold
    }

    // Nothing lies below that would have to be told, synced or let go of.
    public func attach(to owner: any TierOwner) {}
    public func usesAreWaiting(isPressing: Bool) {}
    public func record(uses: [Use]) {}
    public func flush() {}

    public func close() { _ = removeAll() }
}
