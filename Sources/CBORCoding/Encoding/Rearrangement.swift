internal import Foundation

/// Brings what came for items that had been left to its place, and leaves out what failed.
struct Rearrangement {
    private let log: EncodingLog
    /// The items with a head, in the order of the bytes.
    private let items: [Int]
    private let detours: [Int: [EncodingLog.Detour]]
    private let cuts: ArraySlice<Range<Int>>
    private var output: GrowingBuffer<UInt8>

    init(_ log: EncodingLog) {
        self.log = log
        items = (0..<log.items.count).filter { log.items[$0].hasHead }.sorted { log.items[$0].start < log.items[$1].start }
        detours = Dictionary(grouping: log.detours) { $0.item }
        cuts = Self.sorted(log.cuts)
        output = GrowingBuffer(capacity: log.bytes.count * 2)
    }

    /// By where they begin; one that holds another comes before it.
    private static func sorted(_ holes: [Range<Int>]) -> ArraySlice<Range<Int>> {
        holes.filter { !$0.isEmpty }.sorted { ($0.lowerBound, -$0.upperBound) < ($1.lowerBound, -$1.upperBound) }[...]
    }

    consuming func data() -> Data {
        defer { output.free() }
        let holes = log.detours.map { $0.start..<$0.end } + log.cuts
        append(0..<log.bytes.count, without: Self.sorted(holes))
        return Data(bytes: output.base, count: output.count)
    }

    /// Writes a stretch of the bytes: each item in it with all that came for it, and nothing that lies in a hole.
    private mutating func append(_ stretch: Range<Int>, without holes: ArraySlice<Range<Int>>) {
        var done = stretch.lowerBound
        var holes = holes.drop { $0.lowerBound < done }
        while done < stretch.upperBound {
            // What begins here and reaches further is a hole in what is around this.
            while let hole = holes.first, stretch.contains(hole.lowerBound), hole.upperBound > stretch.upperBound { holes.removeFirst() }
            let item = firstItem(from: done)
            let next = min(item.map { log.items[$0].start } ?? .max, stretch.upperBound)
            if let hole = holes.first, hole.lowerBound <= next, hole.lowerBound < stretch.upperBound {
                copy(done..<hole.lowerBound)
                done = hole.upperBound
            } else {
                copy(done..<next)
                done = next
                if let item, next < stretch.upperBound { done = append(item: item, without: holes) }
            }
            holes = holes.drop { $0.lowerBound < done }
        }
    }

    /// Writes an item. Returns where what came for it at first ends.
    private mutating func append(item: Int, without holes: ArraySlice<Range<Int>>) -> Int {
        let entries = log.appendHead(of: item, to: &output)
        append(entries..<log.items[item].end, without: holes)
        for detour in detours[item] ?? [] { append(detour.start..<detour.end, without: cuts) }
        return log.items[item].end
    }

    private mutating func copy(_ stretch: Range<Int>) {
        output.append(log.bytes.base + stretch.lowerBound, count: stretch.count)
    }

    private func firstItem(from offset: Int) -> Int? {
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if log.items[items[middle]].start < offset { low = middle + 1 } else { high = middle }
        }
        return low < items.count ? items[low] : nil
    }
}
