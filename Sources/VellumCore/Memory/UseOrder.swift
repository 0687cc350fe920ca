/// The order of use of the slots of an ``LRUList``, brought up to date when the oldest is asked
/// for: a heap, the earliest stamp first.
///
/// A slot's stamp here may be older than its last use, and is never later. So a slot whose stamp is
/// that of its last use, and which is first, is the least recently used of all. One that was used
/// since is given its stamp and finds its place.
///
/// - Complexity: O(log n) for every operation; O(1) to insert a slot that is newer than all others.
@usableFromInline
package struct UseOrder: Sendable {
    @usableFromInline var places: ContiguousArray<(slot: Int32, stamp: UseStamp)>

    /// - Complexity: O(n).
    @usableFromInline
    init(_ slots: [(slot: Int32, stamp: UseStamp)]) {
        places = ContiguousArray(slots)
        for index in (0..<places.count / 2).reversed() { sink(index) }
    }

    var count: Int { places.count }

    @inlinable var first: (slot: Int32, stamp: UseStamp)? { places.first }

    @inlinable
    mutating func insert(_ slot: Int32, _ stamp: UseStamp) {
        let place = (slot: slot, stamp: stamp)
        places.append(place)
        var index = places.count - 1
        while index > 0, stamp < places[(index - 1) / 2].stamp {
            places[index] = places[(index - 1) / 2]
            index = (index - 1) / 2
        }
        places[index] = place
    }

    @inlinable
    mutating func removeFirst() {
        let last = places.removeLast()
        guard !places.isEmpty else { return }
        places[0] = last
        sink(0)
    }

    /// Gives the first slot a later stamp.
    @inlinable
    mutating func delayFirst(until stamp: UseStamp) {
        places[0].stamp = stamp
        sink(0)
    }

    @inlinable
    mutating func sink(_ start: Int) {
        let place = places[start]
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < places.count else { break }
            if child + 1 < places.count, places[child + 1].stamp < places[child].stamp {
                child += 1
            }
            guard places[child].stamp < place.stamp else { break }
            places[index] = places[child]
            index = child
        }
        places[index] = place
    }

    func checkInvariants() {
        for index in places.indices.dropFirst() {
            precondition(
                places[(index - 1) / 2].stamp <= places[index].stamp,
                "No slot is before an older one."
            )
        }
    }
}
