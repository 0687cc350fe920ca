public import CBORCoding
public import Foundation
internal import VellumCore
internal import VellumEngine

/// An object as it was recorded by an older version of its type.
public struct StoredObject: Sendable {
    /// The version that it was recorded with.
    public let version: Int
    /// The key that it was recorded under.
    public let key: String
    /// The recorded bytes: what the type's `archive()` returned, or its encoding as CBOR or JSON.
    public let data: Data

    /// Creates an object of recorded bytes, such as `store.encodedData(forKey:)` returns, or of a
    /// map, list or tag of CBOR, or of JSON. For tests of a migration.
    public init(version: Int, key: String, data: Data) {
        self.version = version
        self.key = key
        self.data = data
    }

    /// Creates an object as `Codable` types are recorded: of a value of the type as it was then, or
    /// of a `CBORValue`. For tests of a migration.
    ///
    /// ```swift
    /// let old = try StoredObject(
    ///     version: 0, key: "7", value: ["number": "7", "customer": "Ann"])
    /// let migrated = try Invoice.migrate(old)
    /// ```
    ///
    /// - Throws: The error of the encoder.
    public init(version: Int, key: String, value: some Encodable) throws {
        self.init(version: version, key: key, data: try CodableFormat.cbor.encode(value))
    }

    /// Whether the bytes are a list, a map or a tag of CBOR: no JSON begins with one.
    private var isCBOR: Bool { data.first.map { 0x80...0xDB ~= $0 } ?? false }

    /// Returns the object as a CBOR value, to rename or change some of its properties.
    ///
    /// - Complexity: O(n) in the number of bytes.
    /// - Throws: `DecodingError` if the type was not recorded as CBOR: use ``data``, or
    ///   ``decode(_:)`` for JSON.
    public func value() throws -> CBORValue {
        guard isCBOR else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: [],
                    debugDescription:
                        "The object was not recorded as CBOR. Use 'data' or 'decode(_:)'."
                )
            )
        }
        let value = try CBORDecoder().decode(CBORValue.self, from: data)
        // RFC 8949, 3.4.6: the tag says only that this is CBOR.
        guard case .tagged(55799, let object) = value else { return value }
        return object
    }

    /// Returns the object decoded as a type: one that has the properties of the old version, or the
    /// current type if the data still fit.
    ///
    /// - Complexity: O(n) in the number of bytes.
    /// - Throws: The error of the decoder.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        isCBOR
            ? try CBORDecoder().decode(type, from: data)
            : try CodableFormat.decode(type, from: data)
    }

    /// Returns the object decoded as a type, with values for properties that it lacks.
    ///
    /// ```swift
    /// static func migrate(_ old: StoredObject) throws -> Migrated<Invoice> {
    ///     .object(try old.decode(Invoice.self, defaults: ["currency": "CHF"]))
    /// }
    /// ```
    ///
    /// - Complexity: O(n) in the number of bytes.
    /// - Throws: As ``value()`` does, or the error of the decoder.
    public func decode<Value: Decodable>(
        _ type: Value.Type,
        defaults: [String: CBORValue]
    ) throws -> Value {
        var value = try value()
        for (name, standard) in defaults where value[.text(name)] == nil {
            value[.text(name)] = standard
        }
        return try value.decode(type)
    }
}
