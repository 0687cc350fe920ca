internal import Foundation

/// Brings what came for items that had been left to its place.
struct Rearrangement {
    private let log: EncodingLog
    /// The items with a head, in the order of the bytes.
    private let items: [Int]
    private let detours: [Int: [EncodingLog.Detour]]
    private var output: GrowingBuffer<UInt8>

    init(_ log: EncodingLog) {
        self.log = log
        items = (0..<log.items.count).filter { log.items[$0].hasHead }.sorted { log.items[$0].start < log.items[$1].start }
        detours = Dictionary(grouping: log.detours) { $0.item }
        output = GrowingBuffer(capacity: log.bytes.count * 2)
    }

    consuming func data() -> Data {
        defer { output.free() }
        append(0..<log.bytes.count, without: log.detours[...])
        return Data(bytes: output.base, count: output.count)
    }

    /// Writes a stretch of the bytes: each item with all that came for it, and nothing that came for others.
    private mutating func append(_ stretch: Range<Int>, without others: ArraySlice<EncodingLog.Detour>) {
        var done = stretch.lowerBound
        var others = others.drop { $0.start < done }
        while done < stretch.upperBound {
            let item = firstItem(from: done)
            let next = min(item.map { log.items[$0].start } ?? .max, stretch.upperBound)
            if let detour = others.first, detour.start <= next {
                copy(done..<detour.start)
                done = detour.end
                others.removeFirst()
            } else {
                copy(done..<next)
                done = next
                if let item, next < stretch.upperBound { done = append(item: item, without: others) }
                others = others.drop { $0.start < done }
            }
        }
    }

    /// Writes an item. Returns where what came for it at first ends.
    private mutating func append(item: Int, without others: ArraySlice<EncodingLog.Detour>) -> Int {
        let entries = log.appendHead(of: item, to: &output)
        append(entries..<log.items[item].end, without: others)
        for detour in detours[item] ?? [] { append(detour.start..<detour.end, without: []) }
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
