package import Foundation
package import VellumCore
package import VellumEngine

/// The version of a type, and how objects of other versions become objects of the type.
package struct ModelVersion<Object>: Sendable {
    package let number: Int64
    package let formerNames: [String]
    private let migrateOld: @Sendable (StoredObject) throws -> Migrated<Object>

    /// - Returns: `nil` for a type without a version.
    package init?(of type: Object.Type) {
        guard let type = type as? any VersionedArchive.Type, let version = Self.opened(type) else {
            return nil
        }
        self = version
    }

    /// Throws ``VellumError/Code/invalidVersion`` if the version of the type is negative. To be
    /// called before objects of it are read or written.
    package static func check(_ type: Object.Type) throws(VellumError) {
        guard
            let version = (type as? any VersionedArchive.Type)?.archiveVersion as? Int,
            version < 0
        else { return }
        throw VellumError(
            .invalidVersion,
            "The archiveVersion of \(type) is \(version). Versions begin with 0."
        )
    }

    private static func opened<Versioned: VersionedArchive>(
        _ type: Versioned.Type
    ) -> ModelVersion<Object>? {
        ModelVersion<Versioned>(versioned: type) as? ModelVersion<Object>
    }

    /// Makes an object of bytes of another version.
    package func migrate(
        _ bytes: Data,
        from version: Int64,
        of key: EntryKey
    ) throws -> Migration<Object> {
        guard version < number, let old = Int(exactly: version) else {
            throw VellumError.newerVersion(version, than: number)
        }
        return switch try migrateOld(StoredObject(version: old, key: key.normalized, data: bytes)) {
        case .object(let object): .value(object)
        case .remove: .removed
        }
    }
}

extension ModelVersion where Object: VersionedArchive {
    fileprivate init(versioned type: Object.Type) {
        number = Int64(type.archiveVersion as? Int ?? 0)
        formerNames = type.formerArchiveNames
        migrateOld = { try type.migrate($0) }
    }
}
