import Foundation

/// Makes random calls to old and new encoders and containers, and applies each call to the model.
final class ContainerScript: Encodable {
    struct Options {
        /// Whether values throw while they are encoded and the errors are caught.
        var hasFailures = false
        /// Whether values write to enclosing containers.
        var writesAround = true
        var steps = 60
    }

    struct Mismatch: Error, CustomStringConvertible { var description: String }

    private enum Handle {
        case keyed(KeyedEncodingContainer<TextKey>, ModelNode)
        case unkeyed(any UnkeyedEncodingContainer, ModelNode)
        case encoder(any Encoder, ModelNode)
    }

    let root = ModelNode(path: [])
    private let options: Options
    private var random: SplitMix64
    private var handles: [Handle] = []
    private var stepsLeft: Int
    private static let keys = [
        "a", "b", "c", "dd", "", "é", "a key that is longer than twenty-three bytes",
    ]

    init(seed: UInt64, _ options: Options) {
        random = SplitMix64(seed: seed)
        self.options = options
        stepsLeft = options.steps
    }

    func encode(to encoder: any Encoder) throws {
        if random.oneIn(2) { openMap(encoder, root) } else { openArray(encoder, root) }
        while stepsLeft > 0 { try step(from: 0, depth: 0) }
    }

    // MARK: Steps

    private func step(from first: Int, depth: Int) throws {
        stepsLeft -= 1
        guard first < handles.count else { return }
        let index = first + random.below(handles.count - first)
        switch handles[index] {
        case .keyed(var container, let node):
            try step(&container, node, depth: depth)
            let path = container.codingPath.map(\.stringValue)
            if path != node.path {
                throw Mismatch(description: "the path is \(path), not \(node.path)")
            }
        case .unkeyed(var container, let node):
            try step(&container, node, depth: depth)
            if container.count != node.count {
                throw Mismatch(description: "the count is \(container.count), not \(node.count)")
            }
        case .encoder(let encoder, let node):
            try step(encoder, node, depth: depth)
        }
    }

    private func step(
        _ container: inout KeyedEncodingContainer<TextKey>,
        _ node: ModelNode,
        depth: Int
    ) throws {
        let key = random.element(of: Self.keys)
        guard !node.keysInProgress.contains(key) else { return }
        let known = node[key]
        // A nested container may replace only a plain scalar.
        let nested = known.flatMap { $0.isPlain ? nil : $0 }
        let path = node.path + [key]
        let codingKey = TextKey(stringValue: key)
        switch random.below(8) {
        case 0...2:
            let scalar = randomScalar()
            try encode(scalar, to: &container, codingKey)
            node[key] = ModelNode(.scalar(scalar), path: path, isPlain: true)
        case 3, 4:
            guard depth < 5 else { return }
            let child = ModelNode(path: path, isValue: true)
            node.keysInProgress.insert(key)
            defer { node.keysInProgress.remove(key) }
            node[key] = child
            do {
                try container.encode(value(child, depth: depth), forKey: codingKey)
            } catch is Failure {
                node[key] = known
            }
        case 5:
            guard nested.map({ $0.isMap && !$0.isValue }) ?? true else { return }
            let child = nested ?? ModelNode(.map([:]), path: path)
            node[key] = child
            handles.append(
                .keyed(container.nestedContainer(keyedBy: TextKey.self, forKey: codingKey), child)
            )
        case 6:
            guard nested.map({ $0.isArray && !$0.isValue }) ?? true else { return }
            let child = nested ?? ModelNode(.array([]), path: path)
            node[key] = child
            handles.append(.unkeyed(container.nestedUnkeyedContainer(forKey: codingKey), child))
        default:
            guard nested == nil else { return }
            let child = ModelNode(path: path)
            node[key] = child
            handles.append(.encoder(container.superEncoder(forKey: codingKey), child))
        }
    }

