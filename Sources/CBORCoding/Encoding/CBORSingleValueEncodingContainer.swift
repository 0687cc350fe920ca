/// The single-value container of an encoder.
struct CBORSingleValueEncodingContainer: SingleValueEncodingContainer {
    let buffer: EncodingBuffer
    let item: Int

    var codingPath: [any CodingKey] { buffer.codingPath(of: item) }

    func encodeNil() throws {
        try buffer.openScalar(item)
        buffer.bytes.append(SimpleByte.null)
    }

    func encode(_ value: Bool) throws {
        try buffer.openScalar(item)
        buffer.bytes.append(value)
    }

    func encode(_ value: String) throws {
        try buffer.openScalar(item)
        buffer.bytes.append(value)
    }

    func encode(_ value: Double) throws {
        try buffer.openScalar(item)
        buffer.bytes.append(doubleBits: value.bitPattern)
    }

    func encode(_ value: Float) throws {
        try buffer.openScalar(item)
        buffer.bytes.append(singleBits: value.bitPattern)
    }

    private func encode(integer value: some FixedWidthInteger) throws {
        try buffer.openScalar(item)
        buffer.bytes.append(integer: value)
    }

    func encode(_ value: Int) throws { try encode(integer: value) }
    func encode(_ value: Int8) throws { try encode(integer: value) }
    func encode(_ value: Int16) throws { try encode(integer: value) }
    func encode(_ value: Int32) throws { try encode(integer: value) }
    func encode(_ value: Int64) throws { try encode(integer: value) }
    func encode(_ value: Int128) throws { try encode(integer: value) }
    func encode(_ value: UInt) throws { try encode(integer: value) }
    func encode(_ value: UInt8) throws { try encode(integer: value) }
    func encode(_ value: UInt16) throws { try encode(integer: value) }
    func encode(_ value: UInt32) throws { try encode(integer: value) }
    func encode(_ value: UInt64) throws { try encode(integer: value) }
    func encode(_ value: UInt128) throws { try encode(integer: value) }

    func encode<Value: Encodable>(_ value: Value) throws {
        let savepoint = buffer.savepoint(item)
        do {
            try buffer.encode(value, to: item)
        } catch {
            buffer.rollBackItem(to: savepoint)
            throw error
        }
    }
}
