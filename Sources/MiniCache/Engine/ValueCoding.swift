package import Foundation
internal import ModelVersions
package import VellumCore
internal import VellumEngine

/// Compares values of a type that only it knows.
protocol ValueComparing: Sendable {
    func isSame(_ new: Data, as old: Data) throws -> Bool
}

/// The bytes of values, for all values of a handle: in the manager's format, and `Data` unchanged
/// after a zero byte, with which no format begins.
@usableFromInline
package final class ValueCoding<Value: Codable>: ValueComparing {
    let format: CodableFormat
    /// The version of the type; `nil` if it says none.
    private let model = ModelVersion(of: Value.self)

    package init(_ format: CodableFormat) { self.format = format }

    private var dataMark: UInt8 { 0 }

    package var version: Int64 { model?.number ?? 0 }

    /// Throws ``VellumError/Code/invalidVersion`` if the version of the type is negative.
    package func check() throws(VellumError) { try ModelVersion.check(Value.self) }

    package func encode(_ value: Value) throws -> Data {
        if Value.self == Data.self, let data = value as? Data { return [dataMark] + data }
        let bytes = try format.encode(value)
        try RoundTrip.check(value) { try CodableFormat.decode(Value.self, from: bytes) }
        return bytes
    }

    func encoded(_ value: Value) throws -> EncodedForm {
        EncodedForm(try encode(value), version: version, self)
    }

    func isSame(_ new: Data, as old: Data) throws -> Bool {
        try Value.self != Data.self
            && CodableFormat.isSame(
                CodableFormat.decode(Value.self, from: new),
                CodableFormat.decode(Value.self, from: old)
            )
    }

    /// Decodes a value, and migrates it if it is of an older version.
    ///
    /// - Returns: `nil` if its migration drops it.
    func decode(_ form: ValueForm, of key: EntryKey) throws -> Value? {
        try decode(form.encoded(), version: form.version, of: key)
    }

    /// Decodes the bytes of a value of a version of its type, as ``decode(_:of:)`` does.
    package func decode(_ bytes: Data, version stored: Int64, of key: EntryKey) throws -> Value? {
        guard stored == version else {
            guard let model else { throw VellumError.newerVersion(stored, than: 0) }
            return switch try model.migrate(bytes, from: stored, of: key) {
            case .value(let value): value
            case .removed: nil
            }
        }
        if Value.self == Data.self, bytes.first == dataMark,
            let value = Data(bytes.dropFirst()) as? Value
        {
            return value
        }
        return try CodableFormat.decode(Value.self, from: bytes)
    }
}

/// The codec of the store: bytes from the disk stay encoded until a handle decodes them as its
/// type, and migrates them if they are of an older version of it.
struct CachedValueCodec: Codec {
    func encode(_ value: CachedValue) throws -> Data { try value.form.encoded() }

    func decode(_ bytes: Data) -> CachedValue {
        bytes == EncodedForm.tombstone.bytes ? .tombstone : CachedValue(EncodedForm(bytes))
    }

    func isSame(_ value: CachedValue, _ new: Data, as old: Data) throws -> Bool {
        try value.form.comparing?.isSame(new, as: old) ?? false
    }

    func version(of value: CachedValue) -> Int64 { value.form.version }

    func migrate(_ bytes: Data, from version: Int64, of key: EntryKey) -> Migration<CachedValue> {
        .value(CachedValue(EncodedForm(bytes, version: version)))
    }
}
