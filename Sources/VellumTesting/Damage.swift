internal import Foundation
internal import RawDatabase
internal import VellumCore
internal import VellumEngine

/// Changes the checksum of an entry.
///
/// - Returns: Whether there was one.
func damageEntry(
    of key: EntryKey,
    in location: (file: DatabaseFile, archive: Archive)
) throws -> Bool {
    try RawDatabase(location.file.url)
        .damageEntries(
            withKey: Data(key.normalized.utf8),
            from: EntryID.zero(of: location.archive.id),
            to: EntryID.end(of: location.archive.id)
        )
        > 0
}
