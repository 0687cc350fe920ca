internal import Foundation

extension DecodingSource {
    /// Sets the cursor of the depth to the first entry of the map.
    func startReading(_ cursor: MapCursor, depth: Int) {
        while mapCursors.count < depth { mapCursors.append(MapCursor()) }
        if mapCursors.count == depth {
            mapCursors.append(cursor)
        } else {
            mapCursors[depth] = cursor
        }
    }

    /// Moves the cursor past the value that was read last.
    @inline(__always)
    func finishValue(depth: Int) {
        guard mapCursors[depth].isAtValue else { return }
        let end = end(of: mapCursors[depth].offset, depth: depth + 1)
        mapCursors[depth].moveToNextEntry(end)
    }

    /// Returns the offset of the value for the key, or `nil` if the map does not contain the key.
    ///
    /// - Parameter isRead: Whether the caller reads the value, so that the following key is
    ///   expected next.
    @inline(__always)
    func value(
        of key: some CodingKey,
        in map: Int,
        depth: Int,
        isRead: Bool
    ) -> Int? {
        guard isOpen else { return nil }
        if depth < mapCursors.count, mapCursors[depth].map == map {
            finishValue(depth: depth)
        } else {
            startReading(MapCursor(map, reader), depth: depth)
        }
        let cursor = mapCursors[depth]
        guard !cursor.isAtEnd(reader),
            let value = value(of: key, at: cursor.offset)
        else {
            return search(for: key, depth: depth, isRead: isRead)
        }
        if isRead { mapCursors[depth].moveToValue(value) }
        return value
    }

    @inline(never)
    private func search(for key: some CodingKey, depth: Int, isRead: Bool) -> Int? {
        // A type that failed to decode the last value as one type may try another type for the same
        // key.
        if mapCursors[depth].entry >= 0,
            let value = value(of: key, at: mapCursors[depth].entry)
        {
            if isRead { mapCursors[depth].moveBack(to: value) }
            return value
        }
        guard mayContain(key, depth: depth) else { return nil }
        // Search from the current entry to the end, then from the first entry to the current one.
        var cursor = mapCursors[depth]
        let here = cursor.offset
        while true {
            if cursor.isAtEnd(reader) {
                cursor.restart(reader)
                if cursor.isAtEnd(reader) || cursor.offset == here { return nil }
            }
            if let value = value(of: key, at: cursor.offset) {
                if isRead {
                    cursor.moveToValue(value)
                    mapCursors[depth] = cursor
                }
                return value
            }
            cursor.skipEntry(reader)
            if cursor.offset == here { return nil }
        }
    }

    /// Whether the map may contain the key, according to its key filter.
    private func mayContain(_ key: some CodingKey, depth: Int) -> Bool {
        guard case .useDefaultKeys = options.keyDecodingStrategy else { return true }
        let mask = mapCursors[depth].mask ?? mask(of: mapCursors[depth].map)
        mapCursors[depth].mask = mask
        var name = key.stringValue
        let bit = name.withUTF8 { ByteSlice($0).keyBit }
        return mask.contains(bit) || key.intValue != nil
    }

    private func mask(of map: Int) -> KeyMask {
        var mask = KeyMask()
        for entry in entries(of: map) {
            let head = reader.contentHead(at: entry)
            if head.type == .text {
                _ = mask.insert(reader.withBytes(head) { ByteSlice($0).keyBit })
            }
        }
        return mask
    }

    // MARK: Keys

    /// Whether keys of types that are not dictionaries must be compared.
    @inline(__always)
    var mayCompareKeys: Bool {
        if case .useDefaultKeys = options.keyDecodingStrategy { return hasOtherKeys }
        return true
    }

    /// The offsets of the entries of a map.
    func entries(of map: Int) -> MapEntries {
        MapEntries(cursor: MapCursor(map, reader), reader: reader)
    }

    /// The offset of the first entry of a map that is not empty.
    func firstEntry(of map: Int) -> Int {
        reader.contentHead(at: map).next
    }

    /// The number of entries of a map.
    func count(of map: Int) -> Int {
        let head = reader.contentHead(at: map)
        return head.isIndefinite
            ? entries(of: map).reduce(0) { count, _ in
                count + 1
            } : Int(head.argument)
    }

    /// Returns the offset of the entry's value if the entry has the given key.
    @inline(__always)
    private func value(of key: some CodingKey, at entry: Int) -> Int? {
        let head = reader.head(at: entry)
        if head.type == .text, !head.isIndefinite,
            case .useDefaultKeys = options.keyDecodingStrategy
        {
            let end = head.next + Int(head.argument)
            return ByteSlice(reader.base + head.next, count: Int(head.argument)).isText(
                key.stringValue
            ) ? end : nil
        }
        return isEqualKey(key, at: entry) ? reader.end(of: entry) : nil
    }

