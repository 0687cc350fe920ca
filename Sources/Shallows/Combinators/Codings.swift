public import Foundation
internal import VellumCore

// Storages of bytes as storages of values. A format is one `DataCoding`; the kinds differ in the
// direction that they need, and in the names of the options, which are those of the original.

extension ErasableStorage where ErasedValue == Data {
    /// Returns a storage of strings.
    public func mapString(
        withEncoding encoding: String.Encoding = .utf8
    ) -> AnyStorage<Access, ErasedKey, String> {
        mapping(.string(encoding))
    }

    func mapping<Value: Sendable>(
        _ coding: DataCoding<Value>
    ) -> AnyStorage<Access, ErasedKey, Value> {
        let name = storageName
        return mapping(
            in: { data in
                do { return try coding.decode(data) } catch {
                    let reason =
                        """
                        The stored bytes cannot be decoded as \(Value.self): \(codingReason(error)).
                        """
                    let advice = "The type may have changed: set the value again, or remove it."
                    throw ShallowsError(
                        .notDecodable,
                        "\(reason) \(advice)",
                        layer: name,
                        cause: error
                    )
                }
            },
            out: { value in
                do { return try coding.encode(value) } catch {
                    throw ShallowsError(
                        .notEncodable,
                        "The value could not be encoded: \(codingReason(error)).",
                        layer: name,
                        cause: error
                    )
                }
            }
        )
    }
}

extension ErasableStorage where Access: ReadableAccess & WritableAccess, ErasedValue == Data {
    /// Returns a storage of JSON values: strings, numbers, booleans, arrays, dictionaries and
    /// `NSNull`.
    public func mapJSON(
        readingOptions: JSONSerialization.ReadingOptions = [],
        writingOptions: JSONSerialization.WritingOptions = []
    ) -> AnyStorage<Access, ErasedKey, any Sendable> {
        mapping(.json(readingOptions, writingOptions))
    }

    /// Returns a storage of JSON dictionaries.
    public func mapJSONDictionary(
        readingOptions: JSONSerialization.ReadingOptions = [],
        writingOptions: JSONSerialization.WritingOptions = []
    ) -> AnyStorage<Access, ErasedKey, [String: any Sendable]> {
        mapping(PlainCoding.json(readingOptions, writingOptions).typed())
    }

    /// Returns a storage of values that are encoded as JSON.
    public func mapJSONObject<Object: Codable & Sendable>(
        _ objectType: Object.Type,
        decoder: JSONDecoder = JSONDecoder(),
        encoder: JSONEncoder = JSONEncoder()
    ) -> AnyStorage<Access, ErasedKey, Object> {
        mapping(
            DataCoding(
                decode: { try decoder.decode(objectType, from: $0) },
                encode: { try encoder.encode($0) }
            )
        )
    }

    /// Returns a storage of property list values: strings, numbers, booleans, dates, data, arrays
    /// and dictionaries.
    public func mapPlist(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        readOptions: PropertyListSerialization.ReadOptions = [],
        writeOptions: PropertyListSerialization.WriteOptions = 0
    ) -> AnyStorage<Access, ErasedKey, any Sendable> {
        mapping(.plist(format, readOptions, writeOptions))
    }

    /// Returns a storage of property list dictionaries.
    public func mapPlistDictionary(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        readOptions: PropertyListSerialization.ReadOptions = [],
        writeOptions: PropertyListSerialization.WriteOptions = 0
    ) -> AnyStorage<Access, ErasedKey, [String: any Sendable]> {
        mapping(PlainCoding.plist(format, readOptions, writeOptions).typed())
    }

    /// Returns a storage of values that are encoded as property lists.
    public func mapPlistObject<Object: Codable & Sendable>(
        _ objectType: Object.Type,
        decoder: PropertyListDecoder = PropertyListDecoder(),
        encoder: PropertyListEncoder = PropertyListEncoder()
    ) -> AnyStorage<Access, ErasedKey, Object> {
        mapping(
            DataCoding(
                decode: { try decoder.decode(objectType, from: $0) },
                encode: { try encoder.encode($0) }
            )
        )
    }
}

