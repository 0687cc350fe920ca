internal import CChecksum
internal import Foundation
internal import VellumCore

/// The checksum of an entry: CRC-32C over archive, key, dates and bytes, so that neither another entry's value nor an old value under a
/// new date matches it.
struct Checksum: Equatable {
    private let ofArchive: UInt32

    init(archiveName: String) {
        var name = archiveName
        ofArchive = name.withUTF8 { Self.extend(0, UnsafeRawBufferPointer($0)) }
    }

    /// - Parameter key: The bytes of the normalized key.
    func of(
        key: UnsafeRawBufferPointer, written: Int64, expires: Int64?, idle: Int64?, bytes: UnsafeRawBufferPointer
    ) -> UInt32 {
        var crc = Self.extend(ofArchive, key)
        // Fixed widths and the key's length keep the parts apart: no two entries feed the same bytes.
        withUnsafeBytes(of: (Int64(key.count), written, expires ?? .max, idle ?? -1)) { crc = Self.extend(crc, $0) }
        return Self.extend(crc, bytes)
    }

    func of(_ entry: Entry, key: UnsafeRawBufferPointer) -> UInt32 {
        entry.bytes.withUnsafeBytes { bytes in
            of(key: key, written: entry.written.rawValue, expires: entry.expires?.rawValue, idle: entry.idle, bytes: bytes)
        }
    }

    private static func extend(_ crc: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
        vellum_crc32c(crc, bytes.baseAddress, bytes.count)
    }
}
