/// An untyped tree, decoded from any data.
enum Tree: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case double(Double)
    case text(String)
    case array([Tree])
    case map([String: Tree])
}

extension Tree: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    init(integerLiteral: Int) { self = .integer(integerLiteral) }
    init(stringLiteral: String) { self = .text(stringLiteral) }
    init(arrayLiteral: Tree...) { self = .array(arrayLiteral) }
}

extension Tree: Codable {
    init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            self = .null
        } else if let value = try? single.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? single.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? single.decode(Double.self) {
            self = .double(value)
        } else if let value = try? single.decode(String.self) {
            self = .text(value)
        } else if var array = try? decoder.unkeyedContainer() {
            var elements: [Tree] = []
            while !array.isAtEnd { elements.append(try array.decode(Tree.self)) }
            self = .array(elements)
        } else {
            let map = try decoder.container(keyedBy: TextKey.self)
            self = .map(
                try Dictionary(
                    uniqueKeysWithValues: map.allKeys.map {
                        ($0.stringValue, try map.decode(Tree.self, forKey: $0))
                    }
                )
            )
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .map(let entries):
            var map = encoder.container(keyedBy: TextKey.self)
            for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
                try map.encode(value, forKey: TextKey(stringValue: key))
            }
        case .array(let elements):
            var array = encoder.unkeyedContainer()
            for element in elements { try array.encode(element) }
        default:
            var single = encoder.singleValueContainer()
            switch self {
            case .bool(let value): try single.encode(value)
            case .integer(let value): try single.encode(value)
            case .double(let value): try single.encode(value)
            case .text(let value): try single.encode(value)
            default: try single.encodeNil()
            }
        }
    }
}
