public import Foundation
public import VellumCore

/// What a tier keeps under a key: encoded bytes and their dates.
@usableFromInline package struct Entry: Hashable, Sendable {
    /// The encoded value. Their count is what every limit counts.
    @usableFromInline package var bytes: Data
    /// When the value was recorded.
    @usableFromInline package var written: WallInstant
    /// When it stops being valid, `WallInstant.never` for never; `nil` leaves that to each reader.
    @usableFromInline package var expires: WallInstant?
    /// For how many milliseconds it is valid without being used, where it has such an age.
    @usableFromInline package var idle: Int64?
    /// The last use that is known where the entry was read; asked for only where ``idle`` is something.
    @usableFromInline package var lastUse: UseStamp
    /// The tier's own handle on the entry, never used twice; 0 where the tier has none.
    @usableFromInline package var row: Int64
    /// What an index is to hold of the value, where whoever writes the entry knows.
    @usableFromInline package var indexed: IndexedValues?
    /// What the tier that the entry was read from tells its contents from others' by; 0 where it does not.
    @usableFromInline package var revision: UInt32

    @usableFromInline package init(
        bytes: Data, written: WallInstant, expires: WallInstant? = nil, idle: Int64? = nil, lastUse: UseStamp = .never, row: Int64 = 0,
        indexed: IndexedValues? = nil, revision: UInt32 = 0
    ) {
        self.bytes = bytes
        self.written = written
        self.expires = expires
        self.idle = idle
        self.lastUse = lastUse
        self.row = row
        self.indexed = indexed
        self.revision = revision
    }

    /// An entry of this age: its own, or that of whoever reads it.
    @usableFromInline
    init(bytes: Data, forKey key: EntryKey, written: WallInstant, expiration: Expiration?, indexed: IndexedValues?) {
        self.init(bytes: bytes, written: written, indexed: indexed)
        guard let expiration else { return }
        expires = written.advanced(byMilliseconds: expiration.age(of: key, written: written))
        idle = expiration.idle == .max ? nil : expiration.idle
    }

    /// When it is valid.
    @usableFromInline package var validity: Validity { Validity(written: written, expires: expires, idle: idle) }

    /// What tells it from what is under its key before or after it.
    @usableFromInline package var version: EntryVersion { EntryVersion(row: row, written: written, revision: revision) }
}
