internal import CChecksum
package import Foundation
package import VellumCore

/// The bytes of an entry on a server: a header of thirty bytes, then those of the value. Integers are little-endian.
///
/// | bytes | |
/// | --- | --- |
/// | 1 | the format, 1 |
/// | 1 | flags: 1 if there is nothing under the key, which is an answer, too |
/// | 8 | the version of the value's type |
/// | 8 | when it was written, in milliseconds since 1970 by the server's clock |
/// | 8 | when it expires, by the same clock; the largest number if it does not |
/// | 4 | CRC-32C over the key and everything else |
package struct RemoteRecord: Hashable, Sendable {
    /// The bytes of the value; `nil` if there is nothing under the key.
    package var value: Data?
    package var typeVersion: Int64
    package var written: WallInstant
    package var expires: WallInstant

    package init(value: Data?, typeVersion: Int64, written: WallInstant, expires: WallInstant) {
        (self.value, self.typeVersion, self.written, self.expires) = (value, typeVersion, written, expires)
    }

    private static let format: UInt8 = 1
    private static let isNothing: UInt8 = 1
    package static let headerLength = 30
    private static let checksumOffset = 26
    /// The most bytes that are read of an entry. A connection sends no command of more than nine megabytes.
    package static let longest = 10 << 20

    /// - Parameter key: The key on the server.
    package func encoded(under key: String) -> Data {
        var bytes = Data(capacity: Self.headerLength + (value?.count ?? 0))
        bytes.append(Self.format)
        bytes.append(value == nil ? Self.isNothing : 0)
        for field in [typeVersion, written.rawValue, expires.rawValue] {
            withUnsafeBytes(of: field.littleEndian) { bytes.append(contentsOf: $0) }
        }
        let checksum = Self.checksum(key, header: bytes, value ?? Data())
        withUnsafeBytes(of: checksum.littleEndian) { bytes.append(contentsOf: $0) }
        if let value { bytes.append(value) }
        return bytes
    }

    /// Reads an entry.
    ///
    /// - Returns: `nil` if the bytes are damaged, of another key or of a format that this version does not know.
    package init?(_ bytes: Data, under key: String) {
        guard bytes.count >= Self.headerLength else { return nil }
        let (header, rest) = (bytes.prefix(Self.checksumOffset), bytes.dropFirst(Self.headerLength))
        let (format, flags) = (header[header.startIndex], header[header.startIndex + 1])
        guard format == Self.format, flags & ~Self.isNothing == 0, flags == 0 || rest.isEmpty else { return nil }
        let fields = bytes.withUnsafeBytes { raw in
            (
                raw.loadUnaligned(fromByteOffset: 2, as: Int64.self), raw.loadUnaligned(fromByteOffset: 10, as: Int64.self),
                raw.loadUnaligned(fromByteOffset: 18, as: Int64.self),
                raw.loadUnaligned(fromByteOffset: Self.checksumOffset, as: UInt32.self)
            )
        }
        guard Self.checksum(key, header: header, rest) == UInt32(littleEndian: fields.3) else { return nil }
        let (written, expires) = (Int64(littleEndian: fields.1), Int64(littleEndian: fields.2))
        // Whoever can write to the server can make a checksum, too.
        guard written >= 0, expires >= 0 else { return nil }
        self.init(
            value: flags == 0 ? rest : nil, typeVersion: Int64(littleEndian: fields.0), written: WallInstant(rawValue: written),
            expires: WallInstant(rawValue: expires))
    }

    private static func checksum(_ key: String, header: Data, _ value: Data) -> UInt32 {
        var (key, checksum) = (key, UInt32(0))
        func add(_ bytes: UnsafeRawBufferPointer) { checksum = vellum_crc32c(checksum, bytes.baseAddress, bytes.count) }
        key.withUTF8 { add(UnsafeRawBufferPointer($0)) }
        // The length keeps the key and what follows it apart.
        withUnsafeBytes(of: Int64(key.utf8.count).littleEndian) { add($0) }
        header.withUnsafeBytes { add($0) }
        value.withUnsafeBytes { add($0) }
        return checksum
    }
}
