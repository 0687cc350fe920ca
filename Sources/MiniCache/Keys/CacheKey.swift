internal import CBORCoding
internal import Foundation
public import VellumCore
internal import VellumEngine

// Decision 19.

/// Maps the keys of a cache to the keys of the engine, which are texts, and back.
///
/// | key of the cache | key of the engine |
/// | --- | --- |
/// | a string | the string; U+0001 and the string if it begins with U+0001 |
/// | an integer | U+0001 and its decimal digits |
/// | anything else | U+0001, `:` and the Base64 of its deterministic CBOR, normalized |
///
/// Deterministic CBOR is that of RFC 8949, 4.2. Two keys are equal if their normalized CBOR is. So
/// the integer 1 and the string "1" are different keys, while an `Int` and an `Int64`, or an enum
/// and its raw value, are equal.
@usableFromInline
package enum CacheKey {
    /// Returns the engine's key of a key.
    ///
    /// - Throws: ``VellumError/Code/invalidKey`` if equal values of the type may be encoded
    ///   differently, or a number is not finite; ``VellumError/Code/notEncodable`` if the key
    ///   cannot be encoded.
    @inlinable
    package static func of<Key: Codable>(_ key: Key) throws(MiniCacheError) -> EntryKey {
        // Decided at compile time, where the caller's types are known.
        if Key.self == String.self { return text(unsafeBitCast(key, to: String.self)) }
        if Key.self == Int.self {
            return integer(Int64(unsafeBitCast(key, to: Int.self)))
        }
        return try encoded(key)
    }

    @inlinable
    static func text(_ text: String) -> EntryKey {
        text.utf8.first == mark ? escaped(text) : EntryKey(text)
    }

    /// Whether it is the key of a string.
    static func isText(_ key: EntryKey) -> Bool {
        let bytes = key.normalized.utf8
        return bytes.first != mark || bytes.dropFirst().first == mark
    }

    /// U+0001, which precedes everything that is not a string.
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
        // A short string that is made this way is stored inline.
        return EntryKey(
            String(unsafeUninitializedCapacity: length) { bytes in
                bytes[0] = mark
                if value < 0 { bytes[1] = UInt8(ascii: "-") }
                var rest = value.magnitude
                for position in 1...count {
                    bytes[length - position] =
                        UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                return length
            }
        )
    }

    @usableFromInline
    static func encoded<Key: Encodable>(_ key: Key) throws(MiniCacheError) -> EntryKey {
        do {
            let bytes = try encoder.encode(key)
            if CBORValue.isPlainCollection(bytes) {
                return EntryKey("\u{1}:" + bytes.base64EncodedString())
            }
            let value = try decoder.decode(CBORValue.self, from: bytes).normalized()
            switch value {
            case .text(let text): return self.text(text)
            case .integer(let integer): return EntryKey("\u{1}\(integer)")
            default: return EntryKey("\u{1}:" + (try encoder.encode(value)).base64EncodedString())
            }
        } catch let error as MiniCacheError {
            throw error
        } catch let error as UnorderedCollectionError {
            throw MiniCacheError(
                .invalidKey,
                """
                \(error.type) cannot be part of a key, because equal values may be encoded in \
                different orders. Use a sorted array, or a dictionary with String or Int keys.
                """
            )
        } catch {
            throw MiniCacheError(
                .notEncodable,
                "A key of type \(Key.self) cannot be encoded.",
                cause: error
            )
        }
    }

    private static let encoder: CBOREncoder = {
        var encoder = CBOREncoder()
        encoder.isDeterministic = true
        encoder.unorderedCollections = .rejected
        return encoder
    }()

    private static let decoder = CBORDecoder()

    // MARK: Decoding

    /// Returns the key that an entry is stored under.
    ///
    /// - Throws: ``VellumError/Code/notDecodable`` if it is not a `Key`.
    package static func decoded<Key: Decodable>(
        _ entryKey: EntryKey,
        as type: Key.Type
    ) throws(MiniCacheError) -> Key {
        func key(_ content: some Encodable) throws -> Key {
            if let key = content as? Key { return key }
            return try decoder.decode(Key.self, from: encoder.encode(content))
        }
        do {
            let bytes = entryKey.normalized.utf8
            guard bytes.first == mark else { return try key(entryKey.normalized) }
            // By bytes, because a combining mark forms one character with the U+0001 before it.
            let rest = bytes.dropFirst()
            if rest.first == mark { return try key(String(Substring(rest))) }
            if rest.first == UInt8(ascii: ":"),
                let bytes = Data(base64Encoded: String(Substring(rest.dropFirst())))
            {
                return try decoder.decode(Key.self, from: bytes)
            }
            // Of any other content, ``CacheKey`` makes no key.
            guard let integer = Int128(Substring(rest)) else { throw notDecodable(Key.self) }
            if Key.self == Int.self, let key = Int(exactly: integer) as? Key { return key }
            return try key(integer)
        } catch {
            throw notDecodable(Key.self, cause: error)
        }
    }

    private static func notDecodable(_ type: Any.Type, cause: (any Error)? = nil) -> MiniCacheError
    {
        MiniCacheError(
            .notDecodable,
            "A key in the cache is not a \(type). A cache with another key type may have set it.",
            cause: cause
        )
    }

    // MARK: Keys of the original MiniCache

    /// Returns the engine's key for a key of the original, which is JSON; `nil` if it is not a
    /// `Key`.
    static func decodingOriginal<Key: Codable>(_ json: String, as type: Key.Type) -> EntryKey? {
        do {
            return try of(JSONCoders.decoder.decode(Key.self, from: Data(json.utf8)))
        } catch {
            return nil  // It waits for a cache of another key type.
        }
    }
}
