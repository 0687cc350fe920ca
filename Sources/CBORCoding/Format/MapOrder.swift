internal import Foundation

/// Writes well-formed items anew, with no two equal keys in a map and, if that is asked for, the keys in the order of deterministic
/// encoding: that of their bytes (RFC 8949, 4.2.1).
struct MapOrder {
    let sorts: Bool

    func apply(to data: Data) -> Data {
        data.withUnsafeBytes { bytes in
            let reader = ItemReader(bytes.assumingMemoryBound(to: UInt8.self).baseAddress!, count: bytes.count)
            var output = GrowingBuffer<UInt8>(capacity: bytes.count)
            defer { output.free() }
            _ = write(0, of: reader, to: &output)
            return Data(bytes: output.base, count: output.count)
        }
    }

    /// Writes an item of definite length. Returns where it ends.
    private func write(_ start: Int, of reader: ItemReader, to output: inout GrowingBuffer<UInt8>) -> Int {
        let head = reader.head(at: start)
        switch head.type {
        case .unsigned, .negative, .simple, .bytes, .text:
            let end = reader.end(of: start)
            output.append(reader.base + start, count: end - start)
            return end
        case .tag:
            output.append(reader.base + start, count: head.next - start)
            return write(head.next, of: reader, to: &output)
        case .array:
            output.append(reader.base + start, count: head.next - start)
            return (0..<head.argument).reduce(head.next) { offset, _ in write(offset, of: reader, to: &output) }
        case .map:
            let (pairs, end) = pairs(head, of: reader)
            output.appendHead(.map, UInt64(pairs.count))
            for pair in pairs {
                output.append(pair.key.start, count: pair.key.count)
                _ = write(pair.value, of: reader, to: &output)
            }
            return end
        }
    }

    private typealias Pair = (key: ByteSlice, value: Int)

    /// The pairs of a map in the order in which to write them. Of equal keys, the first with the last value counts.
    private func pairs(_ head: ItemReader.Head, of reader: ItemReader) -> (pairs: [Pair], end: Int) {
        var pairs: [Pair] = []
        var haveOtherForms = false
        var offset = head.next
        for _ in 0..<head.argument {
            let value = reader.end(of: offset)
            let key = ByteSlice(reader.base + offset, count: value - offset)
            haveOtherForms = haveOtherForms || key.keyMayHaveOtherForms
            pairs.append((key, value))
            offset = reader.end(of: value)
        }
        pairs = haveOtherForms ? merged(pairs) { KeyIdentity($0) } : merged(pairs) { $0 }
        if sorts { pairs.sort { $0.key.precedes($1.key) } }
        return (pairs, offset)
    }

    /// One pair for each key, with its last value, where the key came first.
    private func merged<Identity: Hashable>(_ pairs: [Pair], by identity: (ByteSlice) -> Identity) -> [Pair] {
        var merged: [Pair] = []
        var places: [Identity: Int] = [:]
        for pair in pairs {
            let identity = identity(pair.key)
            if let place = places[identity] {
                merged[place].value = pair.value
            } else {
                places[identity] = merged.count
                merged.append(pair)
            }
        }
        return merged
    }
}

extension ByteSlice {
    /// Whether it comes first in the order of bytes.
    fileprivate func precedes(_ other: ByteSlice) -> Bool {
        let order = memcmp(start, other.start, min(count, other.count))
        return order == 0 ? count < other.count : order < 0
    }
}
