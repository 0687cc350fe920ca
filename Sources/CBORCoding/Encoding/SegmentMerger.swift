internal import Foundation

/// Assembles the output of a buffer with late segments or removed ranges: moves late segments into
/// their items and skips removed ranges.
struct SegmentMerger {
    private let buffer: EncodingBuffer
    /// The items that have a head, sorted by offset.
    private let items: [Int]
    private let lateSegments: [Int: [EncodingBuffer.LateSegment]]
    private let removedRanges: ArraySlice<Range<Int>>
    private var output: GrowingBuffer<UInt8>

    init(_ buffer: EncodingBuffer) {
        self.buffer = buffer
        items = (0..<buffer.items.count).filter {
            buffer.items[$0].hasHead
        }.sorted {
            buffer.items[$0].start < buffer.items[$1].start
        }
        lateSegments = Dictionary(grouping: buffer.lateSegments) { $0.item }
        removedRanges = Self.sorted(buffer.removedRanges)
        output = GrowingBuffer(capacity: buffer.bytes.count * 2)
    }

    /// Sorts ranges by lower bound. An enclosing range comes before the ranges inside it.
    private static func sorted(_ holes: [Range<Int>]) -> ArraySlice<Range<Int>> {
        holes.filter { !$0.isEmpty }.sorted {
            ($0.lowerBound, -$0.upperBound) < ($1.lowerBound, -$1.upperBound)
        }[...]
    }

    consuming func data() -> Data {
        defer { output.free() }
        let holes = buffer.lateSegments.map { $0.start..<$0.end } + buffer.removedRanges
        append(0..<buffer.bytes.count, without: Self.sorted(holes))
        return Data(bytes: output.base, count: output.count)
    }

    /// Writes a range of the bytes: each item in it with its late segments, without the holes.
    private mutating func append(
        _ range: Range<Int>,
        without holes: ArraySlice<Range<Int>>
    ) {
        var done = range.lowerBound
        var holes = holes.drop { $0.lowerBound < done }
        while done < range.upperBound {
            // A hole that begins in this range and ends after it belongs to an enclosing range.
            while let hole = holes.first, range.contains(hole.lowerBound),
                hole.upperBound > range.upperBound
            { holes.removeFirst() }
            let item = firstItem(from: done)
            let next = min(
                item.map { buffer.items[$0].start } ?? .max,
                range.upperBound
            )
            if let hole = holes.first, hole.lowerBound <= next, hole.lowerBound < range.upperBound {
                copy(done..<hole.lowerBound)
                done = hole.upperBound
            } else {
                copy(done..<next)
                done = next
                if let item, next < range.upperBound { done = append(item: item, without: holes) }
            }
            holes = holes.drop { $0.lowerBound < done }
        }
    }

    /// Writes an item with its late segments and returns the end of its first part.
    private mutating func append(item: Int, without holes: ArraySlice<Range<Int>>) -> Int {
        let entries = buffer.appendHead(of: item, to: &output)
        append(entries..<buffer.items[item].end, without: holes)
        for lateSegment in lateSegments[item] ?? [] {
            append(lateSegment.start..<lateSegment.end, without: removedRanges)
        }
        return buffer.items[item].end
    }

    private mutating func copy(_ range: Range<Int>) {
        output.append(buffer.bytes.base + range.lowerBound, count: range.count)
    }

    private func firstItem(from offset: Int) -> Int? {
        var low = 0
        var high = items.count
        while low < high {
            let middle = (low + high) / 2
            if buffer.items[items[middle]].start < offset {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < items.count ? items[low] : nil
    }
}
