internal import Foundation

extension EncodingBuffer {
    /// Appends a key of the map, which must be current.
    @inline(__always)
    func addKey(_ key: some CodingKey, to map: Int) {
        let start = bytes.count
        if case .useDefaultKeys = options.keyEncodingStrategy {
            bytes.append(key.stringValue)
        } else {
            addConvertedKey(key, to: map)
        }
        let previous = items[map].lastKey
        items[map].lastKey = keys.count
        keys.append(Key(start: start, end: bytes.count, previous: previous))
        // If no bit is set twice, there are no duplicate keys. Collisions are checked when encoding
        // ends.
        let bit = KeyMask.bit(bytes.base + start, count: bytes.count - start)
        if !items[map].keyMask.insert(bit) { items[map].mayHaveDuplicates = true }
    }

    @inline(never)
    private func addConvertedKey<Key: CodingKey>(_ key: Key, to map: Int) {
        let start = bytes.count
        switch options.keyEncodingStrategy {
        case .useIntegerKeys:
            if let integer = key.integerToEncode {
                bytes.append(integer: integer)
            } else {
                bytes.append(key.stringValue)
            }
        // The keys of a dictionary are data.
        case .convertToSnakeCase where !Key.isOfDictionary:
            bytes.append(SnakeCase.snakeCase(key.stringValue))
        case .custom(let change) where !Key.isOfDictionary:
            bytes.append(change(codingPath(of: map) + [key]).stringValue)
        case .useDefaultKeys, .convertToSnakeCase, .custom:
            bytes.append(key.stringValue)
        }
        originalKeys[start] = key
    }

    /// The item that was already started under the last key of the map, if any.
    func existingItem(ofLastKeyIn map: Int) -> Int? {
        guard items[map].mayHaveDuplicates else { return nil }
        let last = keys[items[map].lastKey]
        var key = last.previous
        while key >= 0 {
            if slice(keys[key]) == slice(last),
                originalName(of: keys[key]) == originalName(of: last)
            {
                return (0..<items.count).first {
                    items[$0].keyStart == keys[key].start && items[$0].parent == map
                        && items[$0].kind != .dropped
                }
            }
            key = keys[key].previous
        }
        return nil
    }

    /// Throws if different keys of a map were converted to one, of which only the last would be
    /// kept.
    func compareConvertedKeys() throws {
        guard hasDuplicateKeys() else { return }
        for map in 0..<items.count where items[map].kind != .dropped {
            var names: [KeyIdentity: String] = [:]
            let isLost = hasKey(map) { key in
                let name = originalName(of: key)
                return names.updateValue(name ?? "", forKey: KeyIdentity(slice(key))).map {
                    $0 != name
                } ?? false
            }
            if isLost {
                throw error(
                    map,
                    """
                    Two keys become one by the keyEncodingStrategy. Rename one, or use another \
                    strategy.
                    """
                )
            }
        }
    }

    private func originalName(of key: Key) -> String? { originalKeys[key.start]?.stringValue }

    /// Whether any map has duplicate keys.
    func hasDuplicateKeys() -> Bool {
        let someMayHaveEquivalents = (0..<keys.count).contains {
            slice(keys[$0]).keyMayHaveEquivalents
        }
        return (0..<items.count).contains { map in
            guard items[map].kind != .dropped else { return false }
            if someMayHaveEquivalents, hasKey(map, where: { slice($0).keyMayHaveEquivalents }) {
                return hasEqualKeys(map)
            }
            return items[map].mayHaveDuplicates && hasSameKeys(map)
        }
    }

    /// Whether the map has two keys with the same bytes.
    private func hasSameKeys(_ map: Int) -> Bool {
        var slices = DistinctSlices(count: items[map].count)
        return hasKey(map) { !slices.insert(slice($0)) }
    }

    /// Whether the map has two equal keys, possibly with different bytes.
    private func hasEqualKeys(_ map: Int) -> Bool {
        var identities = Set<KeyIdentity>(minimumCapacity: items[map].count)
        return hasKey(map) { !identities.insert(KeyIdentity(slice($0))).inserted }
    }

    private func hasKey(_ map: Int, where test: (Key) -> Bool) -> Bool {
        var key = items[map].lastKey
        while key >= 0 {
            if test(keys[key]) { return true }
            key = keys[key].previous
        }
        return false
    }

    private func slice(_ key: Key) -> ByteSlice {
        ByteSlice(bytes.base + key.start, count: key.end - key.start)
    }

    // MARK: Coding path

    func codingPath(of item: Int) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var item = item
        while item > 0 {
            path.append(key(of: item))
            item = items[item].parent
        }
        return path.reversed()
    }

    private func key(of item: Int) -> any CodingKey {
        let start = items[item].keyStart
        let index = items[item].index
        guard start >= 0 else { return CBORKey(index: index) }
        if let original = originalKeys[start] { return original }
        let reader = ItemReader(base: bytes.base, count: bytes.count)
        return CBORKey(stringValue: reader.text(reader.head(at: start)) ?? "")
    }
}

extension CodingKey {
    /// Whether this is the standard library's private type for dictionary keys.
    static var isOfDictionary: Bool {
        _typeName(Self.self, qualified: false) == "_DictionaryCodingKey"
    }

    /// The integer that represents the key without loss.
    fileprivate var integerToEncode: Int? {
        guard let intValue else { return nil }
        // The dictionary keys "1" and "01" both have the `intValue` 1.
        return Int(stringValue) == nil || stringValue == "\(intValue)" ? intValue : nil
    }
}
