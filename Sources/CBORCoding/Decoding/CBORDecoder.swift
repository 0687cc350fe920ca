public import Foundation

// Decision 67.

/// Decodes values from CBOR, the Concise Binary Object Representation.
///
/// ```swift
/// let point = try CBORDecoder().decode(Point.self, from: data)
/// ```
///
/// The decoder accepts any well-formed CBOR, including items of indefinite length, numbers that are
/// not in their shortest form, and unknown tags, which it ignores (RFC 8949, 5.1). It decodes
/// `undefined` as `nil`. A number decodes as any type that can represent it: an integer decodes as
/// a floating-point number, and a floating-point number without a fraction decodes as an integer.
///
/// The decoder validates all bytes before a type's `init(from:)` runs. It throws if the data is not
/// well-formed, if bytes follow the value, if a map has duplicate keys, or if containers are nested
/// deeper than ``nestingLimit``. It never allocates memory based on an unverified length. Text keys
/// are compared by canonical equivalence, like Swift's `==`.
///
/// Decoding a map never loses an entry of a dictionary. It throws if two keys are one key of the
/// type: 1 and "1", or "1" and "01" in a dictionary with `Int` keys. It also throws for a key that
/// is neither a text nor an integer of 64 bits; ``CBORValue`` has maps with such keys. (Only a type
/// that calls `[Int: Value](from: decoder)` in its own `init(from:)` is not checked for "1" and
/// "01".)
///
/// A decoder is a value: copies are independent, and any thread may use one at any time. Decoding
/// runs synchronously on the caller's thread, without locks or shared state.
///
/// - Complexity: O(*n*) in the number of bytes. A type that asks for keys in a different order than
///   they were encoded in adds a comparison for each key that is skipped.
/// - SeeAlso: [RFC 8949](https://www.rfc-editor.org/rfc/rfc8949.html)
public struct CBORDecoder: Sendable {
    /// The strategy for decoding dates that have no tag. Items with tag 0 or 1 are decoded as RFC
    /// 8949 defines them, those with tag 100 (days since 1970) or 1004 (a text without a time) as
    /// RFC 8943 does: the beginning of the day in UTC.
    public var dateDecodingStrategy: DateDecodingStrategy = .deferredToDate

    /// The strategy for decoding `Data` from an item that is not a byte string.
    public var dataDecodingStrategy: DataDecodingStrategy = .byteString

    /// The strategy for decoding map keys.
    public var keyDecodingStrategy: KeyDecodingStrategy = .useDefaultKeys

    /// The maximum nesting depth of containers and tags. The default is 512.
    ///
    /// Each level uses stack space of the calling thread, mostly in the types' `init(from:)`.
    public var nestingLimit = 512

    /// Values that types can read from `decoder.userInfo` while they decode.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates a decoder with the default strategies.
    public init() {}

    /// Returns a value of the given type, decoded from CBOR.
    ///
    /// - Throws: `DecodingError` if the data is not a single well-formed value or does not match
    ///   the type, and any error that the type's `init(from:)` throws.
    public func decode<Value: Decodable>(
        _ type: Value.Type,
        from data: Data
    ) throws -> Value {
        try DecodingSource.reading(data, self) { source throws in
            try source.decode(type, at: 0, depth: 0)
        }
    }

    /// Returns whether the data begins with tag 55799, which marks it as CBOR.
    /// ``CBOREncoder/isSelfDescribed`` writes this tag.
    ///
    /// No text, JSON or property list begins with these bytes.
    public static func isSelfDescribed(_ data: Data) -> Bool {
        data.withUnsafeBytes {
            $0.count > 3
                && $0[0] == 0xD9
                && $0[1] == 0xD9
                && $0[2] == 0xF7
        }
    }

    /// Returns a value of the given type, decoded from CBOR with a configuration.
    ///
    /// - Throws: What ``decode(_:from:)`` throws.
    public func decode<Value: DecodableWithConfiguration>(
        _ type: Value.Type,
        from data: Data,
        configuration: Value.DecodingConfiguration
    ) throws -> Value {
        try DecodingSource.reading(data, self) { source throws in
            try Value(
                from: ItemDecoder(source: source, offset: 0, depth: 0),
                configuration: configuration
            )
        }
    }
}

extension CBORDecoder {
    /// A strategy for decoding dates that have no tag.
    public enum DateDecodingStrategy: Sendable {
        /// Decodes seconds since the reference date (2001), as `Date` itself does.
        case deferredToDate
        /// Decodes seconds since 1970.
        case secondsSince1970
        /// Decodes milliseconds since 1970.
        case millisecondsSince1970
        /// Decodes an RFC 3339 text: a date and a time that exist, in the years 0 to 9999 of the
        /// Gregorian calendar, with an offset.
        ///
        /// A leap second decodes as the second after it. Fractions of a second may have any number
        /// of digits.
        case iso8601
        /// Decodes with the given function, regardless of tags.
        case custom(@Sendable (any Decoder) throws -> Date)
    }

    /// A strategy for decoding `Data` from an item that is not a byte string.
    public enum DataDecodingStrategy: Sendable {
        /// Throws a type mismatch: only byte strings decode as `Data`.
        case byteString
        /// Decodes an array of numbers, as `Data` itself does.
        case deferredToData
        /// Decodes a Base64 text.
        case base64
        /// Decodes with the given function, also byte strings.
        case custom(@Sendable (any Decoder) throws -> Data)
    }

    /// A strategy for decoding map keys.
    public enum KeyDecodingStrategy: Sendable {
        /// Uses a text key as `stringValue` and an integer key as `intValue`.
        case useDefaultKeys
        /// Converts text keys from snake case: `one_two_three` becomes `oneTwoThree`. Dictionary
        /// keys are not converted.
        case convertFromSnakeCase
        /// Converts keys with the given function, whose argument is the coding path that ends with
        /// the key as stored in the data.
        ///
        /// Dictionary keys are not converted.
        case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
    }
}

#if canImport(Combine)
    internal import Combine

    extension CBORDecoder: TopLevelDecoder {}
#endif
