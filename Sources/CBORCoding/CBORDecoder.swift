public import Foundation

/// Decodes values from CBOR, the Concise Binary Object Representation.
///
/// ```swift
/// let point = try CBORDecoder().decode(Point.self, from: data)
/// ```
///
/// Reads what any encoder of CBOR may have written, also lengths that were not known beforehand, numbers that are longer than they must be, and
/// tags that nobody knows: these are read as what they enclose (RFC 8949, 5.1). `undefined` is read as `nil`. A number is read as
/// any type that holds it: an integer as a floating-point number, and one without a fraction the other way.
///
/// All bytes are looked at before any type sees them. What is not well-formed, goes on after its end, holds two equal keys in a map or lies
/// too deep is an error, and nothing is allocated because of a length that it claims. Texts are compared by canonical equivalence, like
/// Swift's `==`, so that no entry of a map is lost in a dictionary.
///
/// A decoder is a value: copies are independent, and any thread may use one at any time. Decoding happens on the caller's thread, and
/// nothing is shared or locked.
///
/// - Complexity: O(n) in the bytes. A type that asks for keys in another order than they were encoded in costs a look at each key in
///   between.
/// - SeeAlso: [RFC 8949](https://www.rfc-editor.org/rfc/rfc8949.html)
public struct CBORDecoder: Sendable {
    /// How a number or a text is read as a date where no tag tells. Under the tags 0 and 1 it is read as RFC 8949 says.
    public var dateDecodingStrategy: DateDecodingStrategy = .deferredToDate

    /// How what is no byte string is read as `Data`.
    public var dataDecodingStrategy: DataDecodingStrategy = .byteString

    /// How the keys of maps are read.
    public var keyDecodingStrategy: KeyDecodingStrategy = .useDefaultKeys

    /// How deep containers and tags may lie in one another.
    ///
    /// Each level takes some of the thread's stack, most of it in the `init(from:)` of the types.
    public var nestingLimit = 512

    /// What the types find in `decoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    public init() {}

    /// The value that the bytes hold.
    ///
    /// - Throws: `DecodingError` for bytes that are not one well-formed value, or not one of this type; and whatever the type throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try data.withUnsafeBytes { bytes in
            try DecodingSource.reading(bytes.assumingMemoryBound(to: UInt8.self), self) { source throws in
                try source.decode(type, at: 0, depth: 0)
            }
        }
    }

    /// Whether the bytes say of themselves that they are CBOR, as ``CBOREncoder/isSelfDescribed`` makes them: they begin with the tag 55799.
    /// No text, JSON or property list begins so.
    public static func isSelfDescribed(_ data: Data) -> Bool {
        data.withUnsafeBytes { $0.count > 3 && $0[0] == 0xD9 && $0[1] == 0xD9 && $0[2] == 0xF7 }
    }

    /// One value out of the maps that the bytes hold, without decoding the rest.
    ///
    /// ```swift
    /// let city = try CBORDecoder().decodeIfPresent(String.self, at: ["address", "city"], from: data)
    /// ```
    ///
    /// What comes before it is passed over, and what comes after it is not looked at: it need not even be well-formed.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - path: The texts of the keys on the way to the value, as they stand in the data.
    ///   - data: The bytes.
    /// - Returns: `nil` if there is no such key on the way, or something that has no keys. `null` is the value `nil`, if the type has one.
    /// - Complexity: O(n) in the bytes before the end of the value.
    /// - Throws: What ``decode(_:from:)`` throws.
    public func decodeIfPresent<Value: Decodable>(_ type: Value.Type, at path: [String], from data: Data) throws -> Value? {
        try data.withUnsafeBytes { bytes in
            let bytes = bytes.assumingMemoryBound(to: UInt8.self)
            guard
                let field = try DecodingSource.findingFaults({ () throws(WellFormedness.Fault) in
                    try WellFormedness.field(at: path, in: bytes, nestingLimit: nestingLimit)
                })
            else { return nil }
            return try DecodingSource.reading(field, self) { source throws in try source.decode(type, at: 0, depth: 0) }
        }
    }

    /// The value that the bytes hold, decoded under the configuration.
    ///
    /// - Throws: What ``decode(_:from:)`` throws.
    public func decode<Value: DecodableWithConfiguration>(
        _ type: Value.Type, from data: Data, configuration: Value.DecodingConfiguration
    ) throws -> Value {
        try data.withUnsafeBytes { bytes in
            try DecodingSource.reading(bytes.assumingMemoryBound(to: UInt8.self), self) { source throws in
                try Value(from: ItemDecoder(source, at: 0, depth: 0), configuration: configuration)
            }
        }
    }
}

extension CBORDecoder {
    /// How a number or a text is read as a date where no tag tells.
    public enum DateDecodingStrategy: Sendable {
        /// As `Date` decodes itself: the seconds since 2001.
        case deferredToDate
        /// The seconds since 1970.
        case secondsSince1970
        /// The milliseconds since 1970.
        case millisecondsSince1970
        /// A text as of RFC 3339.
        case iso8601
        /// What the function decodes, whatever tag there is.
        case custom(@Sendable (any Decoder) throws -> Date)
    }

    /// How what is no byte string is read as `Data`.
    public enum DataDecodingStrategy: Sendable {
        /// Not at all.
        case byteString
        /// As `Data` decodes itself: an array of numbers.
        case deferredToData
        /// A text in Base64.
        case base64
        /// What the function decodes, whatever there is.
        case custom(@Sendable (any Decoder) throws -> Data)
    }

    /// How the keys of maps are read.
    public enum KeyDecodingStrategy: Sendable {
        /// A text is a key's text, and an integer its `intValue`.
        case useDefaultKeys
        /// Texts are read from snake case: `one_two_three` is the key `oneTwoThree`.
        case convertFromSnakeCase
        /// What the function makes of a key of the map; the path ends on it.
        case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
    }
}

#if canImport(Combine)
    internal import Combine

    extension CBORDecoder: TopLevelDecoder {}
#endif
