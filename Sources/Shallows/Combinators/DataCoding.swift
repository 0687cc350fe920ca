internal import Foundation

/// A format: how values are decoded from bytes and encoded as bytes. A direction that is not given
/// fails.
struct DataCoding<Value: Sendable>: Sendable {
    var decode: @Sendable (Data) throws -> Value = { _ in
        throw UnsupportedTransformationStorageError.storageIsWriteOnly
    }
    var encode: @Sendable (Value) throws -> Data = { _ in
        throw UnsupportedTransformationStorageError.storageIsReadOnly
    }
}

extension DataCoding where Value == String {
    static func string(_ encoding: String.Encoding) -> DataCoding {
        DataCoding(
            decode: { try String(data: $0, encoding: encoding).unwrap() },
            encode: { try $0.data(using: encoding).unwrap() }
        )
    }
}

/// The format of values whose type the bytes say.
typealias PlainCoding = DataCoding<any Sendable>

extension DataCoding where Value == any Sendable {
    static func json(
        _ reading: JSONSerialization.ReadingOptions,
        _ writing: JSONSerialization.WritingOptions
    ) -> DataCoding {
        DataCoding(
            decode: {
                try PlainValue.sendable(JSONSerialization.jsonObject(with: $0, options: reading))
            },
            encode: { value in
                // The serializer stops the process at an invalid object. In an array it takes every
                // valid one.
                guard JSONSerialization.isValidJSONObject([value]),
                    writing.contains(.fragmentsAllowed)
                        || JSONSerialization.isValidJSONObject(value)
                else { throw PlainValue.Unrepresentable() }
                return try JSONSerialization.data(withJSONObject: value, options: writing)
            }
        )
    }

    static func plist(
        _ format: PropertyListSerialization.PropertyListFormat,
        _ reading: PropertyListSerialization.ReadOptions,
        _ writing: PropertyListSerialization.WriteOptions
    ) -> DataCoding {
        DataCoding(
            decode: { data in
                try PlainValue.sendable(
                    PropertyListSerialization.propertyList(
                        from: data,
                        options: reading,
                        format: nil
                    )
                )
            },
            encode: { value in
                guard PropertyListSerialization.propertyList(value, isValidFor: format) else {
                    throw PlainValue.Unrepresentable()
                }
                return try PropertyListSerialization.data(
                    fromPropertyList: value,
                    format: format,
                    options: writing
                )
            }
        )
    }

    /// The same format for values of one type only.
    func typed<Object: Sendable>(as type: Object.Type = Object.self) -> DataCoding<Object> {
        DataCoding<Object>(
            decode: { try (decode($0) as? Object).unwrap() },
            encode: { try encode($0 as any Sendable) }
        )
    }
}

/// Values of JSON and property lists, as `Sendable` values.
enum PlainValue {
    /// The value contains something that the format cannot represent.
    struct Unrepresentable: Error {}

    static func sendable(_ value: Any) throws -> any Sendable {
        switch value {
        case let string as String: string
        case let number as NSNumber: number
        case let null as NSNull: null
        case let date as Date: date
        case let data as Data: data
        case let array as [Any]: try array.map(sendable)
        case let dictionary as [String: Any]: try dictionary.mapValues(sendable)
        default: throw Unrepresentable()
        }
    }
}
