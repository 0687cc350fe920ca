public import VellumCore

/// The changes that other processes make to one archive.
///
/// The memory cache stores the generation up to which it has followed the changes. While that is
/// the current generation, a memory hit is as fresh as a read of the disk: one atomic load decides.
/// Otherwise the cache asks which keys changed and drops their entries.
///
/// A writer announces its changes before it commits them, and ends the announcement afterwards. A
/// value read from the disk in between must not be cached: it may be the old value or the new one.
@usableFromInline
package final class ArchiveChanges: ChangeFeed {
    private let file: ChangesFile
    private let archive: Int64
    /// The hash that keys are announced by.
    @usableFromInline package let hash: SeededHash

    init(_ file: ChangesFile, archive: Int64, hash: SeededHash) {
        self.file = file
        self.archive = archive
        self.hash = hash
    }

    /// The number of the last announced change, by any process.
    @usableFromInline package var generation: Generation { file.page.generation(of: archive) }

    /// The number of the last announced change, if it is committed or rolled back; `nil` while a
    /// commit runs.
    var quietGeneration: UInt64? {
        let last = generation.value
        return file.page.isFinished(last) ? last : nil
    }

    /// Returns what other processes changed since the generation was `old`.
    ///
    /// - Complexity: O(changes).
    @usableFromInline package func changes(after old: UInt64, through new: UInt64) -> ChangedKeys {
        file.page.changes(of: archive, after: old, through: new, notBy: file.author)
    }

    /// Whether another process may currently be writing the key, or one with the same hash.
    @usableFromInline package func isChanging(_ key: EntryKey) -> Bool {
        file.page.isChanging(hash.of(key), of: archive, notBy: file.author)
    }
}
