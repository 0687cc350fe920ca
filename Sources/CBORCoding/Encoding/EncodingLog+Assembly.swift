internal import Foundation

extension EncodingLog {
    /// Writes the whole value, and makes one piece of what came of it.
    func encoded<Value>(_ value: Value, by write: () throws -> Void) throws -> Data {
        try write()
        if let failure { throw failure }
        guard items[Self.root].kind != .undecided else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "\(Value.self) encoded nothing. A value encodes something."))
        }
        closeAll()
        let data = detours.isEmpty && cuts.isEmpty ? inOrder() : Rearrangement(self).data()
        guard options.isDeterministic || hasRepeatedKeys() else { return data }
        return MapOrder(sorts: options.isDeterministic).apply(to: data)
    }

    // MARK: Where everything came in order

    private func inOrder() -> Data {
        // Most containers have so few entries that their heads are the bytes that were kept for them.
        var wide: [Int] = []
        for item in 0..<items.count {
            guard let type = items[item].container else { continue }
            if items[item].count < Int(AdditionalInformation.oneByte) {
                bytes[items[item].start] = type.bits | UInt8(items[item].count)
            } else {
                wide.append(item)
            }
        }
        guard !wide.isEmpty else { return Data(bytes: bytes.base, count: bytes.count) }

        var output = GrowingBuffer<UInt8>(capacity: bytes.count + wide.count * 8)
        defer { output.free() }
        var done = 0
        for item in wide {
            output.append(bytes.base + done, count: items[item].start - done)
            done = appendHead(of: item, to: &output)
        }
        output.append(bytes.base + done, count: bytes.count - done)
        return Data(bytes: output.base, count: output.count)
    }

    /// Writes the head of an item. Returns where its entries begin.
    func appendHead(of item: Int, to output: inout GrowingBuffer<UInt8>) -> Int {
        if let type = items[item].container { output.appendHead(type, UInt64(items[item].count)) }
        return items[item].start + 1
    }
}

extension EncodingLog.Item {
    /// What kind of container it is. One that was left with nothing encoded is an empty map.
    fileprivate var container: MajorType? {
        switch kind {
        case .map, .undecided: .map
        case .array: .array
        case .scalar, .lateScalar, .dropped: nil
        }
    }

    /// Whether there is a byte for its head.
    var hasHead: Bool { container != nil || kind == .lateScalar }
}
