/// The keyed container of an encoder. Writes a map.
struct CBORKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let buffer: EncodingBuffer
    let item: Int

    var codingPath: [any CodingKey] { buffer.codingPath(of: item) }

    // MARK: Scalars

    /// Begins an entry under the key. Returns the buffer, for the bytes of the value.
    @inline(__always)
    private func entry(_ key: Key) -> EncodingBuffer {
        buffer.beginEntry(in: item)
        buffer.addKey(key, to: item)
        return buffer
    }

    func encodeNil(forKey key: Key) { entry(key).bytes.append(SimpleByte.null) }
    func encode(_ value: Bool, forKey key: Key) {
        entry(key).bytes.append(value)
    }
    func encode(_ value: String, forKey key: Key) {
        entry(key).bytes.append(value)
    }
    func encode(_ value: Double, forKey key: Key) {
        entry(key).bytes.append(doubleBits: value.bitPattern)
    }
    func encode(_ value: Float, forKey key: Key) {
        entry(key).bytes.append(singleBits: value.bitPattern)
    }
    @inline(__always)
    func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) {
        entry(key).bytes.append(integer: value)
    }
    // Not by the generic one: the protocol has methods of its own for these, which would be chosen.
    func encode(_ value: Int128, forKey key: Key) {
        entry(key).bytes.append(integer: value)
    }
    func encode(_ value: UInt128, forKey key: Key) {
        entry(key).bytes.append(integer: value)
    }

    // MARK: Values

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        buffer.resume(item)
        let savepoint = buffer.savepoint(item)
        buffer.beginEntry(in: item)
        let keyStart = buffer.bytes.count
        buffer.addKey(key, to: item)
        do {
            try buffer.add(value, to: item, keyStart: keyStart)
        } catch {
            buffer.rollBackEntry(to: savepoint)
            throw error
        }
    }

    // MARK: Containers

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(
            CBORKeyedEncodingContainer<Nested>(buffer: buffer, item: nested(key, .map))
        )
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        CBORUnkeyedEncodingContainer(buffer: buffer, item: nested(key, .array))
    }

    func superEncoder() -> any Encoder {
        ItemEncoder(buffer: buffer, item: nested(CBORKey.super))
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        ItemEncoder(buffer: buffer, item: nested(key))
    }

    /// Returns the item for the key: an existing one, or a new one.
    private func nested(
        _ key: some CodingKey,
        _ kind: EncodingBuffer.Item.Kind? = nil
    ) -> Int {
        buffer.resume(item)
        let savepoint = buffer.savepoint(item)
        buffer.beginEntry(in: item)
        let keyStart = buffer.bytes.count
        buffer.addKey(key, to: item)
        let nested: Int
        if let earlier = buffer.existingItem(ofLastKeyIn: item) {
            buffer.rollBackEntry(to: savepoint)
            nested = earlier
        } else {
            nested = buffer.beginItem(in: item, keyStart: keyStart)
        }
        if let kind { buffer.open(nested, as: kind) }
        return nested
    }
}
