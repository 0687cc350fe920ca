internal import Foundation
internal import RawDatabase
internal import VellumCore
internal import VellumEngine

/// Changes the checksum of an entry.
///
/// - Returns: Whether there was one.
func damageEntry(of key: EntryKey, in place: (file: DatabaseFile, archive: Archive)) throws -> Bool {
    try RawDatabase(place.file.url)
        .damageEntries(withKey: Data(key.normalized.utf8), from: EntryID.zero(of: place.archive.id), to: EntryID.end(of: place.archive.id))
        > 0
}
