extension EncodingBuffer {
    /// The state of the buffer before a value is encoded. It is restored if the value throws and
    /// the caller catches the error.
    struct Savepoint {
        /// The item that the value is encoded as, or the container that it is an entry of.
        fileprivate var item: Int
        fileprivate var savedItem: Item
        fileprivate var bytes: Int
        fileprivate var items: Int
        fileprivate var keys: Int
        fileprivate var lateSegments: Int
    }

    @inline(__always)
    func savepoint(_ item: Int) -> Savepoint {
        Savepoint(
            item: item,
            savedItem: items[item],
            bytes: bytes.count,
            items: items.count,
            keys: keys.count,
            lateSegments: lateSegments.count
        )
    }

    /// Removes the container entry that was started at the savepoint. The container was current at
    /// that time.
    func rollBackEntry(to savepoint: Savepoint) {
        let value = savepoint.items
        guard value == items.count || isOnlyWriter(value, since: savepoint) else {
            return remove(value, since: savepoint)
        }
        truncate(to: savepoint)
        let container = savepoint.item
        items[container].count = savepoint.savedItem.count
        items[container].lastKey = savepoint.savedItem.lastKey
        current = container
    }

    /// Removes everything encoded as an item since the savepoint. The item was undecided at that
    /// time.
    func rollBackItem(to savepoint: Savepoint) {
        let item = savepoint.item
        guard savepoint.savedItem.kind == .undecided else { return }
        guard savepoint.savedItem.end < 0, isOnlyWriter(item, since: savepoint) else {
            return fail(
                error(
                    item,
                    """
                    A value threw after other values had been written, and the error was caught. \
                    Let it pass.
                    """
                )
            )
        }
        truncate(to: savepoint)
        items[item] = savepoint.savedItem
        current = item
    }

    /// Whether everything written since the savepoint is inside the item.
    private func isOnlyWriter(_ item: Int, since savepoint: Savepoint) -> Bool {
        items[item].end < 0
            && lateSegments[savepoint.lateSegments...].allSatisfy { isItem($0.item, within: item) }
    }

    private func isItem(_ item: Int, within other: Int) -> Bool {
        var item = item
        while item > other { item = items[item].parent }
        return item == other
    }

    private func truncate(to savepoint: Savepoint) {
        if lateSegments.count > savepoint.lateSegments {
            lateSegments.removeLast(lateSegments.count - savepoint.lateSegments)
            resumedAfterLateSegment = nil
        }
        for item in savepoint.items..<items.count { drop(item, end: savepoint.bytes) }
        bytes.truncate(to: savepoint.bytes)
        keys.truncate(to: savepoint.keys)
    }

    /// Marks the bytes of the entry as removed. Bytes that other items have written since remain in
    /// the buffer.
    private func remove(_ value: Int, since savepoint: Savepoint) {
        let container = savepoint.item
        endLateSegment()
        if items[value].end < 0 {
            while current != container { leaveCurrent() }
        }
        let end = items[value].end
        removedRanges.append(savepoint.bytes..<end)
        for item in value..<items.count where isItem(item, within: value) {
            drop(item, end: end)
        }
        items[container].count -= 1
        unlinkKey(at: savepoint.bytes, of: container)
    }

    private func drop(_ item: Int, end: Int) {
        items[item].kind = .dropped
        items[item].end = end
        items[item].lastKey = -1
        items[item].mayHaveDuplicates = false
    }

    private func unlinkKey(at start: Int, of map: Int) {
        var key = items[map].lastKey
        var following = -1
        while key >= 0, keys[key].start != start {
            following = key
            key = keys[key].previous
        }
        guard key >= 0 else { return }
        if following >= 0 {
            keys[following].previous = keys[key].previous
        } else {
            items[map].lastKey = keys[key].previous
        }
    }
}
