// What memory tells its sample of uses: ``UseSample``.

extension MemoryCache {
    /// Begins to sample uses, or changes up to which distance of two uses of an entry it is of
    /// interest.
    package func sampleUses(at now: WallInstant, upTo distance: Int) {
        contents.write { contents, _ in contents.sample.start(at: now, upTo: distance) }
    }

    /// No valid entry was found under the key, neither here nor on the disk.
    @usableFromInline
    package func noteMiss(_ key: EntryKey, at now: WallInstant, under expiration: Expiration) {
        let hash = hash.of(key)
        let isFull = contents.read { contents, notes in
            notes.misses += 1
            guard contents.pointee.sample.mayTake(hash) else { return false }
            notes.uses.append(UsedEntry(missAt: now, hash, under: expiration))
            return notes.uses.count >= ReaderNotes.mostUses
        }
        if isFull { collectDirty() }
    }

    private var hitRatios: HitRatios? {
        contents.write { contents, notes in
            contents.sample.collect(notes)
            return contents.sample.estimate
        }
    }

    /// Returns what the hit ratio would be with other limits of memory and the disk; `nil` if too
    /// little was read.
    ///
    /// - Parameters:
    ///   - memory: The limit of memory, or what it holds, in bytes.
    ///   - disk: The same of the disk.
    package func sizing(memory: Int, disk: Int) -> Sizing? {
        hitRatios.map { ratios in
            Sizing(memory: memory, disk: disk, reads: Int(ratios.reads)) {
                ratios(limit: $0)
            }
        }
    }
}

extension MemoryCache.Contents {
    /// Notes a hit of a key that may be sampled. Returns whether so many are noted that the caller
    /// should collect them.
    @inlinable
    borrowing func note(
        _ slot: Int32,
        _ hash: UInt64,
        at now: WallInstant,
        _ notes: inout ReaderNotes
    ) -> Bool {
        notes.noteHit(
            hash,
            size: entries.list.cost(slot),
            entries.list[metadataOf: slot].validity,
            at: now
        )
    }

    /// An entry was read from the disk, or written.
    @inlinable
    mutating func sample(
        _ kind: UsedEntry.Kind,
        _ item: MemoryCache.Item,
        _ hash: UInt64,
        at now: WallInstant,
        _ notes: AllNotes<ReaderNotes>
    ) {
        sample.collectUses(notes)
        sample.addFromDisk(kind, hash, size: item.cost, item.validity, at: now)
    }
}

extension UseSample {
    /// An entry was read from the disk, or written.
    @usableFromInline
    mutating func addFromDisk(
        _ kind: UsedEntry.Kind,
        _ hash: UInt64,
        size: Int,
        _ validity: Validity,
        at now: WallInstant
    ) {
        noteReads(kind == .read ? 1 : 0, paying: Self.paidByDisk)
        if mayTake(hash) {
            add(UsedEntry(kind, hash, size: size, validity, lastUse: now))
        }
    }

    /// The entry was removed by a caller, or has expired: no limit keeps it.
    @usableFromInline
    mutating func remove(_ hash: UInt64, after notes: AllNotes<ReaderNotes>) {
        collectUses(notes)
        remove(hash)
    }

    /// Takes over the uses that readers have noted: they were before the next.
    @usableFromInline
    mutating func collectUses(_ notes: AllNotes<ReaderNotes>) {
        var hasSome = false
        notes.forEach { hasSome = hasSome || !$0.uses.isEmpty }
        if hasSome { collect(notes) }
    }

    /// Takes over what readers have noted, and counts hits of other keys.
    @usableFromInline
    mutating func collect(_ notes: AllNotes<ReaderNotes>) {
        notes.forEach { notes in
            let hits = notes.hits &- notes.reportedHits
            let misses = notes.misses
            guard hits != 0 || misses != 0 else { return }
            notes.reportedHits = notes.hits
            notes.misses = 0
            noteReads(hits &+ misses, paying: hits &+ misses &* Self.paidByDisk)
            allowWork(until: notes.stamps.latest.instant)
            guard !notes.uses.isEmpty else { return }
            for use in notes.uses { add(use) }
            notes.uses.removeAll(keepingCapacity: true)
        }
    }
}
