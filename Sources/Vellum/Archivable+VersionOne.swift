public import Foundation
internal import Tiers

// Types written for version 1 have `archiveData()` and `decode(archive:)`, and nothing else.

extension Archivable {
    @available(*, deprecated, message: "Rename 'archiveData()' to 'archive()'.")
    public func archive() throws -> Data { try archiveData() }

    @available(*, deprecated, message: "Rename 'decode(archive:)' to 'deArchive(fromData:)'.")
    public static func deArchive(fromData data: Data) throws -> any Archivable { try decode(archive: data) }

    public func archiveData() throws -> Data {
        throw StoreError(.notEncodable, "\(Self.self) has neither 'archive()' nor a Codable conformance. Write one of them.")
    }

    public static func decode(archive data: Data) throws -> any Archivable {
        throw StoreError(.notDecodable, "\(Self.self) has neither 'deArchive(fromData:)' nor a Codable conformance. Write one of them.")
    }
}
