/// An item that a type writes one value to.
struct SingleItem: SingleValueEncodingContainer {
    let log: EncodingLog
    let item: Int

    var codingPath: [any CodingKey] { log.codingPath(of: item) }

    func encodeNil() throws {
        try log.openScalar(item)
        log.bytes.append(SimpleByte.null)
    }

    func encode(_ value: Bool) throws {
        try log.openScalar(item)
        log.bytes.append(value)
    }

    func encode(_ value: String) throws {
        try log.openScalar(item)
        log.bytes.append(value)
    }

    func encode(_ value: Double) throws {
        try log.openScalar(item)
        log.bytes.append(doubleBits: value.bitPattern)
    }

    func encode(_ value: Float) throws {
        try log.openScalar(item)
        log.bytes.append(singleBits: value.bitPattern)
    }

    private func encode(integer value: some FixedWidthInteger) throws {
        try log.openScalar(item)
        log.bytes.append(integer: value)
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
        let mark = log.mark(item)
        do {
            try log.encode(value, to: item)
        } catch {
            log.takeBackItem(since: mark)
            throw error
        }
    }
}
