public import Foundation
internal import VellumCore
internal import VellumEngine

// Types written for version 1 have `archiveData()` and `decode(archive:)`, and nothing else.

extension Archivable {
    @available(
        *, deprecated,
        message: "The type has no 'archive()'. Write it, or make the type Codable; rename an 'archiveData()' of Vellum 1.x to it."
    )
    public func archive() throws -> Data { try archiveData() }

    @available(
        *, deprecated,
        message:
            "The type has no 'deArchive(fromData:)'. Write it, or make the type Codable; rename a 'decode(archive:)' of Vellum 1.x to it."
    )
    public static func deArchive(fromData data: Data) throws -> any Archivable { try decode(archive: data) }

    public func archiveData() throws -> Data {
        throw StoreError(.notEncodable, Self.whatIsMissing)
    }

    public static func decode(archive data: Data) throws -> any Archivable {
        throw StoreError(.notDecodable, whatIsMissing)
    }

    private static var whatIsMissing: String {
        """
        \(Self.self) cannot be archived: it is not Codable and has no 'archive()' and 'deArchive(fromData:)'. Conform it to ArchiveCodable, \
        or write both methods.
        """
    }
}