    /// Whether the entry has the given key. Handles integers, texts of indefinite length and
    /// converted keys.
    @inline(never)
    private func isEqualKey<Key: CodingKey>(_ key: Key, at entry: Int) -> Bool {
        guard let found = storedKey(at: entry) else { return false }
        if let integer = found.intValue { return key.intValue == integer }
        return converted(found, at: entry, for: Key.self).stringValue == key.stringValue
    }

    /// The key of an entry, as the coding key type of a container.
    func key<Key: CodingKey>(
        at entry: Int,
        as type: Key.Type
    ) -> Key? {
        guard let found = storedKey(at: entry) else { return nil }
        if let integer = found.intValue {
            return Key(intValue: integer) ?? Key(stringValue: found.stringValue)
        }
        return Key(stringValue: converted(found, at: entry, for: Key.self).stringValue)
    }

    /// The key of an entry as stored, or `nil` if it is neither a text nor an integer.
    func storedKey(at entry: Int) -> CBORKey? {
        let head = reader.contentHead(at: entry)
        switch head.type {
        case .text: return reader.text(head).map { CBORKey(stringValue: $0) }
        case .unsigned: return Int(exactly: head.argument).map { CBORKey(intValue: $0) }
        case .negative:
            return Int(exactly: head.argument).map { CBORKey(intValue: ~$0) }
        case .bytes, .array, .map, .tag, .simple: return nil
        }
    }

    /// Throws if two keys of the map are one key of the type, such as 1 and "1", or if a dictionary
    /// cannot have a key.
    @inline(never)
    func compareKeys<Key: CodingKey>(of map: Int, as type: Key.Type) throws {
        let dictionary = decodedItem == map ? decodedType as? any UnorderedCollection.Type : nil
        guard mayHaveEqualKeys(map, of: type, dictionary?.keyType ?? String.self) else { return }
        let isOfDictionary = type.isOfDictionary
        var keys: [Key] = []
        for entry in entries(of: map) {
            if let key = key(at: entry, as: type) {
                keys.append(key)
            } else if isOfDictionary {
                throw dataCorrupted(
                    "A dictionary's key must be a text or an integer. Decode a CBORValue instead.",
                    at: map
                )
            }
        }
        guard Set(keys.map(\.stringValue)).count == keys.count,
            dictionary?.hasEqualKeys(keys) != true
        else {
            throw dataCorrupted(
                "Two keys of the map are the same key of the type. Decode a CBORValue instead.",
                at: map
            )
        }
    }

    /// Returns false if the keys need not be compared: no two texts, and no two integers, are equal
    /// in a map that was validated.
    private func mayHaveEqualKeys<Key: CodingKey>(
        _ map: Int,
        of type: Key.Type,
        _ keyType: Any.Type
    ) -> Bool {
        var isSnakeCase = false
        switch options.keyDecodingStrategy {
        case .useDefaultKeys: if !hasOtherKeys, keyType == String.self { return false }
        case .convertFromSnakeCase: isSnakeCase = !type.isOfDictionary
        case .custom: if !type.isOfDictionary { return true }
        }
        if keyType != String.self, keyType != Int.self { return true }
        var hashes: Set<UInt64> = []
        var hasTexts: Bool = false
        var hasIntegers: Bool = false
        for entry in entries(of: map) {
            let head = reader.head(at: entry)
            if head.type == .text, let text = reader.slice(head) {
                hasTexts = true
                if keyType == Int.self, text.mayBeAnotherNumeral { return true }
                if isSnakeCase, !text.isASCII || !hashes.insert(text.snakeCaseHash).inserted {
                    return true
                }
            } else if head.type == .unsigned || head.type == .negative,
                Int(exactly: head.argument) != nil
            {
                hasIntegers = true
            } else {
                return true
            }
        }
        return hasTexts && hasIntegers
    }

    /// Applies the key strategy. Dictionary keys are data and are not converted.
    private func converted<Key: CodingKey>(
        _ key: CBORKey,
        at entry: Int,
        for type: Key.Type
    ) -> any CodingKey {
        if case .useDefaultKeys = options.keyDecodingStrategy { return key }
        guard !type.isOfDictionary else { return key }
        return switch options.keyDecodingStrategy {
        case .useDefaultKeys: key
        case .convertFromSnakeCase: CBORKey(stringValue: SnakeCase.camelCase(key.stringValue))
        case .custom(let change): change(codingPath(ofMapWithEntry: entry) + [key])
        }
    }
}
