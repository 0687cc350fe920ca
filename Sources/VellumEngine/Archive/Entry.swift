public import Foundation
public import VellumCore

/// What an archive keeps under a key: encoded bytes and their dates.
@usableFromInline package struct Entry: Hashable, Sendable {
    /// The encoded value. Limits in bytes count these.
    @usableFromInline package var bytes: Data
    /// When the value was recorded.
    @usableFromInline package var written: WallInstant
    /// When it expires, `WallInstant.never` if it does not; `nil` leaves that to each reader.
    @usableFromInline package var expires: WallInstant?
    /// For how many milliseconds it stays valid after its last use; `nil` if that does not matter.
    @usableFromInline package var idle: Int64?
    /// The last use in the file, if ``idle`` is not `nil`.
    @usableFromInline package var lastUse: UseStamp
    /// The entry's number in its archive, never used twice; 0 if it is not stored.
    @usableFromInline package var row: Int64
    /// The values for the index, if the writer of the entry knows them.
    @usableFromInline package var indexed: IndexedValues?
    /// Differs between two contents of one entry; 0 if it was not read from an archive.
    @usableFromInline package var revision: UInt32

    @usableFromInline package init(
        bytes: Data, written: WallInstant, expires: WallInstant? = nil, idle: Int64? = nil, indexed: IndexedValues? = nil
    ) {
        self.bytes = bytes
        self.written = written
        self.expires = expires
        self.idle = idle
        lastUse = .never
        row = 0
        self.indexed = indexed
        revision = 0
    }

    /// An entry with its own age, or with that of each reader if `expiration` is `nil`.
    @usableFromInline
    init(bytes: Data, forKey key: EntryKey, written: WallInstant, expiration: Expiration?, indexed: IndexedValues?) {
        self.init(bytes: bytes, written: written, indexed: indexed)
        guard let expiration else { return }
        expires = written.advanced(byMilliseconds: expiration.age(of: key, written: written))
        idle = expiration.idle == .max ? nil : expiration.idle
    }

    /// When it is valid.
    @usableFromInline package var validity: Validity { Validity(written: written, expires: expires, idle: idle) }

    /// Tells it from the entries under its key before and after it.
    @usableFromInline package var version: EntryVersion { EntryVersion(row: row, written: written, revision: revision) }
}
