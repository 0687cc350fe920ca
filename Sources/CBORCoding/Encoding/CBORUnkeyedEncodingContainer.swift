/// The unkeyed container of an encoder. Writes an array.
struct CBORUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let buffer: EncodingBuffer
    let item: Int

    var codingPath: [any CodingKey] { buffer.codingPath(of: item) }
    var count: Int { buffer.items[item].count }

    // MARK: Scalars

    func encodeNil() {
        buffer.beginEntry(in: item)
        buffer.bytes.append(SimpleByte.null)
    }

    func encode(_ value: Bool) {
        buffer.beginEntry(in: item)
        buffer.bytes.append(value)
    }

    func encode(_ value: String) {
        buffer.beginEntry(in: item)
        buffer.bytes.append(value)
    }

    func encode(_ value: Double) {
        buffer.beginEntry(in: item)
        buffer.bytes.append(doubleBits: value.bitPattern)
    }

    func encode(_ value: Float) {
        buffer.beginEntry(in: item)
        buffer.bytes.append(singleBits: value.bitPattern)
    }

    @inline(__always)
    private func encode(integer value: some FixedWidthInteger) {
        buffer.beginEntry(in: item)
        buffer.bytes.append(integer: value)
    }

    func encode(_ value: Int) { encode(integer: value) }
    func encode(_ value: Int8) { encode(integer: value) }
    func encode(_ value: Int16) { encode(integer: value) }
    func encode(_ value: Int32) { encode(integer: value) }
    func encode(_ value: Int64) { encode(integer: value) }
    func encode(_ value: Int128) { encode(integer: value) }
    func encode(_ value: UInt) { encode(integer: value) }
    func encode(_ value: UInt8) { encode(integer: value) }
    func encode(_ value: UInt16) { encode(integer: value) }
    func encode(_ value: UInt32) { encode(integer: value) }
    func encode(_ value: UInt64) { encode(integer: value) }
    func encode(_ value: UInt128) { encode(integer: value) }

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

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(CBORKeyedEncodingContainer<Nested>(buffer: buffer, item: nested(.map)))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { CBORUnkeyedEncodingContainer(buffer: buffer, item: nested(.array)) }

    func superEncoder() -> any Encoder { ItemEncoder(buffer, nested()) }

    private func nested(_ kind: EncodingBuffer.Item.Kind? = nil) -> Int {
        buffer.beginEntry(in: item)
        let nested = buffer.beginItem(in: item, keyStart: -1)
        if let kind { buffer.open(nested, as: kind) }
        return nested
    }
}
