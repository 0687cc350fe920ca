internal import Foundation
internal import ModelVersions
internal import VellumCore
internal import VellumEngine

/// Encodes and decodes objects with the methods of their type.
struct ArchiveCodec<Archive: Archivable>: Codec {
    /// The version of the type; `nil` if it says none.
    let model = ModelVersion(of: Archive.self)

    var version: Int64 { model?.number ?? 0 }

    var formerNames: [String] { model?.formerNames ?? [] }

    func migrate(_ bytes: Data, from version: Int64, of key: EntryKey) throws -> Migration<Archive>
    {
        guard let model else { throw VellumError.newerVersion(version, than: 0) }
        return try model.migrate(bytes, from: version, of: key)
    }

    func key(of object: Archive) -> EntryKey? { EntryKey(object.primaryKey) }

    func isSame(_ object: Archive, _ new: Data, as old: Data) throws -> Bool {
        // A type that writes its own data may write more than it encodes.
        guard let value = object as? any Encodable,
            try Archive.archiveFormat.encode(value).mayBeReordered(new)
        else { return false }
        return try CodableFormat.isSame(object, decode(old))
    }

    func encode(_ object: Archive) throws -> Data {
        let bytes = try object.archive()
        try RoundTrip.check(object) { try decode(bytes) }
        return bytes
    }

    func decode(_ data: Data) throws -> Archive {
        let object = try Archive.deArchive(fromData: data)
        guard let archive = object as? Archive else {
            throw VellumError(
                .notDecodable,
                """
                '\(Archive.self).deArchive(fromData:)' returned an object of another type. Return \
                a \(Archive.self).
                """
            )
        }
        return archive
    }
}
