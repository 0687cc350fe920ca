internal import Foundation
internal import VellumCore
internal import VellumEngine

/// The codec of an archive: what the type itself says.
struct ArchiveCodec<Archive: Archivable>: Codec {
    func encode(_ object: Archive) throws -> Data { try object.archive() }

    func decode(_ data: Data) throws -> Archive {
        let object = try Archive.deArchive(fromData: data)
        guard let archive = object as? Archive else {
            throw StoreError(.notDecodable, "'\(Archive.self).deArchive(fromData:)' returned an object of another type.")
        }
        return archive
    }
}
