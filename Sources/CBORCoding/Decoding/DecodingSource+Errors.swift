internal import Foundation

extension DecodingSource {
    // MARK: Coding path

    /// Returns the coding path of the item. It is computed only on demand, for errors and for types
    /// that ask for it.
    func codingPath(of target: Int) -> [any CodingKey] {
        codingPath(of: target, asRead: true)
            ?? codingPath(of: target, asRead: false)
            ?? []
    }

    /// Finds the path to an offset.
    ///
    /// - Parameter asRead: Whether to follow the cursors of the containers that are being read,
    ///   which is faster but finds only items in them. If false, the containers are searched.
    private func codingPath(of target: Int, asRead: Bool) -> [any CodingKey]? {
        guard isOpen else { return nil }
        var path: [any CodingKey] = []
        var item = 0
        while item != target {
            let known = asRead ? self.entryBeingRead(in: item, depth: path.count) : nil
            guard let step = known ?? step(from: item, to: target) else { return nil }
            // The target is inside a key: the path ends at the map.
            guard step.value <= target else { return asRead ? nil : path }
            path.append(step.key)
            item = step.value
        }
        return path
    }

    private func entryBeingRead(
        in container: Int,
        depth: Int
    ) -> (key: any CodingKey, value: Int)? {
        if depth < mapCursors.count, mapCursors[depth].map == container, mapCursors[depth].isAtValue
        {
            return (
                storedKey(at: mapCursors[depth].entry).map(pathKey)
                    ?? CBORKey(stringValue: "?"),
                mapCursors[depth].offset
            )
        }
        if depth < arrayCursors.count, arrayCursors[depth].array == container {
            return (CBORKey(index: arrayCursors[depth].index), arrayCursors[depth].element)
        }
        return nil
    }

    /// Records which element of an array is being read.
    @inline(__always)
    func setElement(_ cursor: ArrayCursor, depth: Int) {
        while arrayCursors.count <= depth { arrayCursors.append(ArrayCursor()) }
        arrayCursors[depth] = cursor
    }

    /// Returns the coding path of the map that has an entry at the offset.
    func codingPath(ofMapWithEntry entry: Int) -> [any CodingKey] {
        codingPath(of: entry, asRead: false) ?? []
    }

    /// Returns the entry of a container that contains the target.
    private func step(
        from container: Int,
        to target: Int
    ) -> (key: any CodingKey, value: Int)? {
        let head = reader.contentHead(at: container)
        switch head.type {
        case .map:
            for entry in entries(of: container) {
                let value = reader.end(of: entry)
                guard target < reader.end(of: value) else { continue }
                return (storedKey(at: entry).map(pathKey) ?? CBORKey(stringValue: "?"), value)
            }
        case .array:
            var offset = head.next
            for index in 0..<elements(of: head) {
                let end = reader.end(of: offset)
                if target < end { return (CBORKey(index: index), offset) }
                offset = end
            }
        case .unsigned, .negative, .bytes, .text, .tag, .simple: break
        }
        return nil
    }

    private func pathKey(_ key: CBORKey) -> CBORKey {
        guard case .convertFromSnakeCase = options.keyDecodingStrategy, key.intValue == nil else {
            return key
        }
        return CBORKey(stringValue: SnakeCase.camelCase(key.stringValue))
    }

    /// Returns the number of elements of an array.
    func elements(of head: ItemReader.Head) -> Int {
        guard head.isIndefinite else { return Int(head.argument) }
        var count = 0
        var offset = head.next
        while !reader.isBreak(at: offset) {
            count += 1
            offset = reader.end(of: offset)
        }
        return count
    }

    // MARK: Errors

    func typeMismatch(_ type: Any.Type, at offset: Int) -> DecodingError {
        guard isOpen else { return decoderExpired }
        let context = context(
            offset,
            "Expected \(type), but found \(kind(at: offset)). \(advice(type, at: offset))"
        )
        return reader.isNil(at: offset)
            ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func doesNotFit(_ type: Any.Type, at offset: Int) -> DecodingError {
        .dataCorrupted(
            context(
                offset,
                """
                The number does not fit in \(type). Decode a type that can represent it, or a \
                CBORValue.
                """
            )
        )
    }

    func dataCorrupted(_ description: String, at offset: Int) -> DecodingError {
        .dataCorrupted(context(offset, description))
    }

    func keyNotFound(_ key: some CodingKey, in map: Int) -> DecodingError {
        guard isOpen else { return decoderExpired }
        return .keyNotFound(
            key,
            context(
                map,
                """
                The map has no key '\(key.stringValue)'. Make the property optional if it may be \
                missing.
                """
            )
        )
    }

    /// The error for a decoder that is used after decoding has ended.
    var decoderExpired: DecodingError {
        .dataCorrupted(
            .init(
                codingPath: [],
                debugDescription:
                    """
                    The decoder was used after its value had been decoded. Use it only in \
                    'init(from:)'.
                    """
            )
        )
    }

    private func context(_ offset: Int, _ description: String) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath(of: offset), debugDescription: description)
    }

    /// Says what to do about an item that a type cannot be decoded from.
    private func advice(_ type: Any.Type, at offset: Int) -> String {
        switch reader.contentHead(at: offset).type {
        case _ where reader.isNil(at: offset): "Make it optional."
        case .bytes where !isBignum(at: offset): "Decode Data."
        case .text where type == Data.self: "Set dataDecodingStrategy to .base64 if it is Base64."
        case .text where type == Date.self: "Set dateDecodingStrategy to .iso8601."
        case .array where type == Data.self: "Set dataDecodingStrategy to .deferredToData."
        default: "Decode a type that matches, or a CBORValue."
        }
    }

    /// Describes the kind of the item. Errors must not contain values.
    private func kind(at offset: Int) -> String {
        let head = reader.contentHead(at: offset)
        switch head.type {
        case .unsigned, .negative: return "an integer"
        case .bytes: return isBignum(at: offset) ? "an integer" : "a byte string"
        case .text: return "a text"
        case .array: return "an array"
        case .map: return "a map"
        case .tag: return "a tag"
        case .simple:
            switch head.information {
            case SimpleByte.false & 0x1F, SimpleByte.true & 0x1F: return "a boolean"
            case SimpleByte.null & 0x1F: return "null"
            case SimpleByte.undefined & 0x1F: return "undefined"
            case SimpleByte.half & 0x1F, SimpleByte.single & 0x1F, SimpleByte.double & 0x1F:
                return "a floating-point number"
            default: return "a simple value"
            }
        }
    }
}
