public import Foundation

/// Encodes values as CBOR, the Concise Binary Object Representation.
///
/// ```swift
/// struct Point: Codable {
///     var x: Double
///     var y: Double
/// }
///
/// // a26178f93e006179f9c000
/// let data = try CBOREncoder().encode(Point(x: 1.5, y: -2))
/// let point = try CBORDecoder().decode(Point.self, from: data)
/// ```
///
/// Any `Encodable` type works. The output is readable by other CBOR libraries: keyed containers
/// become maps with text keys, `Data` becomes a byte string, `nil` becomes the simple value `null`,
/// and numbers use the fewest bytes that represent them exactly. `URL`, `UUID`, `Decimal` and
/// integers beyond 64 bits carry their registered tags.
///
/// An encoder is a value: copies are independent, and any thread may use one at any time. Encoding
/// runs synchronously on the caller's thread, without locks or shared state.
///
/// - Complexity: O(*n*) in the number of bytes written; O(*n* log *n*) if ``isDeterministic`` is
///   set and maps are large.
/// - SeeAlso: [RFC 8949](https://www.rfc-editor.org/rfc/rfc8949.html)
public struct CBOREncoder: Sendable {
    /// The strategy for encoding dates.
    public var dateEncodingStrategy: DateEncodingStrategy = .deferredToDate

    /// The strategy for encoding `Data`.
    public var dataEncodingStrategy: DataEncodingStrategy = .byteString

    /// The strategy for encoding map keys.
    public var keyEncodingStrategy: KeyEncodingStrategy = .useDefaultKeys

    /// Whether equal contents always encode to equal bytes, regardless of the order in which keys
    /// are encoded. The default is `false`.
    ///
    /// If set, the encoder sorts the keys of each map by their encoded bytes, as core deterministic
    /// encoding requires (RFC 8949, 4.2.1). The other requirements, numbers and lengths in their
    /// shortest form, are always met.
    ///
    /// The encoder does not reorder arrays: a `Set` is encoded in its current iteration order.
    public var isDeterministic = false

    /// What becomes of a `Set`, or a dictionary that is encoded as an array. The default is its
    /// current iteration order.
    package var unorderedCollections = UnorderedCollections.asTheyAre

    /// Whether the output begins with tag 55799, which distinguishes it from other formats (RFC
    /// 8949, 3.4.6). The default is `false`.
    public var isSelfDescribed = false

    /// The maximum nesting depth of containers. The default is 512.
    ///
    /// Encoding a value that is nested deeper, such as an object that contains itself, throws an
    /// error. Each level uses stack space of the calling thread, mostly in the types'
    /// `encode(to:)`.
    public var nestingLimit = 512

    /// Values that types can read from `encoder.userInfo` while they encode.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates an encoder with the default strategies.
    public init() {}

    /// Returns the value, encoded as CBOR.
    ///
    /// - Throws: `EncodingError` if the value encodes nothing, is nested deeper than
    ///   ``nestingLimit``, or requests two kinds of container from one encoder, and any error that
    ///   its `encode(to:)` throws.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        let buffer = EncodingBuffer(self)
        return try buffer.encoded(value) { () throws in
            try buffer.encode(value, to: EncodingBuffer.root)
        }
    }

    /// Returns the value, encoded as CBOR with a configuration.
    ///
    /// - Throws: What ``encode(_:)`` throws.
    public func encode<Value: EncodableWithConfiguration>(
        _ value: Value,
        configuration: Value.EncodingConfiguration
    ) throws -> Data {
        let buffer = EncodingBuffer(self)
        return try buffer.encoded(value) { () throws in
            try value.encode(
                to: ItemEncoder(buffer: buffer, item: EncodingBuffer.root),
                configuration: configuration
            )
        }
    }
}

extension CBOREncoder {
    /// A strategy for encoding dates.
    public enum DateEncodingStrategy: Sendable {
        /// Encodes seconds since the reference date (2001) as a floating-point number, as `Date`
        /// itself does.
        ///
        /// Only this strategy is lossless.
        case deferredToDate
        /// Encodes seconds since 1970 with tag 1, as an integer if that is exact.
        ///
        /// Most other libraries read this form. Present-day dates are rounded to 0.2 microseconds.
        case secondsSince1970
        /// Encodes milliseconds since 1970 as a floating-point number, without a tag.
        case millisecondsSince1970
        /// Encodes an RFC 3339 text in UTC and whole seconds with tag 0. A date outside the years 0
        /// to 9999 throws.
        case iso8601
        /// Encodes with the given function. If it encodes nothing, the result is an empty map.
        case custom(@Sendable (Date, any Encoder) throws -> Void)
    }

    /// A strategy for encoding `Data`.
    public enum DataEncodingStrategy: Sendable {
        /// Encodes a byte string.
        case byteString
        /// Encodes an array of numbers, as `Data` itself does.
        case deferredToData
        /// Encodes a Base64 text.
        case base64
        /// Encodes with the given function. If it encodes nothing, the result is an empty map.
        case custom(@Sendable (Data, any Encoder) throws -> Void)
    }

    /// A strategy for encoding map keys. If it makes one key of two keys of a value, encoding
    /// throws.
    public enum KeyEncodingStrategy: Sendable {
        /// Encodes the `stringValue` of keys, unchanged.
        case useDefaultKeys
        /// Encodes the `intValue` of keys that have one, and the `stringValue` of other keys.
        ///
        /// The output is shorter than with text keys, and protocols such as COSE require it. A
        /// dictionary key is encoded as an integer only if its text is the canonical form of that
        /// integer, so that "1" and "01" remain different keys.
        case useIntegerKeys
        /// Converts keys to snake case: `oneTwoThree` becomes `one_two_three`. Dictionary keys are
        /// not converted.
        case convertToSnakeCase
        /// Converts keys with the given function. The last element of the coding path is the key.
        /// Dictionary keys are not converted.
        case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
    }
}

#if canImport(Combine)
    internal import Combine

    extension CBOREncoder: TopLevelEncoder {}
#endif
