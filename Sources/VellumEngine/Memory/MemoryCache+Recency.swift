public import VellumCore

// The order of use: what the disk asks of memory, and takes from it in batches.

extension MemoryCache {
    /// Returns the last use of an entry, if memory knows it.
    @usableFromInline package func lastUse(ofKey key: EntryKey, entryID: Int64) -> UseStamp? {
        state.withLock { state in
            if let item = state.list.peek(key), item.entryID == entryID { return item.stamp }
            return state.recency.stamp(entryID: entryID)
        }
    }

    /// Makes every later stamp greater than this one.
    @usableFromInline package func raiseStamp(to stamp: UseStamp) {
        state.withLock { $0.lastStamp = max($0.lastStamp, stamp) }
    }

    /// Takes at most `limit` touches that are not on disk, until ``finishTouches(written:)``. O(limit), plus O(n log n) when n touches are
    /// drained.
    @usableFromInline package func takeTouches(limit: Int) -> [Touch] {
        var (uses, isMore) = ([Touch](), true)
        while uses.count < limit, isMore {
            let left = limit - uses.count
            let sorted = state.withLock { $0.recency.drain() }.sorted { $0.entryID > $1.entryID }
            let taken: [Touch]
            (taken, isMore) = state.withLock { state in
                if !sorted.isEmpty { state.recency.enqueue(sorted) }
                let present = state.list.takeDirty(left)
                state.recency.take(present)
                return (present + state.recency.take(left - present.count), state.recency.hasWaiting)
            }
            uses += taken
        }
        return uses
    }

    /// Ends ``takeTouches(limit:)``. Touches that were not written are pending again. O(touches taken).
    @usableFromInline package func finishTouches(written: Bool) {
        state.withLock { $0.recency.finish(written: written) }
    }

    /// Returns all touches that may not be on disk yet, without taking them. O(touches).
    @usableFromInline package func pendingTouches() -> [Touch] {
        let (present, others) = state.withLock { ($0.list.pendingDirty(), $0.recency) }
        return present + others.all.map { Touch(entryID: $0.key, stamp: $0.value) }
    }

    /// An upper bound of the number of touches to take.
    @usableFromInline package var pendingTouchCount: Int { state.withLock { $0.list.dirtyCount + $0.recency.count } }
}
