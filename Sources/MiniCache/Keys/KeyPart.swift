/// A collection whose elements may come in any order when it is encoded: whether it may be a part of a key.
///
/// An encoder sees a set as the elements of an array, in an order that changes from start to start. The type says what the
/// elements do not.
protocol KeyPart {
    /// Whether equal values are always encoded alike.
    static var isDeterministic: Bool { get }
}

extension Set: KeyPart {
    static var isDeterministic: Bool { false }
}

extension Dictionary: KeyPart {
    /// With such keys it is encoded by name, and names are put in order. With others, as a list of keys and values.
    static var isDeterministic: Bool {
        Key.self == String.self || Key.self == Int.self || Key.self is any CodingKeyRepresentable.Type
    }
}
