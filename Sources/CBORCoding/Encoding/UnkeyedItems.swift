/// An array that a type writes to.
struct UnkeyedItems: UnkeyedEncodingContainer {
    let log: EncodingLog
    let item: Int

    var codingPath: [any CodingKey] { log.codingPath(of: item) }
    var count: Int { log.items[item].count }

    // MARK: Scalars

    func encodeNil() {
        log.beginEntry(in: item)
        log.bytes.append(SimpleByte.null)
    }

    func encode(_ value: Bool) {
        log.beginEntry(in: item)
        log.bytes.append(value)
    }

    func encode(_ value: String) {
        log.beginEntry(in: item)
        log.bytes.append(value)
    }

    func encode(_ value: Double) {
        log.beginEntry(in: item)
        log.bytes.append(doubleBits: value.bitPattern)
    }

    func encode(_ value: Float) {
        log.beginEntry(in: item)
        log.bytes.append(singleBits: value.bitPattern)
    }

    @inline(__always)
    private func encode(integer value: some FixedWidthInteger) {
        log.beginEntry(in: item)
        log.bytes.append(integer: value)
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
        log.resume(item)
        let mark = log.mark(item)
        log.beginEntry(in: item)
        do {
            try log.add(value, to: item, keyStart: -1)
        } catch {
            log.takeBackEntry(since: mark)
            throw error
        }
    }

    // MARK: Containers

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(KeyedItems<Nested>(log: log, item: nested(.map)))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedItems(log: log, item: nested(.array)) }

    func superEncoder() -> any Encoder { ItemEncoder(log, nested()) }

    private func nested(_ kind: EncodingLog.Item.Kind? = nil) -> Int {
        log.beginEntry(in: item)
        let nested = log.beginItem(in: item, keyStart: -1)
        if let kind { log.open(nested, as: kind) }
        return nested
    }
}
