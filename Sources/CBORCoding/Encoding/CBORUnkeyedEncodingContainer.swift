/// The unkeyed container of an encoder. Writes an array.
struct CBORUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let buffer: EncodingBuffer
    let item: Int

    var codingPath: [any CodingKey] { buffer.codingPath(of: item) }
    var count: Int { buffer.items[item].count }

    // MARK: Scalars

    /// Begins an element. Returns the buffer, for its bytes.
    @inline(__always)
    private func element() -> EncodingBuffer {
        buffer.beginEntry(in: item)
        return buffer
    }

    func encodeNil() { element().bytes.append(SimpleByte.null) }
    func encode(_ value: Bool) { element().bytes.append(value) }
    func encode(_ value: String) { element().bytes.append(value) }
    func encode(_ value: Double) {
        element().bytes.append(doubleBits: value.bitPattern)
    }
    func encode(_ value: Float) {
        element().bytes.append(singleBits: value.bitPattern)
    }
    @inline(__always)
    func encode(_ value: some FixedWidthInteger & Encodable) {
        element().bytes.append(integer: value)
    }
    // Not by the generic one: the protocol has methods of its own for these, which would be chosen.
    func encode(_ value: Int128) { element().bytes.append(integer: value) }
    func encode(_ value: UInt128) { element().bytes.append(integer: value) }

    // MARK: Values

    func encode<Value: Encodable>(_ value: Value) throws {
        buffer.resume(item)
        let savepoint = buffer.savepoint(item)
        buffer.beginEntry(in: item)
        do {
            try buffer.add(value, to: item, keyStart: -1)
        } catch {
            buffer.rollBackEntry(to: savepoint)
            throw error
        }
    }

    // MARK: Containers

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(
            CBORKeyedEncodingContainer<Nested>(buffer: buffer, item: nested(.map))
        )
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        CBORUnkeyedEncodingContainer(buffer: buffer, item: nested(.array))
    }

    func superEncoder() -> any Encoder { ItemEncoder(buffer: buffer, item: nested()) }

    private func nested(_ kind: EncodingBuffer.Item.Kind? = nil) -> Int {
        buffer.beginEntry(in: item)
        let nested = buffer.beginItem(in: item, keyStart: -1)
        if let kind { buffer.open(nested, as: kind) }
        return nested
    }
}