    private func step(
        _ container: inout any UnkeyedEncodingContainer,
        _ node: ModelNode,
        depth: Int
    ) throws {
        let path = node.path + ["Index \(node.count)"]
        switch random.below(8) {
        case 0...2:
            // Sometimes more elements than the shortest head can represent.
            for _ in 0..<(random.oneIn(10) ? 30 : 1) {
                let scalar = randomScalar()
                try encode(scalar, to: &container)
                node.append(ModelNode(.scalar(scalar), path: path))
            }
        case 3, 4:
            guard depth < 5 else { return }
            let child = ModelNode(path: path, isValue: true)
            node.append(child)
            do { try container.encode(value(child, depth: depth)) } catch is Failure {
                node.remove(child)
            }
        case 5:
            let child = ModelNode(.map([:]), path: path)
            node.append(child)
            handles.append(.keyed(container.nestedContainer(keyedBy: TextKey.self), child))
        case 6:
            let child = ModelNode(.array([]), path: path)
            node.append(child)
            handles.append(.unkeyed(container.nestedUnkeyedContainer(), child))
        default:
            let child = ModelNode(path: path)
            node.append(child)
            handles.append(.encoder(container.superEncoder(), child))
        }
    }

    private func step(_ encoder: any Encoder, _ node: ModelNode, depth: Int) throws {
        switch node.content {
        case .undecided:
            switch random.below(4) {
            case 0: openMap(encoder, node)
            case 1: openArray(encoder, node)
            case 2:
                let scalar = randomScalar()
                var container = encoder.singleValueContainer()
                node.content = .scalar(scalar)
                try encode(scalar, to: &container)
            default:
                guard depth < 5 else { return }
                var container = encoder.singleValueContainer()
                try container.encode(value(node, depth: depth, mayFail: false))
            }
        case .map: openMap(encoder, node)
        case .array: openArray(encoder, node)
        case .scalar: return
        }
    }

    private func openMap(_ encoder: any Encoder, _ node: ModelNode) {
        if node.isUndecided { node.content = .map([:]) }
        handles.append(.keyed(encoder.container(keyedBy: TextKey.self), node))
    }

    private func openArray(_ encoder: any Encoder, _ node: ModelNode) {
        if node.isUndecided { node.content = .array([]) }
        handles.append(.unkeyed(encoder.unkeyedContainer(), node))
    }

    // MARK: Values

    /// A value that continues the script while it is encoded.
    private func value(_ node: ModelNode, depth: Int, mayFail: Bool = true) -> Encoding {
        let fails = mayFail && options.hasFailures && random.oneIn(3)
        let steps = random.below(8)
        return Encoding { [self] encoder in
            let first = options.writesAround ? 0 : handles.count
            let own = handles.count
            handles.append(.encoder(encoder, node))
            for _ in 0..<steps where stepsLeft > 0 { try step(from: first, depth: depth + 1) }
            guard fails else { return }
            // Containers of a failed value are not used again.
            handles.removeSubrange(own...)
            throw Failure()
        }
    }

    private func randomScalar() -> Tree {
        switch random.below(5) {
        case 0: .null
        case 1: .bool(random.oneIn(2))
        case 2: .integer(random.below(1000) - 500)
        case 3: .double(Double(random.below(1000)) + 0.5)
        default: .text(random.text())
        }
    }

    private func encode(
        _ scalar: Tree,
        to container: inout KeyedEncodingContainer<TextKey>,
        _ key: TextKey
    ) throws {
        switch scalar {
        case .null: try container.encodeNil(forKey: key)
        case .bool(let value): try container.encode(value, forKey: key)
        case .integer(let value): try container.encode(value, forKey: key)
        case .double(let value): try container.encode(value, forKey: key)
        case .text(let value): try container.encode(value, forKey: key)
        case .array, .map: try container.encode(scalar, forKey: key)
        }
    }

    private func encode(_ scalar: Tree, to container: inout any UnkeyedEncodingContainer) throws {
        switch scalar {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .array, .map: try container.encode(scalar)
        }
    }

    private func encode(_ scalar: Tree, to container: inout any SingleValueEncodingContainer) throws
    {
        switch scalar {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .array, .map: try container.encode(scalar)
        }
    }
}
