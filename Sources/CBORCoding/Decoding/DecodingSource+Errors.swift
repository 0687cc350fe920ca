internal import Foundation

extension DecodingSource {
    // MARK: Where an item is

    /// The keys and places on the way to the item. Nobody asks but errors and a type's own code.
    func codingPath(of target: Int) -> [any CodingKey] {
        codingPath(of: target, asRead: true) ?? codingPath(of: target, asRead: false) ?? []
    }

    /// Goes where the containers are being read, as far as these lie on the way, and looks for the rest.
    ///
    /// - Parameter asRead: False to look everywhere: what is being read may be beside the way.
    private func codingPath(of target: Int, asRead: Bool) -> [any CodingKey]? {
        guard isOpen else { return nil }
        var path: [any CodingKey] = []
        var item = 0
        while item != target {
            let known = asRead ? self.entryBeingRead(in: item, depth: path.count) : nil
            guard let step = known ?? step(from: item, to: target) else { return nil }
            // In a key: the way ends at the map.
            guard step.value <= target else { return asRead ? nil : path }
            path.append(step.key)
            item = step.value
        }
        return path
    }

    private func entryBeingRead(in container: Int, depth: Int) -> (key: any CodingKey, value: Int)? {
        if depth < cursors.count, cursors[depth].map == container, cursors[depth].isAtValue {
            return (plainKey(at: cursors[depth].entry).map(pathKey) ?? CBORKey(stringValue: "?"), cursors[depth].offset)
        }
        if depth < places.count, places[depth].array == container {
            return (CBORKey(place: places[depth].place), places[depth].element)
        }
        return nil
    }

    /// Notes which element of an array is being read.
    @inline(__always)
    func enter(_ place: ArrayPlace, depth: Int) {
        while places.count <= depth { places.append(ArrayPlace()) }
        places[depth] = place
    }

    /// The keys and places on the way to the map that has an entry there.
    func codingPath(ofMapWithEntry entry: Int) -> [any CodingKey] { codingPath(of: entry, asRead: false) ?? [] }

    /// Which entry of a container holds the item.
    private func step(from container: Int, to target: Int) -> (key: any CodingKey, value: Int)? {
        let head = reader.head(at: reader.content(at: container))
        switch head.type {
        case .map:
            for entry in entries(of: container) {
                let value = reader.end(of: entry)
                guard target < reader.end(of: value) else { continue }
                return (plainKey(at: entry).map(pathKey) ?? CBORKey(stringValue: "?"), value)
            }
        case .array:
            var offset = head.next
            for place in 0..<elements(of: head) {
                let end = reader.end(of: offset)
                if target < end { return (CBORKey(place: place), offset) }
                offset = end
            }
        case .unsigned, .negative, .bytes, .text, .tag, .simple: break
        }
        return nil
    }

    private func pathKey(_ key: CBORKey) -> CBORKey {
        guard case .convertFromSnakeCase = options.keyDecodingStrategy, key.intValue == nil else { return key }
        return CBORKey(stringValue: SnakeCase.to(key.stringValue))
    }

    /// How many elements an array has.
    func elements(of head: ItemReader.Head) -> Int {
        guard head.isIndefinite else { return Int(head.argument) }
        var (count, offset) = (0, head.next)
        while !reader.isBreak(at: offset) { (count, offset) = (count + 1, reader.end(of: offset)) }
        return count
    }

    // MARK: Errors

    func mismatch(_ type: Any.Type, at offset: Int) -> DecodingError {
        guard isOpen else { return closed }
        let context = context(offset, "Expected \(type), but found \(kind(at: offset)).")
        return reader.isNil(at: offset) ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func misfit(_ type: Any.Type, at offset: Int) -> DecodingError {
        .dataCorrupted(context(offset, "The number does not fit in \(type)."))
    }

    func corrupted(_ description: String, at offset: Int) -> DecodingError {
        .dataCorrupted(context(offset, description))
    }

    func missing(_ key: some CodingKey, in map: Int) -> DecodingError {
        guard isOpen else { return closed }
        return .keyNotFound(key, context(map, "The map has no key '\(key.stringValue)'."))
    }

    /// Of a decoder that somebody kept.
    var closed: DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "A decoder is used when its value was decoded already."))
    }

    private func context(_ offset: Int, _ description: String) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath(of: offset), debugDescription: description)
    }

    /// What stands there, without saying which.
    private func kind(at offset: Int) -> String {
        let head = reader.head(at: reader.content(at: offset))
        switch head.type {
        case .unsigned, .negative: return "an integer"
        case .bytes: return "a byte string"
        case .text: return "a text"
        case .array: return "an array"
        case .map: return "a map"
        case .tag: return "a tag"
        case .simple:
            switch head.information {
            case SimpleByte.false & 0x1F, SimpleByte.true & 0x1F: return "a boolean"
            case SimpleByte.null & 0x1F: return "null"
            case SimpleByte.undefined & 0x1F: return "undefined"
            case SimpleByte.half & 0x1F, SimpleByte.single & 0x1F, SimpleByte.double & 0x1F: return "a floating-point number"
            default: return "a simple value"
            }
        }
    }
}
