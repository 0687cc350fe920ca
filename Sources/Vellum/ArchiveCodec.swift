internal import Foundation
internal import VellumCore
internal import VellumEngine

/// Encodes and decodes objects with the methods of their type.
struct ArchiveCodec<Archive: Archivable>: Codec {
    func encode(_ object: Archive) throws -> Data { try object.archive() }

    func decode(_ data: Data) throws -> Archive {
        let object = try Archive.deArchive(fromData: data)
        guard let archive = object as? Archive else {
            throw VellumError(
                .notDecodable, "'\(Archive.self).deArchive(fromData:)' returned an object of another type. Return a \(Archive.self).")
        }
        return archive
    }
}
