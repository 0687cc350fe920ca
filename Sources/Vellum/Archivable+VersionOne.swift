public import Foundation
internal import VellumCore
internal import VellumEngine

// Types written for version 1 have `archiveData()` and `decode(archive:)` only.

extension Archivable {
    /// Returns the data of ``archiveData()``, for types written for version 1.
    ///
    /// - Throws: The error of `archiveData()`; ``VellumError`` with the code ``VellumError/Code/notEncodable`` if the type has neither method.
    @available(
        *, deprecated,
        message: "The type has no 'archive()'. Write it, or make the type Codable; rename an 'archiveData()' of Vellum 1.x to it."
    )
    public func archive() throws -> Data { try archiveData() }

    /// Returns the object that ``decode(archive:)`` makes, for types written for version 1.
    ///
    /// - Throws: The error of `decode(archive:)`; ``VellumError`` with the code ``VellumError/Code/notDecodable`` if the type has neither method.
    @available(
        *, deprecated,
        message:
            "The type has no 'deArchive(fromData:)'. Write it, or make the type Codable; rename a 'decode(archive:)' of Vellum 1.x to it."
    )
    public static func deArchive(fromData data: Data) throws -> any Archivable { try decode(archive: data) }

    /// Throws an error that says which methods the type must have.
    public func archiveData() throws -> Data {
        throw VellumError(.notEncodable, Self.missingMethods)
    }

    /// Throws an error that says which methods the type must have.
    public static func decode(archive data: Data) throws -> any Archivable {
        throw VellumError(.notDecodable, missingMethods)
    }

    private static var missingMethods: String {
        """
        \(Self.self) cannot be archived: it is not Codable and has no 'archive()' and 'deArchive(fromData:)'. Conform it to ArchiveCodable, \
        or write both methods.
        """
    }
}