extension ErasableStorage where Access == StorageKind.ReadOnly, ErasedValue == Data {
    /// Returns a storage of JSON values.
    public func mapJSON(
        options: JSONSerialization.ReadingOptions = []
    ) -> ReadOnlyStorage<ErasedKey, any Sendable> {
        mapping(.json(options, []))
    }

    /// Returns a storage of JSON dictionaries.
    public func mapJSONDictionary(
        options: JSONSerialization.ReadingOptions = []
    ) -> ReadOnlyStorage<ErasedKey, [String: any Sendable]> {
        mapping(PlainCoding.json(options, []).typed())
    }

    /// Returns a storage of values that are encoded as JSON.
    public func mapJSONObject<Object: Decodable & Sendable>(
        _ objectType: Object.Type,
        decoder: JSONDecoder = JSONDecoder()
    ) -> ReadOnlyStorage<ErasedKey, Object> {
        mapping(DataCoding(decode: { try decoder.decode(objectType, from: $0) }))
    }

    /// Returns a storage of property list values.
    public func mapPlist(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        options: PropertyListSerialization.ReadOptions = []
    ) -> ReadOnlyStorage<ErasedKey, any Sendable> {
        mapping(.plist(format, options, 0))
    }

    /// Returns a storage of property list dictionaries.
    public func mapPlistDictionary(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        options: PropertyListSerialization.ReadOptions = []
    ) -> ReadOnlyStorage<ErasedKey, [String: any Sendable]> {
        mapping(PlainCoding.plist(format, options, 0).typed())
    }

    /// Returns a storage of values that are encoded as property lists.
    public func mapPlistObject<Object: Decodable & Sendable>(
        _ objectType: Object.Type,
        decoder: PropertyListDecoder = PropertyListDecoder()
    ) -> ReadOnlyStorage<ErasedKey, Object> {
        mapping(DataCoding(decode: { try decoder.decode(objectType, from: $0) }))
    }
}

extension ErasableStorage where Access == StorageKind.WriteOnly, ErasedValue == Data {
    /// Returns a storage of JSON values.
    public func mapJSON(
        options: JSONSerialization.WritingOptions = []
    ) -> WriteOnlyStorage<ErasedKey, any Sendable> {
        mapping(.json([], options))
    }

    /// Returns a storage of JSON dictionaries.
    public func mapJSONDictionary(
        options: JSONSerialization.WritingOptions = []
    ) -> WriteOnlyStorage<ErasedKey, [String: any Sendable]> {
        mapping(PlainCoding.json([], options).typed())
    }

    /// Returns a storage of values that are encoded as JSON.
    public func mapJSONObject<Object: Encodable & Sendable>(
        _ objectType: Object.Type,
        encoder: JSONEncoder = JSONEncoder()
    ) -> WriteOnlyStorage<ErasedKey, Object> {
        mapping(DataCoding(encode: { try encoder.encode($0) }))
    }

    /// Returns a storage of property list values.
    public func mapPlist(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        options: PropertyListSerialization.WriteOptions = 0
    ) -> WriteOnlyStorage<ErasedKey, any Sendable> {
        mapping(.plist(format, [], options))
    }

    /// Returns a storage of property list dictionaries.
    public func mapPlistDictionary(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        options: PropertyListSerialization.WriteOptions = 0
    ) -> WriteOnlyStorage<ErasedKey, [String: any Sendable]> {
        mapping(PlainCoding.plist(format, [], options).typed())
    }

    /// Returns a storage of values that are encoded as property lists.
    public func mapPlistObject<Object: Encodable & Sendable>(
        _ objectType: Object.Type,
        encoder: PropertyListEncoder = PropertyListEncoder()
    ) -> WriteOnlyStorage<ErasedKey, Object> {
        mapping(DataCoding(encode: { try encoder.encode($0) }))
    }
}
