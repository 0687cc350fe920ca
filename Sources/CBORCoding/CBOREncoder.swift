public import Foundation

/// Encodes values as CBOR, the Concise Binary Object Representation.
///
/// ```swift
/// struct Point: Codable {
///     var x: Double
///     var y: Double
/// }
///
/// let data = try CBOREncoder().encode(Point(x: 1.5, y: -2))  // a26178f93e006179f9c000
/// let point = try CBORDecoder().decode(Point.self, from: data)
/// ```
///
/// Types need nothing but `Codable`. What they become is what other CBOR libraries read: containers with keys become maps with text
/// keys, `Data` a byte string, `nil` the simple value `null`, and numbers take the fewest bytes that hold them exactly. `URL`, `UUID`,
/// `Decimal` and integers beyond 64 bits carry the tags that are registered for them.
///
/// An encoder is a value: copies are independent, and any thread may use one at any time. Encoding happens on the caller's thread, and
/// nothing is shared or locked.
///
/// - Complexity: O(n) in the bytes made; O(n log n) where ``isDeterministic`` sorts large maps.
/// - SeeAlso: [RFC 8949](https://www.rfc-editor.org/rfc/rfc8949.html)
public struct CBOREncoder: Sendable {
    /// How dates are encoded.
    public var dateEncodingStrategy: DateEncodingStrategy = .deferredToDate

    /// How `Data` is encoded.
    public var dataEncodingStrategy: DataEncodingStrategy = .byteString

    /// What the keys of maps are.
    public var keyEncodingStrategy: KeyEncodingStrategy = .useDefaultKeys

    /// Whether equal contents become equal bytes, whatever the order in which they are encoded.
    ///
    /// The keys of every map are sorted by the bytes that they become, as the core deterministic encoding asks for (RFC 8949, 4.2.1).
    /// The rest of it, numbers and lengths in their shortest form, holds without this, too.
    ///
    /// The order of what is no map is the type's own: a `Set` is encoded in the order that it has at that moment.
    public var isDeterministic = false

    /// Whether encoding a `Set`, or a dictionary that is encoded as an array, throws ``UnorderedCollectionError``. The default is `false`.
    package var rejectsUnorderedCollections = false

    /// Whether the tag 55799 comes first, so that the bytes tell themselves from other formats (RFC 8949, 3.4.6).
    public var isSelfDescribed = false

    /// How deep containers may lie in one another. A value that goes deeper, as one does that holds itself, is an error.
    ///
    /// Each level takes some of the thread's stack, most of it in the `encode(to:)` of the types.
    public var nestingLimit = 512

    /// What the types find in `encoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    public init() {}

    /// The value as CBOR.
    ///
    /// - Throws: `EncodingError` for a value that encodes nothing, lies deeper than ``nestingLimit``, or asks an encoder for two kinds of
    ///   container at once; and whatever the value throws.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        let log = EncodingLog(self)
        return try log.encoded(value) { () throws in try log.encode(value, to: EncodingLog.root) }
    }

    /// The value as CBOR, encoded under the configuration.
    ///
    /// - Throws: What ``encode(_:)`` throws.
    public func encode<Value: EncodableWithConfiguration>(
        _ value: Value, configuration: Value.EncodingConfiguration
    ) throws -> Data {
        let log = EncodingLog(self)
        return try log.encoded(value) { () throws in
            try value.encode(to: ItemEncoder(log, EncodingLog.root), configuration: configuration)
        }
    }
}

extension CBOREncoder {
    /// How dates are encoded.
    public enum DateEncodingStrategy: Sendable {
        /// As `Date` encodes itself: the seconds since 2001 as a floating-point number. The only one that loses nothing.
        case deferredToDate
        /// The seconds since 1970 under the tag 1, as an integer where that is exact: what most other libraries read. Rounds dates of
        /// today to 0.2 microseconds.
        case secondsSince1970
        /// The milliseconds since 1970 as a floating-point number, without a tag.
        case millisecondsSince1970
        /// A text as of RFC 3339, in whole seconds, under the tag 0.
        case iso8601
        /// What the function encodes. One that encodes nothing makes an empty map.
        case custom(@Sendable (Date, any Encoder) throws -> Void)
    }

    /// How `Data` is encoded.
    public enum DataEncodingStrategy: Sendable {
        /// A byte string.
        case byteString
        /// As `Data` encodes itself: an array of numbers.
        case deferredToData
        /// A text in Base64.
        case base64
        /// What the function encodes. One that encodes nothing makes an empty map.
        case custom(@Sendable (Data, any Encoder) throws -> Void)
    }

    /// What the keys of maps are.
    public enum KeyEncodingStrategy: Sendable {
        /// The texts of the keys as they are.
        case useDefaultKeys
        /// The integers of the keys that have one, and the texts of all others: shorter, and what protocols like COSE use.
        ///
        /// A key is an integer if its `intValue` says so; that of a dictionary only if its text is the integer's own, so that "1" and
        /// "01" stay two.
        case useIntegerKeys
        /// The texts in snake case: `oneTwoThree` becomes `one_two_three`.
        case convertToSnakeCase
        /// What the function makes of a key; the path ends on it.
        case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
    }
}

#if canImport(Combine)
    internal import Combine

    extension CBOREncoder: TopLevelEncoder {}
#endif
