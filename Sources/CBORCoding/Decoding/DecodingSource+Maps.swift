internal import Foundation

extension DecodingSource {
    /// Makes ready to read the map from its first entry.
    func begin(_ map: Int, depth: Int) {
        while cursors.count <= depth { cursors.append(MapCursor()) }
        cursors[depth] = MapCursor(map, reader)
    }

    /// Moves behind the value that was read last.
    @inline(__always)
    func settle(depth: Int) {
        guard cursors[depth].isAtValue else { return }
        let end = end(of: cursors[depth].offset, depth: depth + 1)
        cursors[depth].moveBehindValue(end)
    }

    /// Where the value of the key begins; `nil` if the map does not have the key.
    ///
    /// - Parameter isRead: Whether the value will be read, so that the key behind it is expected next.
    @inline(__always)
    func value(of key: some CodingKey, in map: Int, depth: Int, isRead: Bool) -> Int? {
        guard isOpen else { return nil }
        if depth < cursors.count, cursors[depth].map == map { settle(depth: depth) } else { begin(map, depth: depth) }
        let cursor = cursors[depth]
        guard !cursor.isAtEnd(reader), let value = value(of: key, at: cursor.offset) else {
            return search(for: key, depth: depth, isRead: isRead)
        }
        if isRead { cursors[depth].moveToValue(value) }
        return value
    }

    @inline(never)
    private func search(for key: some CodingKey, depth: Int, isRead: Bool) -> Int? {
        // Who could not decode a value as one type tries the next.
        if cursors[depth].entry >= 0, let value = value(of: key, at: cursors[depth].entry) {
            if isRead { cursors[depth].moveBack(to: value) }
            return value
        }
        guard mayHave(key, depth: depth) else { return nil }
        // From here to the end, and from the beginning to here.
        var cursor = cursors[depth]
        let here = cursor.offset
        while true {
            if cursor.isAtEnd(reader) {
                cursor.restart(reader)
                if cursor.isAtEnd(reader) || cursor.offset == here { return nil }
            }
            if let value = value(of: key, at: cursor.offset) {
                if isRead {
                    cursor.moveToValue(value)
                    cursors[depth] = cursor
                }
                return value
            }
            cursor.pass(reader)
            if cursor.offset == here { return nil }
        }
    }

    /// Whether the map may have the key, from what is kept of all its keys.
    private func mayHave(_ key: some CodingKey, depth: Int) -> Bool {
        guard case .useDefaultKeys = options.keyDecodingStrategy else { return true }
        let mask = cursors[depth].mask ?? mask(of: cursors[depth].map)
        cursors[depth].mask = mask
        var name = key.stringValue
        let bit = name.withUTF8 { ByteSlice($0).keyBit }
        return mask.contains(bit) || key.intValue != nil
    }

    private func mask(of map: Int) -> KeyMask {
        var mask = KeyMask()
        for entry in entries(of: map) {
            let head = reader.head(at: reader.content(at: entry))
            if head.type == .text { _ = mask.insert(reader.withBytes(head) { ByteSlice($0).keyBit }) }
        }
        return mask
    }

    // MARK: Keys

    /// Where the entries of a map begin.
    func entries(of map: Int) -> MapEntries { MapEntries(MapCursor(map, reader), reader) }

    /// Where the first entry of a map begins, if it has any.
    func firstEntry(of map: Int) -> Int { reader.head(at: reader.content(at: map)).next }

    /// How many entries a map has.
    func count(of map: Int) -> Int {
        let head = reader.head(at: reader.content(at: map))
        return head.isIndefinite ? entries(of: map).reduce(0) { count, _ in count + 1 } : Int(head.argument)
    }

    /// Where the value of the entry begins, if its key is this one.
    @inline(__always)
    private func value(of key: some CodingKey, at entry: Int) -> Int? {
        let head = reader.head(at: entry)
        if head.type == .text, !head.isIndefinite, case .useDefaultKeys = options.keyDecodingStrategy {
            let end = head.next + Int(head.argument)
            return ByteSlice(reader.base + head.next, count: Int(head.argument)).isText(key.stringValue) ? end : nil
        }
        return isOther(key, at: entry) ? reader.end(of: entry) : nil
    }

    /// Whether a key that is no plain text, or is changed by a strategy, is this one.
    @inline(never)
    private func isOther<Key: CodingKey>(_ key: Key, at entry: Int) -> Bool {
        guard let found = plainKey(at: entry) else { return false }
        if let integer = found.intValue { return key.intValue == integer }
        return changed(found, at: entry, for: Key.self).stringValue == key.stringValue
    }

    /// The key of an entry, as a key of the type's.
    func key<Key: CodingKey>(at entry: Int, as type: Key.Type) -> Key? {
        guard let found = plainKey(at: entry) else { return nil }
        if let integer = found.intValue { return Key(intValue: integer) ?? Key(stringValue: found.stringValue) }
        return Key(stringValue: changed(found, at: entry, for: Key.self).stringValue)
    }

    /// The key of an entry as it stands there; `nil` if it is neither a text nor an integer.
    func plainKey(at entry: Int) -> CBORKey? {
        let head = reader.head(at: reader.content(at: entry))
        switch head.type {
        case .text: return reader.text(head).map { CBORKey(stringValue: $0) }
        case .unsigned: return Int(exactly: head.argument).map { CBORKey(intValue: $0) }
        case .negative: return Int(exactly: head.argument).map { CBORKey(intValue: ~$0) }
        case .bytes, .array, .map, .tag, .simple: return nil
        }
    }

    /// What the strategy makes of a key. The keys of a dictionary are data.
    private func changed<Key: CodingKey>(_ key: CBORKey, at entry: Int, for type: Key.Type) -> any CodingKey {
        if case .useDefaultKeys = options.keyDecodingStrategy { return key }
        guard !type.isOfDictionary else { return key }
        return switch options.keyDecodingStrategy {
        case .useDefaultKeys: key
        case .convertFromSnakeCase: CBORKey(stringValue: SnakeCase.to(key.stringValue))
        case .custom(let change): change(codingPath(ofMapWithEntry: entry) + [key])
        }
    }
}
