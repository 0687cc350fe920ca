internal import Foundation
public import VellumCore
internal import VellumEngine

/// What makes two keys one: the canonical JSON of the key, and a short way to it for strings and integers.
///
/// A text is the entry's key as it is; a further U+0001 stands before one that begins with U+0001. Everything else is
/// U+0001 and its canonical JSON, so that the integer 1 and the string "1" are two keys, while an `Int` and an `Int64`, or an
/// enum and its raw value, are one.
@usableFromInline
enum CacheKey {
    @inlinable
    static func of<Key: Codable>(_ key: Key) throws(MiniCacheError) -> EntryKey {
        // Settled while compiling, where the caller's types are known.
        if Key.self == String.self { return text(unsafeBitCast(key, to: String.self)) }
        if Key.self == Int.self { return integer(Int64(unsafeBitCast(key, to: Int.self))) }
        return try encoded(key)
    }

    @inlinable
    static func text(_ text: String) -> EntryKey {
        text.utf8.first == mark ? escaped(text) : EntryKey(text)
    }

    /// U+0001, before what is no text.
    @inlinable static var mark: UInt8 { 1 }

    @usableFromInline
    static func escaped(_ text: String) -> EntryKey { EntryKey("\u{1}" + text) }

    @usableFromInline
    static func integer(_ value: Int64) -> EntryKey {
        var count = 1
        var rest = value.magnitude
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        let length = count + (value < 0 ? 2 : 1)
        // Short ones need no memory of their own this way.
        return EntryKey(
            String(unsafeUninitializedCapacity: length) { bytes in
                bytes[0] = mark
                if value < 0 { bytes[1] = UInt8(ascii: "-") }
                var rest = value.magnitude
                for place in 1...count {
                    bytes[length - place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                return length
            })
    }

    @usableFromInline
    static func encoded<Key: Encodable>(_ key: Key) throws(MiniCacheError) -> EntryKey {
        do {
            return entryKey(of: try CanonicalEncoder.node(of: key))
        } catch let error as MiniCacheError {
            throw error
        } catch {
            throw MiniCacheError(.notEncodable, "A key of type \(Key.self) cannot be encoded.", cause: error)
        }
    }

    static func entryKey(of node: CanonicalNode) -> EntryKey {
        if case .string(let text) = node.content { return self.text(text) }
        return EntryKey("\u{1}" + node.json)
    }

    /// The key of an entry that was stored under the JSON text of another encoder; `nil` if that is none.
    static func of(json: String) -> EntryKey? {
        CanonicalNode(json: json).map(entryKey)
    }

    // MARK: Back

    /// The key that the entry was stored under, as its reader's type.
    static func decoded<Key: Decodable>(_ key: EntryKey, as type: Key.Type) throws(MiniCacheError) -> Key {
        let bytes = key.normalized.utf8
        let isJSON = bytes.first == mark && bytes.dropFirst().first != mark
        // By bytes: a mark that follows U+0001 makes one character with it.
        let content = bytes.first == mark ? String(Substring(bytes.dropFirst())) : key.normalized
        if !isJSON, let text = content as? Key { return text }
        if isJSON, Key.self == Int.self, let integer = Int(content) as? Key { return integer }
        do {
            let json = isJSON ? content : CanonicalNode(.string(content)).json
            return try JSONCoders.decoder.decode(Key.self, from: Data(json.utf8))
        } catch {
            throw MiniCacheError(
                .notDecodable, "A key in the cache is none of type \(Key.self); another handle may have set it.", cause: error)
        }
    }
}
