internal import Foundation

extension EncodingBuffer {
    /// Encodes the value with `write` and returns the assembled bytes.
    func encoded<Value>(
        _ value: Value,
        by write: () throws -> Void
    ) throws -> Data {
        try write()
        if let failure { throw failure }
        guard items[Self.root].kind != .undecided else {
            throw error(
                Self.root,
                """
                \(Value.self) did not encode anything. Encode a value or request a container in \
                'encode(to:)'.
                """
            )
        }
        closeAll()
        if !originalKeys.isEmpty { try compareConvertedKeys() }
        let data =
            lateSegments.isEmpty && removedRanges.isEmpty ? inOrder() : SegmentMerger(self).data()
        guard options.isDeterministic || hasDuplicateKeys() else { return data }
        return MapNormalizer(sortsKeys: options.isDeterministic).normalize(data)
    }

    // MARK: Assembly without late segments

    private func inOrder() -> Data {
        // The heads of most containers fit in the byte that was reserved for them.
        var wide: [Int] = []
        for item in 0..<items.count {
            guard let type = items[item].container else { continue }
            if items[item].count < Int(AdditionalInformation.oneByte) {
                bytes[items[item].start] = type.bits | UInt8(items[item].count)
            } else {
                wide.append(item)
            }
        }
        guard !wide.isEmpty else { return bytes.takeData() }

        var output = GrowingBuffer<UInt8>(capacity: bytes.count + wide.count * 8)
        defer { output.free() }
        var done = 0
        for item in wide {
            output.append(bytes.base + done, count: items[item].start - done)
            done = appendHead(of: item, to: &output)
        }
        output.append(bytes.base + done, count: bytes.count - done)
        return output.takeData()
    }

    /// Writes the head of an item and returns the offset of its first entry.
    func appendHead(of item: Int, to output: inout GrowingBuffer<UInt8>) -> Int {
        if let type = items[item].container {
            output.appendHead(type, UInt64(items[item].count))
        }
        return items[item].start + 1
    }
}

extension EncodingBuffer.Item {
    /// The kind of container, or `nil` for other items. An item without content becomes an empty
    /// map.
    fileprivate var container: MajorType? {
        switch kind {
        case .map, .undecided: .map
        case .array: .array
        case .scalar, .lateScalar, .dropped: nil
        }
    }

    /// Whether a byte is reserved for the head of the item.
    var hasHead: Bool { container != nil || kind == .lateScalar }
}
