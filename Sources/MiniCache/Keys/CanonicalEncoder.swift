internal import Foundation
internal import VellumCore
internal import VellumEngine

/// Encodes a key as ``CanonicalNode``: as `JSONEncoder` would, but the same text for equal keys, or an error.
struct CanonicalEncoder: Encoder {
    let node: CanonicalNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ node: CanonicalNode, _ codingPath: [any CodingKey]) {
        self.node = node
        self.codingPath = codingPath
    }

    /// The whole key.
    static func node<Key: Encodable>(of key: Key) throws -> CanonicalNode {
        let node = try node(of: key, at: [])
        guard case .none = node.content else { return node }
        throw MiniCacheError(.notEncodable, "A key of type \(Key.self) encodes nothing, so that all of them would be one.")
    }

    /// A part of the key.
    static func node<Part: Encodable>(of part: Part, at path: [any CodingKey]) throws -> CanonicalNode {
        switch part {
        case let text as String: return CanonicalNode(text)
        // Types whose own encoding is not what JSON writes for them.
        case let data as Data: return CanonicalNode(data.base64EncodedString())
        case let url as URL: return CanonicalNode(url.absoluteString)
        case let decimal as Decimal: return try node(ofDecimal: decimal)
        case let collection as any KeyPart where !type(of: collection).isDeterministic:
            throw MiniCacheError(
                .invalidKey,
                """
                \(Part.self) cannot be part of a key: equal ones may be encoded in different orders. Use a sorted array, or a dictionary \
                with String or Int keys.
                """)
        default:
            let node = CanonicalNode()
            try part.encode(to: CanonicalEncoder(node, path))
            return node
        }
    }

    static func node(of number: some BinaryFloatingPoint & LosslessStringConvertible) throws -> CanonicalNode {
        guard let node = CanonicalNode(number) else { throw notFinite }
        return node
    }

    private static func node(ofDecimal decimal: Decimal) throws -> CanonicalNode {
        guard decimal.isFinite, let node = CanonicalNode(number: decimal.description) else { throw notFinite }
        return node
    }

    private static var notFinite: MiniCacheError {
        MiniCacheError(.invalidKey, "A key holds a number that is infinite or none, which has no place in a key.")
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(CanonicalObject<Key>(node, codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { CanonicalArray(node, codingPath) }

    func singleValueContainer() -> any SingleValueEncodingContainer { CanonicalSingle(node: node, codingPath: codingPath) }
}

/// A name or a place that is no coding key of a user's type.
struct CanonicalPlace: CodingKey {
    var stringValue: String
    var intValue: Int?

    init(stringValue: String) { self.stringValue = stringValue }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}
