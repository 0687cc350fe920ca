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

        @inlinable
        init() {}
    }

    /// Returns the valid payloads under the keys. Affects the eviction order. One visit for all, under one lock.
    ///
    /// - Complexity: O(keys).
    @inlinable
    package func use(all keys: [EntryKey], at now: WallInstant, under expiration: Expiration) -> Visit {
        let hashes = keys.map(hash.of)
        while true {
            let visit = contents.read { contents, notes -> Visit? in
                guard isFresh(contents.pointee) else { return nil }
                var visit = Visit()
                visit.payloads.reserveCapacity(keys.count)
                visit.tickets.reserveCapacity(keys.count)
                for (key, hash) in zip(keys, hashes) { use(key, hash, (now, expiration), contents, &notes, &visit) }
                visit.hasManyDirty = notes.dirty.count >= Notes.mostDirty
                return visit
            }
            guard let visit else {
                catchUp()
                continue
            }
            if visit.hasManyDirty { collectDirty() }
            return visit
        }
    }

    @inlinable
    func use(
        _ key: EntryKey, _ hash: UInt64, _ moment: (now: WallInstant, expiration: Expiration), _ contents: UnsafePointer<Contents>,
        _ notes: inout Notes, _ visit: inout Visit
    ) {
        guard let slot = contents.pointee.entries.list.slot(of: key, hash: hash),
            contents.pointee.entries.isValid(slot, at: moment.now, key, under: moment.expiration)
        else {
            // While another process writes the key, the disk may return either value.
            let isChanging = feed?.isChanging(key) ?? false
            visit.tickets.append(isChanging ? nil : contents.pointee.versions.ticket(stripe(of: hash)))
            return visit.payloads.append(nil)
        }
        notes.hits &+= 1
        if contents.pointee.entries.touch(slot, notes.stamps.next(at: moment.now)) {
            notes.dirty.append(slot)
            if notes.dirty.count == 1 { visit.notifiesDisk = true }
        }
        visit.payloads.append(contents.pointee.entries.list.payload(slot) { copy $0 })
    }

    /// Stores entries that were just read, each as used now, unless its key was written since the visit. Affects the eviction order.
    ///
    /// - Parameter items: For each key that the visit did not find, in their order; `nil` where nothing was read.
    /// - Complexity: O(items).
    @inlinable
    package func fill(_ items: [(key: EntryKey, item: Item)?], _ visit: Visit, at now: WallInstant) -> DeferredEffects {
        changing { contents, notes, effects in
            var notifiesDisk = false
            for (entry, ticket) in zip(items, visit.tickets) {
                guard let (key, item) = entry else { continue }
                contents.fill(item.used(notes.next(at: now)), key, hash: hash.of(key), ticket, &effects)
                notifiesDisk = notifiesDisk || effects.notifiesDisk
            }
            effects.notifiesDisk = notifiesDisk
        }
    }
}
