// The order of use: what the disk asks of memory, and takes from it in batches.

extension MemoryCache {
    /// Returns the last use of an entry, if memory knows it.
    @usableFromInline package func lastUse(ofKey key: EntryKey, entryID: Int64) -> UseStamp? {
        parts.withLock(index(of: key)) { part in
            if let item = part.list.peek(key), item.entryID == entryID { return item.stamp }
            return shared.withLock { $0.recency.stamp(entryID: entryID) }
        }
    }

    /// Makes every later stamp greater than this one.
    @usableFromInline package func raiseStamp(to stamp: UseStamp) { parts.clock.raise(to: stamp) }

    /// Takes at most `limit` touches that are not on disk, until ``finishTouches(written:)``. O(limit), plus O(n log n) when n touches are
    /// drained.
    @usableFromInline package func takeTouches(limit: Int) -> [Touch] {
        var (uses, isMore) = ([Touch](), true)
        while uses.count < limit, isMore {
            let sorted = shared.withLock { $0.recency.drain() }.sorted { $0.entryID > $1.entryID }
            if !sorted.isEmpty { shared.withLock { $0.recency.enqueue(sorted) } }
            // From where the last call ended: constant hits of one part must not keep the others waiting.
            let first = shared.withLock { $0.nextPart }
            for step in 0..<parts.count where uses.count < limit {
                uses += takeTouches(ofPart: (first + step) % parts.count, limit: limit - uses.count)
            }
            let left = limit - uses.count
            let (others, hasWaiting) = shared.withLock { ($0.recency.take(left), $0.recency.hasWaiting) }
            uses += others
            isMore = hasWaiting
        }
        return uses
    }

    private func takeTouches(ofPart number: Int, limit: Int) -> [Touch] {
        parts.withLock(number) { part in
            let present = part.list.takeDirty(limit)
            shared.withLock { shared in
                if !present.isEmpty { shared.recency.take(present) }
                shared.nextPart = (number + 1) % parts.count
            }
            return present
        }
    }

    /// Ends ``takeTouches(limit:)``. Touches that were not written are pending again. O(touches taken).
    @usableFromInline package func finishTouches(written: Bool) {
        shared.withLock { $0.recency.finish(written: written) }
    }

    /// Returns all touches that may not be on disk yet, without taking them. O(touches).
    @usableFromInline package func pendingTouches() -> [Touch] {
        var touches: [Touch] = []
        var others: RecencyBuffer?
        parts.updateAll { part in
            if others == nil { others = shared.withLock { $0.recency } }
            touches += part.list.pendingDirty()
        }
        return touches + (others?.all ?? [:]).map { Touch(entryID: $0.key, stamp: $0.value) }
    }

    /// An upper bound of the number of touches to take.
    @usableFromInline package var pendingTouchCount: Int {
        let others = shared.withLock { $0.recency.count }
        return (0..<parts.count).reduce(others) { $0 + parts.withLock($1, \.list.dirtyCount) }
    }
}
