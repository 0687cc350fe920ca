extension EncodingLog {
    /// What there is before a value is encoded, to be there again if that fails and somebody goes on.
    struct Mark {
        /// The item that the value becomes, or the container that it becomes an entry of.
        fileprivate var item: Int
        fileprivate var asItWas: Item
        fileprivate var bytes: Int
        fileprivate var items: Int
        fileprivate var keys: Int
        fileprivate var detours: Int
    }

    @inline(__always)
    func mark(_ item: Int) -> Mark {
        Mark(item: item, asItWas: items[item], bytes: bytes.count, items: items.count, keys: keys.count, detours: detours.count)
    }

    /// Takes back the entry of a container that was begun at the mark, when the container was current.
    func takeBackEntry(since mark: Mark) {
        let value = mark.items
        guard value == items.count || isAlone(value, since: mark) else { return cut(value, since: mark) }
        truncate(to: mark)
        let container = mark.item
        items[container].count = mark.asItWas.count
        items[container].lastKey = mark.asItWas.lastKey
        current = container
    }

    /// Takes back what was encoded as an item since the mark, when it was undecided.
    func takeBackItem(since mark: Mark) {
        let item = mark.item
        guard mark.asItWas.kind == .undecided else { return }
        guard mark.asItWas.end < 0, isAlone(item, since: mark) else {
            return fail(error(item, "A value failed to encode when others were written already, and somebody went on."))
        }
        truncate(to: mark)
        items[item] = mark.asItWas
        current = item
    }

    /// Whether nothing was written since the mark but by what lies in the item.
    private func isAlone(_ item: Int, since mark: Mark) -> Bool {
        items[item].end < 0 && detours[mark.detours...].allSatisfy { isItem($0.item, within: item) }
    }

    private func isItem(_ item: Int, within other: Int) -> Bool {
        var item = item
        while item > other { item = items[item].parent }
        return item == other
    }

    private func truncate(to mark: Mark) {
        if detours.count > mark.detours {
            detours.removeLast(detours.count - mark.detours)
            beforeDetour = nil
        }
        for item in mark.items..<items.count { drop(item, end: mark.bytes) }
        bytes.truncate(to: mark.bytes)
        keys.truncate(to: mark.keys)
    }

    /// Leaves what others have written since where it is, and the entry out when all is assembled.
    private func cut(_ value: Int, since mark: Mark) {
        let container = mark.item
        endDetour()
        if items[value].end < 0 {
            while current != container { leaveCurrent() }
        }
        let end = items[value].end
        cuts.append(mark.bytes..<end)
        for item in value..<items.count where isItem(item, within: value) { drop(item, end: end) }
        items[container].count -= 1
        unlinkKey(at: mark.bytes, of: container)
    }

    private func drop(_ item: Int, end: Int) {
        items[item].kind = .dropped
        items[item].end = end
        items[item].lastKey = -1
        items[item].mayRepeat = false
    }

    private func unlinkKey(at start: Int, of map: Int) {
        var (key, following) = (items[map].lastKey, -1)
        while key >= 0, keys[key].start != start { (key, following) = (keys[key].previous, key) }
        guard key >= 0 else { return }
        if following >= 0 { keys[following].previous = keys[key].previous } else { items[map].lastKey = keys[key].previous }
    }
}
