internal import CChecksum
public import Foundation
public import VellumCore

/// An entry of an archive: encoded bytes and their dates.
@usableFromInline package struct Entry: Hashable, Sendable {
    /// The encoded value. Limits in bytes count only these.
    @usableFromInline package var bytes: Data
    /// When the value was recorded.
    @usableFromInline package var written: WallInstant
    /// When it expires, `WallInstant.never` if it does not; `nil` if the expiration of each reader
    /// applies.
    @usableFromInline package var expires: WallInstant?
    /// How many milliseconds it stays valid after its last use; `nil` if the last use does not
    /// affect its validity.
    @usableFromInline package var idle: Int64?
    /// The last use in the file, if ``idle`` is not `nil`.
    @usableFromInline package var lastUse = UseStamp.never
    /// The entry's id in its archive, which is never reused; 0 if it is not stored.
    @usableFromInline package var id: Int64 = 0
    /// The version of the value's type; 0 if the type has none.
    @usableFromInline package var typeVersion: Int64 = 0
    /// The values for the index, if the writer of the entry knows them.
    @usableFromInline package var indexed: IndexedValues?
    /// The checksum in the archive, which also tells successive contents of one entry apart; 0 if
    /// the entry was not read from an archive.
    @usableFromInline package var revision: UInt32 = 0

    @usableFromInline package init(
        bytes: Data,
        written: WallInstant,
        expires: WallInstant? = nil,
        idle: Int64? = nil,
        indexed: IndexedValues? = nil
    ) {
        self.bytes = bytes
        self.written = written
        self.expires = expires
        self.idle = idle
        self.indexed = indexed
    }

    /// Creates an entry with its own expiration, or with that of each reader if `expiration` is
    /// `nil`.
    @usableFromInline
    init(
        bytes: Data,
        forKey key: EntryKey,
        written: WallInstant,
        expiration: Expiration?,
        indexed: IndexedValues?
    ) {
        self.init(bytes: bytes, written: written, indexed: indexed)
        if let expiration { setAge(expiration, forKey: key) }
    }

    /// Gives the entry an expiration of its own.
    private mutating func setAge(_ expiration: Expiration, forKey key: EntryKey) {
        expires = written.advanced(byMilliseconds: expiration.age(of: key, written: written))
        idle = expiration.idle == .max ? nil : expiration.idle
    }

    /// The same value, as if it were written now.
    func renewed(forKey key: EntryKey, at now: WallInstant, expiration: Expiration?) -> Entry {
        var entry = self
        entry.written = now
        entry.expires = nil
        entry.idle = nil
        if let expiration { entry.setAge(expiration, forKey: key) }
        return entry
    }

    /// Takes over the age of an older value.
    @usableFromInline
    mutating func keepAge(of old: Validity) {
        guard old.isOwn else { return written = old.written }
        expires = old.until
        idle = old.idle == .max ? nil : old.idle
    }

    /// The size of the value in bytes.
    var size: Int { bytes.count }

    /// The time span in which the entry is valid.
    @usableFromInline package var validity: Validity {
        Validity(written: written, expires: expires, idle: idle)
    }

    /// Distinguishes the entry from earlier and later entries under its key.
    @usableFromInline package var version: EntryVersion {
        EntryVersion(entryID: id, written: written, revision: revision)
    }
}

/// What distinguishes an entry from those that were under its key before or after it.
@usableFromInline package struct EntryVersion: Hashable, Sendable {
    @usableFromInline package var entryID: Int64
    @usableFromInline package var written: WallInstant
    @usableFromInline package var revision: UInt32
}

/// What a writer must know of an entry in order to overwrite it. What is outdated does no harm: the
/// writer compares it.
@frozen
@usableFromInline package struct KnownEntry: Hashable, Sendable {
    /// The entry's id in its archive.
    @usableFromInline package var id: Int64
    /// Encoded bytes.
    @usableFromInline package var size: Int

    @inlinable
    package init(id: Int64, size: Int) {
        self.id = id
        self.size = size
    }
}

/// An entry that a query has read.
package struct StoredEntry: Sendable {
    package var key: EntryKey
    package var entry: Entry
    /// Whether it matches its checksum.
    package var isIntact: Bool
}

/// The size of a batch of reads.
struct ReadLimit: Sendable {
    var entries: Int
    var bytes = 4 << 20
}

/// The checksum of an entry: CRC-32C over archive, key, dates, version and bytes, so that neither
/// another entry's value nor an old value under a new date matches it.
package struct Checksum: Equatable {
    private let ofArchive: UInt32
    /// The hash of the archive's keys.
    package let hash: SeededHash

    init(archiveName: String, hash: SeededHash) {
        self.hash = hash
        var name = archiveName
        ofArchive = name.withUTF8 { Self.extend(0, UnsafeRawBufferPointer($0)) }
    }

    /// What is stored of an entry beside it.
    struct Sums {
        /// The lower half of the hash of the key.
        var hash: UInt32
        /// CRC-32C over the whole entry.
        var checksum: UInt32

        // Four bytes in the file, where SQLite takes six for half of the unsigned ones.
        var storedHash: Int64 { Checksum.stored(hash) }
        var storedChecksum: Int64 { Checksum.stored(checksum) }
    }

    static func stored(_ sum: UInt32) -> Int64 { Int64(Int32(bitPattern: sum)) }

    /// The hash of a key, as the file has it.
    func storedHash(ofKey key: UnsafeRawBufferPointer) -> Int64 {
        Self.stored(UInt32(truncatingIfNeeded: hash.of(key)))
    }

    func storedHash(ofKey key: EntryKey) -> Int64 { key.withBytes { storedHash(ofKey: $0) } }

    func sums(of entry: Entry, key: EntryKey) -> Sums {
        key.withBytes {
            Sums(
                hash: UInt32(truncatingIfNeeded: hash.of($0)),
                checksum: of(entry, key: $0)
            )
        }
    }

    /// - Parameter key: The bytes of the normalized key.
    func of(_ entry: Entry, key: UnsafeRawBufferPointer) -> UInt32 {
        let expires = entry.expires?.rawValue ?? .max
        let idle = entry.idle ?? -1
        return entry.bytes.withUnsafeBytes {
            of(key, (entry.written.rawValue, expires, idle, entry.typeVersion), $0)
        }
    }

    /// - Parameter dates: When it was recorded, when it expires, its idle age, and its version.
    func of(
        _ key: UnsafeRawBufferPointer,
        _ dates: (Int64, Int64, Int64, Int64),
        _ bytes: UnsafeRawBufferPointer
    ) -> UInt32 {
        var crc = Self.extend(ofArchive, key)
        // Fixed widths and the key's length keep the parts apart: no two entries feed the same
        // bytes.
        withUnsafeBytes(
            of: (Int64(key.count), dates.0, dates.1, dates.2, dates.3)
        ) {
            crc = Self.extend(crc, $0)
        }
        return Self.extend(crc, bytes)
    }

    private static func extend(_ crc: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
        vellum_crc32c(crc, bytes.baseAddress, bytes.count)
    }
}
