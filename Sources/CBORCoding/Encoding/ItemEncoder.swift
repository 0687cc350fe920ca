internal import Foundation

/// The `Encoder` that is passed to the `encode(to:)` of a type, and its single-value container. It
/// encodes one item.
struct ItemEncoder: Encoder, SingleValueEncodingContainer {
    let buffer: EncodingBuffer
    let item: Int

    var codingPath: [any CodingKey] { buffer.codingPath(of: item) }
    var userInfo: [CodingUserInfoKey: Any] { buffer.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        buffer.open(item, as: .map)
        return KeyedEncodingContainer(CBORKeyedEncodingContainer(buffer: buffer, item: item))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        buffer.open(item, as: .array)
        return CBORUnkeyedEncodingContainer(buffer: buffer, item: item)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    // MARK: One value

    /// Makes the item a scalar. Returns the buffer, for its bytes.
    @inline(__always)
    private func scalar() throws -> EncodingBuffer {
        try buffer.openScalar(item)
        return buffer
    }

    func encodeNil() throws { try scalar().bytes.append(SimpleByte.null) }
    func encode(_ value: Bool) throws { try scalar().bytes.append(value) }
    func encode(_ value: String) throws { try scalar().bytes.append(value) }
    func encode(_ value: Double) throws {
        try scalar().bytes.append(doubleBits: value.bitPattern)
    }
    func encode(_ value: Float) throws {
        try scalar().bytes.append(singleBits: value.bitPattern)
    }
    @inline(__always)
    func encode(_ value: some FixedWidthInteger & Encodable) throws {
        try scalar().bytes.append(integer: value)
    }
    // Not by the generic one: the protocol has methods of its own for these, which would be chosen.
    func encode(_ value: Int128) throws {
        try scalar().bytes.append(integer: value)
    }
    func encode(_ value: UInt128) throws {
        try scalar().bytes.append(integer: value)
    }

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
