internal import Foundation

// The containers of `CanonicalEncoder`: each puts nodes where its kind keeps them.

struct CanonicalObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: CanonicalNode
    let codingPath: [any CodingKey]

    init(_ node: CanonicalNode, _ codingPath: [any CodingKey]) {
        self.node = node
        self.codingPath = codingPath
        if case .object = node.content { return }  // Asked for twice, the second goes on.
        node.content = .object([])
    }

    private func put(_ part: CanonicalNode, _ key: Key) { node.set(part, named: key.stringValue) }

    func encodeNil(forKey key: Key) { put(.null, key) }
    func encode(_ value: Bool, forKey key: Key) { put(CanonicalNode(value), key) }
    func encode(_ value: String, forKey key: Key) { put(CanonicalNode(value), key) }
    func encode(_ value: Double, forKey key: Key) throws { put(try CanonicalEncoder.node(of: value), key) }
    func encode(_ value: Float, forKey key: Key) throws { put(try CanonicalEncoder.node(of: value), key) }
    func encode(_ value: Int, forKey key: Key) { put(CanonicalNode(value), key) }
    func encode(_ value: Int8, forKey key: Key) { put(CanonicalNode(value), key) }
    func encode(_ value: Int16, forKey key: Key) { put(CanonicalNode(value), key) }
    func encode(_ value: Int32, forKey key: Key) { put(CanonicalNode(value), key) }
    func encode(_ value: Int64, forKey key: Key) { put(CanonicalNode(value), key) }
    func encode(_ value: Int128, forKey key: Key) { put(CanonicalNode(value), key) }
    func encode(_ value: UInt, forKey key: Key) { put(CanonicalNode(value), key) }
    func encode(_ value: UInt8, forKey key: Key) { put(CanonicalNode(value), key) }
    func encode(_ value: UInt16, forKey key: Key) { put(CanonicalNode(value), key) }
    func encode(_ value: UInt32, forKey key: Key) { put(CanonicalNode(value), key) }
    func encode(_ value: UInt64, forKey key: Key) { put(CanonicalNode(value), key) }
    func encode(_ value: UInt128, forKey key: Key) { put(CanonicalNode(value), key) }

    func encode<Part: Encodable>(_ value: Part, forKey key: Key) throws {
        put(try CanonicalEncoder.node(of: value, at: codingPath + [key]), key)
    }

    func nestedContainer<Name: CodingKey>(keyedBy type: Name.Type, forKey key: Key) -> KeyedEncodingContainer<Name> {
        encoder(for: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(for: key).unkeyedContainer() }

    func superEncoder() -> any Encoder { encoder(for: CanonicalPlace(stringValue: "super")) }

    func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key) }

    private func encoder(for key: any CodingKey) -> CanonicalEncoder {
        let part = CanonicalNode()
        node.set(part, named: key.stringValue)
        return CanonicalEncoder(part, codingPath + [key])
    }
}

struct CanonicalArray: UnkeyedEncodingContainer {
    let node: CanonicalNode
    let codingPath: [any CodingKey]

    init(_ node: CanonicalNode, _ codingPath: [any CodingKey]) {
        self.node = node
        self.codingPath = codingPath
        if case .array = node.content { return }
        node.content = .array([])
    }

    var count: Int {
        if case .array(let nodes) = node.content { nodes.count } else { 0 }
    }

    func encodeNil() { node.append(.null) }
    func encode(_ value: Bool) { node.append(CanonicalNode(value)) }
    func encode(_ value: String) { node.append(CanonicalNode(value)) }
    func encode(_ value: Double) throws { node.append(try CanonicalEncoder.node(of: value)) }
    func encode(_ value: Float) throws { node.append(try CanonicalEncoder.node(of: value)) }
    func encode(_ value: Int) { node.append(CanonicalNode(value)) }
    func encode(_ value: Int8) { node.append(CanonicalNode(value)) }
    func encode(_ value: Int16) { node.append(CanonicalNode(value)) }
    func encode(_ value: Int32) { node.append(CanonicalNode(value)) }
    func encode(_ value: Int64) { node.append(CanonicalNode(value)) }
    func encode(_ value: Int128) { node.append(CanonicalNode(value)) }
    func encode(_ value: UInt) { node.append(CanonicalNode(value)) }
    func encode(_ value: UInt8) { node.append(CanonicalNode(value)) }
    func encode(_ value: UInt16) { node.append(CanonicalNode(value)) }
    func encode(_ value: UInt32) { node.append(CanonicalNode(value)) }
    func encode(_ value: UInt64) { node.append(CanonicalNode(value)) }
    func encode(_ value: UInt128) { node.append(CanonicalNode(value)) }

    func encode<Part: Encodable>(_ value: Part) throws {
        node.append(try CanonicalEncoder.node(of: value, at: codingPath + [CanonicalPlace(intValue: count)]))
    }

    func nestedContainer<Name: CodingKey>(keyedBy type: Name.Type) -> KeyedEncodingContainer<Name> {
        nextEncoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nextEncoder().unkeyedContainer() }

    func superEncoder() -> any Encoder { nextEncoder() }

    private func nextEncoder() -> CanonicalEncoder {
        let part = CanonicalNode()
        let path = codingPath + [CanonicalPlace(intValue: count)]
        node.append(part)
        return CanonicalEncoder(part, path)
    }
}

struct CanonicalSingle: SingleValueEncodingContainer {
    let node: CanonicalNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.content = CanonicalNode.null.content }
    func encode(_ value: Bool) { node.content = CanonicalNode(value).content }
    func encode(_ value: String) { node.content = CanonicalNode(value).content }
    func encode(_ value: Double) throws { node.content = try CanonicalEncoder.node(of: value).content }
    func encode(_ value: Float) throws { node.content = try CanonicalEncoder.node(of: value).content }
    func encode(_ value: Int) { node.content = CanonicalNode(value).content }
    func encode(_ value: Int8) { node.content = CanonicalNode(value).content }
    func encode(_ value: Int16) { node.content = CanonicalNode(value).content }
    func encode(_ value: Int32) { node.content = CanonicalNode(value).content }
    func encode(_ value: Int64) { node.content = CanonicalNode(value).content }
    func encode(_ value: Int128) { node.content = CanonicalNode(value).content }
    func encode(_ value: UInt) { node.content = CanonicalNode(value).content }
    func encode(_ value: UInt8) { node.content = CanonicalNode(value).content }
    func encode(_ value: UInt16) { node.content = CanonicalNode(value).content }
    func encode(_ value: UInt32) { node.content = CanonicalNode(value).content }
    func encode(_ value: UInt64) { node.content = CanonicalNode(value).content }
    func encode(_ value: UInt128) { node.content = CanonicalNode(value).content }

    func encode<Part: Encodable>(_ value: Part) throws {
        node.content = try CanonicalEncoder.node(of: value, at: codingPath).content
    }
}
