/// A container or encoder of the model that the encoded bytes are compared with.
final class ModelNode {
    enum Content {
        case undecided
        case scalar(Tree)
        case array([ModelNode])
        case map([String: ModelNode])
    }

    var content: Content
    /// The coding path of the node.
    let path: [String]
    /// Whether the node was encoded as a value rather than as a nested container.
    let isValue: Bool
    /// Whether the node is a scalar that was encoded directly into a container.
    let isPlain: Bool
    /// The keys whose values are being encoded.
    var keysInProgress: Set<String> = []

    init(
        _ content: Content = .undecided,
        path: [String],
        isValue: Bool = false,
        isPlain: Bool = false
    ) {
        self.content = content
        self.path = path
        self.isValue = isValue
        self.isPlain = isPlain
    }

    /// The expected decoded tree. A node without content is an empty map.
    var tree: Tree {
        switch content {
        case .undecided: .map([:])
        case .scalar(let tree): tree
        case .array(let elements): .array(elements.map(\.tree))
        case .map(let entries): .map(entries.mapValues(\.tree))
        }
    }

    subscript(key: String) -> ModelNode? {
        get {
            guard case .map(let entries) = content else { return nil }
            return entries[key]
        }
        set {
            guard case .map(var entries) = content else { return }
            entries[key] = newValue
            content = .map(entries)
        }
    }

    var count: Int {
        guard case .array(let elements) = content else { return 0 }
        return elements.count
    }

    func append(_ node: ModelNode) {
        guard case .array(let elements) = content else { return }
        content = .array(elements + [node])
    }

    func remove(_ node: ModelNode) {
        guard case .array(let elements) = content else { return }
        content = .array(elements.filter { $0 !== node })
    }

    var isMap: Bool { if case .map = content { true } else { false } }
    var isArray: Bool { if case .array = content { true } else { false } }
    var isUndecided: Bool { if case .undecided = content { true } else { false } }
}
