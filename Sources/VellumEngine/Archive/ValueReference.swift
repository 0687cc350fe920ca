internal import CChecksum
internal import Foundation

/// What ``Entry/bytes`` hold of a value that has a file of its own: the file's number and its checksum.
///
/// The number is little-endian. The size is in the entry's flags, so that SQL can add up sizes without reading values.
struct ValueReference: Equatable {
    /// The first eight flags: the value is in a file of its own, and the other flags are its size.
    static let flag: Int64 = 1
    private static let sizeShift: Int64 = 8

    var file: UInt64
    /// CRC-32C of the value.
    var sum: UInt32
    var size: Int

    init(file: UInt64, value: Data) {
        self.file = file
        sum = Self.sum(of: value)
        size = value.count
    }

    /// - Returns: `nil` if the flags say something else, or if it is damaged.
    init?(flags: Int64, bytes: UnsafeRawBufferPointer) {
        guard flags & 0xFF == Self.flag, flags > 0, bytes.count == 12 else { return nil }
        file = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
        sum = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        size = Int(flags >> Self.sizeShift)
    }

    var flags: Int64 { Self.flag | Int64(size) << Self.sizeShift }

    var bytes: Data {
        var bytes = Data(capacity: 12)
        withUnsafeBytes(of: file.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: sum.littleEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// Whether these are the bytes of the value.
    func matches(_ value: Data) -> Bool { value.count == size && Self.sum(of: value) == sum }

    private static func sum(of value: Data) -> UInt32 { value.withUnsafeBytes { vellum_crc32c(0, $0.baseAddress, $0.count) } }

    /// The size of an entry's value, in a statement.
    static let sizeColumn = "CASE WHEN flags > 0 AND flags & 255 = \(flag) THEN flags >> \(sizeShift) ELSE length(bytes) END"
}

extension Entry {
    /// The file that holds the value; `nil` if ``bytes`` are the value.
    var reference: ValueReference? { flags == 0 ? nil : bytes.withUnsafeBytes { ValueReference(flags: flags, bytes: $0) } }

    /// The size of the value, wherever it is.
    var size: Int { reference?.size ?? bytes.count }

    /// The same entry with its value in a file.
    func moved(to reference: ValueReference) -> Entry {
        var entry = self
        (entry.bytes, entry.flags) = (reference.bytes, reference.flags)
        return entry
    }

    /// The same entry with the value that its file holds.
    func holding(_ value: Data) -> Entry {
        var entry = self
        (entry.bytes, entry.flags) = (value, 0)
        return entry
    }
}
