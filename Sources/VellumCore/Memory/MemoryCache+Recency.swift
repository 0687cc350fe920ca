// The order of use: what the disk asks of memory, and takes from it in batches.

extension MemoryCache {
    /// Returns the last use of an entry, if memory knows it.
    @usableFromInline package func lastUse(ofKey key: EntryKey, entryID: Int64) -> UseStamp? {
        let hash = hash.of(key)
        return contents.read { contents, _ in
            if let item = contents.pointee.entries.peek(key, hash: hash), item.entryID == entryID {
                return item.stamp
            }
            return contents.pointee.recency.stamp(entryID: entryID)
        }
    }

    /// Makes every later stamp greater than this one.
    @usableFromInline package func raiseStamp(to stamp: UseStamp) {
        contents.write { _, notes in notes.raise(to: stamp) }
    }

    /// Takes over what readers have noted.
    @usableFromInline
    func collectDirty() { contents.write { contents, notes in contents.collectDirty(notes) } }

    /// Takes at most `limit` touches that are not on disk, until ``finishTouches(written:)``.
    /// O(limit), plus O(n log n) when n touches are drained.
    @usableFromInline package func takeTouches(limit: Int) -> [Touch] {
        var uses = [Touch]()
        var isMore = true
        while uses.count < limit, isMore {
            let sorted = contents.write { contents, _ in contents.recency.drain() }.sorted {
                $0.entryID > $1.entryID
            }
            contents.write { contents, notes in
                if !sorted.isEmpty { contents.recency.enqueue(sorted) }
                contents.collectDirty(notes)
                let present = contents.entries.takeDirty(limit - uses.count)
                contents.recency.take(present)
                uses += present
                uses += contents.recency.take(limit - uses.count)
                isMore = contents.recency.hasWaiting
            }
        }
        return uses
    }

    /// Ends ``takeTouches(limit:)``. Touches that were not written are pending again. O(touches
    /// taken).
    @usableFromInline package func finishTouches(written: Bool) {
        contents.write { contents, _ in contents.recency.finish(written: written) }
    }

    /// Returns all touches that may not be on disk yet, without taking them. O(touches).
    @usableFromInline package func pendingTouches() -> [Touch] {
        contents.write { contents, notes in
            contents.collectDirty(notes)
            return contents.entries.pendingDirty()
                + contents.recency.all.map { Touch(entryID: $0.key, stamp: $0.value) }
        }
    }

    /// An upper bound of the number of touches to take.
    @usableFromInline package var pendingTouchCount: Int {
        contents.write { contents, notes in
            contents.collectDirty(notes)
            return contents.entries.dirtyCount + contents.recency.count
        }
    }
}

extension MemoryCache.Contents {
    @usableFromInline
    mutating func collectDirty(_ notes: AllNotes<ReaderNotes>) {
        notes.forEach { notes in
            guard !notes.dirty.isEmpty else { return }
            entries.noteDirty(notes.dirty)
            notes.dirty.removeAll(keepingCapacity: true)
        }
        sample.collect(notes)
    }
}
