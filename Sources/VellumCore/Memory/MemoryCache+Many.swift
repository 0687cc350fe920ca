// Many keys in one visit.

extension MemoryCache {
    /// What memory has under many keys.
    @usableFromInline
    package struct Visit {
        /// In the order of the keys; `nil` where there is no valid payload.
        @usableFromInline package var payloads: [Payload?] = []
        /// For each key without a payload, in their order, what ``fill(_:_:at:)`` needs.
        @usableFromInline var tickets: [FillTicket] = []
        /// Whether touches are pending for the disk that were not before.
        @usableFromInline package var notifiesDisk = false
        @usableFromInline var hasManyDirty = false
        @usableFromInline var hasManyUses = false
        /// Up to which change by other processes memory was followed.
        @usableFromInline var generation: UInt64 = 0

        @inlinable
        init() {}

        /// A visit that found these, and has nothing to fill.
        package init(payloads: [Payload?]) {
            self.payloads = payloads
            tickets = payloads.filter { $0 == nil }.map { _ in nil }
        }
    }

    /// Whether no other process has announced a change of any of the keys since a visit.
    @usableFromInline
    package func isCurrent(_ visit: Visit, _ keys: [EntryKey]) -> Bool {
        guard let feed, let now = generation?.value, now != visit.generation else { return true }
        let changes = feed.changes(after: visit.generation, through: now)
        return !keys.contains { changes.mayContain(hash.of($0)) }
    }

    /// Returns what only memory has of the keys, in their order, and what is to be released without
    /// a lock.
    package func memoryOnly(
        of keys: [EntryKey],
        at now: WallInstant,
        under expiration: Expiration
    ) -> (payloads: [Payload?], forgotten: [Payload]) {
        var forgotten: [Payload] = []
        let payloads = contents.write { contents, _ in
            if !isFresh(contents) { catchUp(&contents, &forgotten) }
            return keys.map { key -> Payload? in
                guard let item = contents.entries.peek(key, hash: hash.of(key)),
                    item.entryID == 0,
                    item.isValid(at: now, key, under: expiration)
                else { return nil }
                return item.payload
            }
        }
        return (payloads, forgotten)
    }

    /// Returns the valid payloads under the keys. Affects the eviction order. One visit for all,
    /// under one lock.
    ///
    /// - Complexity: O(keys).
    @inlinable
    package func use(
        all keys: [EntryKey],
        at now: WallInstant,
        under expiration: Expiration
    ) -> Visit {
        let hashes = keys.map(hash.of)
        while true {
            let visit = contents.read { contents, notes -> Visit? in
                guard isFresh(contents.pointee) else { return nil }
                var visit = Visit()
                visit.payloads.reserveCapacity(keys.count)
                visit.tickets.reserveCapacity(keys.count)
                for (key, hash) in zip(keys, hashes) {
                    use(key, hash, (now, expiration), contents, &notes, &visit)
                }
                visit.generation = contents.pointee.lastSeenGeneration
                visit.hasManyDirty = notes.dirty.count >= Notes.mostDirty
                return visit
            }
            guard let visit else {
                catchUp()
                continue
            }
            if visit.hasManyDirty || visit.hasManyUses { collectDirty() }
            return visit
        }
    }

    @inlinable
    func use(
        _ key: EntryKey,
        _ hash: UInt64,
        _ moment: (now: WallInstant, expiration: Expiration),
        _ contents: UnsafePointer<Contents>,
        _ notes: inout Notes,
        _ visit: inout Visit
    ) {
        guard let slot = contents.pointee.entries.list.slot(of: key, hash: hash),
            contents.pointee.entries.isValid(slot, at: moment.now, key, under: moment.expiration)
        else {
            // While another process writes the key, the disk may return either value.
            let isChanging = feed?.isChanging(key) ?? false
            visit.tickets.append(
                isChanging ? nil : contents.pointee.versions.ticket(stripe(of: hash))
            )
            return visit.payloads.append(nil)
        }
        notes.hits &+= 1
        if contents.pointee.sample.mayTake(hash),
            contents.pointee.note(slot, hash, at: moment.now, &notes)
        {
            visit.hasManyUses = true
        }
        if contents.pointee.entries.touch(slot, notes.stamps.next(at: moment.now)) {
            notes.dirty.append(slot)
            if notes.dirty.count == 1 { visit.notifiesDisk = true }
        }
        visit.payloads.append(contents.pointee.entries.list.payload(slot) { copy $0 })
    }

    /// Stores entries that were just read, each as used now, unless its key was written since the
    /// visit. Affects the eviction order.
    ///
    /// - Parameter items: For each key that the visit did not find, in their order; `nil` where
    ///   nothing was read.
    /// - Complexity: O(items).
    @inlinable
    package func fill(
        _ items: [(key: EntryKey, item: Item)?],
        _ visit: Visit,
        at now: WallInstant
    ) -> DeferredEffects {
        changing { contents, notes, effects in
            var notifiesDisk = false
            for (entry, ticket) in zip(items, visit.tickets) {
                guard let (key, item) = entry else { continue }
                let hash = hash.of(key)
                contents.sample(.read, item, hash, at: now, notes)
                contents.fill(
                    item.used(notes.next(at: now)),
                    key,
                    hash: hash,
                    ticket,
                    &effects
                )
                notifiesDisk = notifiesDisk || effects.notifiesDisk
            }
            effects.notifiesDisk = notifiesDisk
        }
    }
}
