internal import CChecksum
internal import Foundation
internal import VellumCore

/// The checksum of an entry: CRC-32C over archive, key, dates, version and bytes, so that neither another entry's value nor an old value
/// under a new date matches it.
struct Checksum: Equatable {
    private let ofArchive: UInt32
    /// The hash of the archive's keys.
    let hash: SeededHash

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

    private static func stored(_ sum: UInt32) -> Int64 { Int64(Int32(bitPattern: sum)) }

    /// The hash of a key, as the file has it.
    func storedHash(ofKey key: UnsafeRawBufferPointer) -> Int64 { Self.stored(UInt32(truncatingIfNeeded: hash.of(key))) }

    func sums(of entry: Entry, key: UnsafeRawBufferPointer) -> Sums {
        Sums(hash: UInt32(truncatingIfNeeded: hash.of(key)), checksum: of(entry, key: key))
    }

    /// - Parameter key: The bytes of the normalized key.
    func of(_ entry: Entry, key: UnsafeRawBufferPointer) -> UInt32 {
        let (expires, idle) = (entry.expires?.rawValue ?? .max, entry.idle ?? -1)
        var crc = Self.extend(ofArchive, key)
        // Fixed widths and the key's length keep the parts apart: no two entries feed the same bytes.
        let fixed = (Int64(key.count), entry.written.rawValue, expires, idle, entry.typeVersion)
        withUnsafeBytes(of: fixed) { crc = Self.extend(crc, $0) }
        return entry.bytes.withUnsafeBytes { Self.extend(crc, $0) }
    }

    private static func extend(_ crc: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
        vellum_crc32c(crc, bytes.baseAddress, bytes.count)
    }
}
