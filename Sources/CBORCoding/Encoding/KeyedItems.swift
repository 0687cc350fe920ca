/// A map that a type writes to.
struct KeyedItems<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let log: EncodingLog
    let item: Int

    var codingPath: [any CodingKey] { log.codingPath(of: item) }

    // MARK: Scalars

    @inline(__always)
    private func begin(_ key: Key) {
        log.beginEntry(in: item)
        log.addKey(key, to: item)
    }

    func encodeNil(forKey key: Key) {
        begin(key)
        log.bytes.append(SimpleByte.null)
    }

    func encode(_ value: Bool, forKey key: Key) {
        begin(key)
        log.bytes.append(value)
    }

    func encode(_ value: String, forKey key: Key) {
        begin(key)
        log.bytes.append(value)
    }

    func encode(_ value: Double, forKey key: Key) {
        begin(key)
        log.bytes.append(doubleBits: value.bitPattern)
    }

    func encode(_ value: Float, forKey key: Key) {
        begin(key)
        log.bytes.append(singleBits: value.bitPattern)
    }

    @inline(__always)
    private func encode(integer value: some FixedWidthInteger, forKey key: Key) {
        begin(key)
        log.bytes.append(integer: value)
    }

    func encode(_ value: Int, forKey key: Key) { encode(integer: value, forKey: key) }
    func encode(_ value: Int8, forKey key: Key) { encode(integer: value, forKey: key) }
    func encode(_ value: Int16, forKey key: Key) { encode(integer: value, forKey: key) }
    func encode(_ value: Int32, forKey key: Key) { encode(integer: value, forKey: key) }
    func encode(_ value: Int64, forKey key: Key) { encode(integer: value, forKey: key) }
    func encode(_ value: Int128, forKey key: Key) { encode(integer: value, forKey: key) }
    func encode(_ value: UInt, forKey key: Key) { encode(integer: value, forKey: key) }
    func encode(_ value: UInt8, forKey key: Key) { encode(integer: value, forKey: key) }
    func encode(_ value: UInt16, forKey key: Key) { encode(integer: value, forKey: key) }
    func encode(_ value: UInt32, forKey key: Key) { encode(integer: value, forKey: key) }
    func encode(_ value: UInt64, forKey key: Key) { encode(integer: value, forKey: key) }
    func encode(_ value: UInt128, forKey key: Key) { encode(integer: value, forKey: key) }

    // MARK: Values

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        log.resume(item)
        let mark = log.mark(item)
        log.beginEntry(in: item)
        let keyStart = log.bytes.count
        log.addKey(key, to: item)
        do {
            try log.add(value, to: item, keyStart: keyStart)
        } catch {
            log.takeBackEntry(since: mark)
            throw error
        }
    }

    // MARK: Containers

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(KeyedItems<Nested>(log: log, item: nested(key, .map)))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        UnkeyedItems(log: log, item: nested(key, .array))
    }

    func superEncoder() -> any Encoder { ItemEncoder(log, nested(CBORKey.super)) }

    func superEncoder(forKey key: Key) -> any Encoder { ItemEncoder(log, nested(key)) }

    /// An item for the key: the one that it has already, or a new one.
    private func nested(_ key: some CodingKey, _ kind: EncodingLog.Item.Kind? = nil) -> Int {
        log.resume(item)
        let mark = log.mark(item)
        log.beginEntry(in: item)
        let keyStart = log.bytes.count
        log.addKey(key, to: item)
        let nested: Int
        if let earlier = log.earlierItem(ofLastKeyIn: item) {
            log.takeBackEntry(since: mark)
            nested = earlier
        } else {
            nested = log.beginItem(in: item, keyStart: keyStart)
        }
        if let kind { log.open(nested, as: kind) }
        return nested
    }
}
