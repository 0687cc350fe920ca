internal import Foundation

/// Rewrites well-formed items so that no map has duplicate keys and, on request, map keys are in
/// the order of deterministic encoding: the lexicographic order of their bytes (RFC 8949, 4.2.1).
struct MapNormalizer {
    let sortsKeys: Bool

    func normalize(_ data: Data) -> Data {
        data.withUnsafeBytes { bytes in
            guard let base = bytes.assumingMemoryBound(to: UInt8.self).baseAddress else {
                return data
            }
            let reader = ItemReader(base: base, count: bytes.count)
            var output = GrowingBuffer<UInt8>(capacity: bytes.count)
            defer { output.free() }
            _ = write(0, of: reader, to: &output)
            return Data(bytes: output.base, count: output.count)
        }
    }

    /// Writes an item of definite length and returns its end.
    private func write(
        _ start: Int,
        of reader: ItemReader,
        to output: inout GrowingBuffer<UInt8>
    ) -> Int {
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
            return (0..<head.argument).reduce(head.next) { offset, _ in
                write(offset, of: reader, to: &output)
            }
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

    /// Returns the pairs of a map in output order. Duplicate keys are merged: the first key is
    /// kept, with the last value.
    private func pairs(
        _ head: ItemReader.Head,
        of reader: ItemReader
    ) -> (pairs: [Pair], end: Int) {
        var pairs: [Pair] = []
        var mayHaveEquivalents = false
        var offset = head.next
        for _ in 0..<head.argument {
            let value = reader.end(of: offset)
            let key = ByteSlice(reader.base + offset, count: value - offset)
            mayHaveEquivalents = mayHaveEquivalents || key.keyMayHaveEquivalents
            pairs.append((key, value))
            offset = reader.end(of: value)
        }
        pairs = mayHaveEquivalents ? merged(pairs) { KeyIdentity($0) } : merged(pairs) { $0 }
        if sortsKeys { pairs.sort { $0.key.precedes($1.key) } }
        return (pairs, offset)
    }

    /// Returns one pair for each key, with its last value, at the position of its first occurrence.
    private func merged<Identity: Hashable>(
        _ pairs: [Pair],
        by identity: (ByteSlice) -> Identity
    ) -> [Pair] {
        var merged: [Pair] = []
        var indices: [Identity: Int] = [:]
        for pair in pairs {
            let identity = identity(pair.key)
            if let index = indices[identity] {
                merged[index].value = pair.value
            } else {
                indices[identity] = merged.count
                merged.append(pair)
            }
        }
        return merged
    }
}

extension ByteSlice {
    /// Whether these bytes are lexicographically before the others.
    fileprivate func precedes(_ other: ByteSlice) -> Bool {
        let order = memcmp(start, other.start, min(count, other.count))
        return order == 0 ? count < other.count : order < 0
    }
}
