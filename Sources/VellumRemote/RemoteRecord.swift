internal import CChecksum
package import Foundation
package import VellumCore

/// The bytes of an entry on a server: a header of thirty bytes, its groups if it has any, then
/// those of the value. Integers are little-endian.
///
/// | bytes | |
/// | --- | --- |
/// | 1 | the format, 1 |
/// | 1 | flags: 1 if nothing is under the key, which is an answer, too; 2 if it is in groups |
/// | 8 | the version of the value's type |
/// | 8 | when it was written, in milliseconds since 1970 by the server's clock |
/// | 8 | when it expires, by the same clock; the largest number if it does not |
/// | 4 | CRC-32C over the key and everything else |
///
/// The groups: how many there are in four bytes, and of each the length of its name in four bytes,
/// its name and its epoch in eight. A program that does not know them takes such an entry for a
/// damaged one, and loads it again.
package struct RemoteRecord: Hashable, Sendable {
    /// The bytes of the value; `nil` if there is nothing under the key.
    package var value: Data?
    package var typeVersion: Int64
    package var written: WallInstant
    package var expires: WallInstant
    package var groups: [GroupEpoch]

    package init(
        value: Data?,
        typeVersion: Int64,
        written: WallInstant,
        expires: WallInstant,
        groups: [GroupEpoch] = []
    ) {
        self.value = value
        self.typeVersion = typeVersion
        self.written = written
        self.expires = expires
        self.groups = groups
    }

    private static let format: UInt8 = 1
    private static let isNothing: UInt8 = 1
    private static let isInGroups: UInt8 = 2
    package static let headerLength = 30
    private static let checksumOffset = 26
    /// The most bytes that are read of an entry. A connection sends no command of more than nine
    /// megabytes.
    package static let longest = 10 << 20

    /// - Parameter key: The key on the server.
    package func encoded(under key: String) -> Data {
        var bytes = Data(capacity: Self.headerLength + (value?.count ?? 0))
        bytes.append(Self.format)
        bytes.append(
            (value == nil ? Self.isNothing : 0) | (groups.isEmpty ? 0 : Self.isInGroups)
        )
        for field in [typeVersion, written.rawValue, expires.rawValue] {
            bytes.append(integer: field)
        }
        var rest = Data()
        if !groups.isEmpty { rest.append(integer: UInt32(truncatingIfNeeded: groups.count)) }
        for group in groups {
            rest.append(integer: UInt32(truncatingIfNeeded: group.name.normalized.utf8.count))
            rest.append(contentsOf: group.name.normalized.utf8)
            rest.append(integer: group.epoch)
        }
        if let value { rest.append(value) }
        bytes.append(integer: Self.checksum(key, header: bytes, rest))
        bytes.append(rest)
        return bytes
    }

    /// Takes the groups off the bytes; `nil` if they are not as they would be written. Nothing is
    /// reserved for a count or a length.
    private static func takeGroups(_ bytes: inout Data) -> [GroupEpoch]? {
        func take(_ count: UInt64) -> Data? {
            guard bytes.count >= count else { return nil }
            defer { bytes = bytes.dropFirst(Int(count)) }
            return bytes.prefix(Int(count))
        }
        func integer(_ size: UInt64) -> UInt64? {
            take(size)?.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard let count = integer(4), count > 0 else { return nil }
        var groups: [GroupEpoch] = []
        for _ in 0..<count {
            guard let name = integer(4).flatMap(take),
                let text = String(bytes: name, encoding: .utf8), let epoch = integer(8)
            else {
                return nil
            }
            groups.append(GroupEpoch(name: EntryKey(text), epoch: epoch))
            if !groups[groups.endIndex - 1].name.normalized.utf8.elementsEqual(name) { return nil }
        }
        return groups
    }

    /// Reads an entry.
    ///
    /// - Returns: `nil` if the bytes are damaged, of another key or of a format that this version
    ///   does not know.
    package init?(_ bytes: Data, under key: String) {
        guard bytes.count >= Self.headerLength else { return nil }
        let header = bytes.prefix(Self.checksumOffset)
        var rest = bytes.dropFirst(Self.headerLength)
        let format = header[header.startIndex]
        let flags = header[header.startIndex + 1]
        guard format == Self.format, flags & ~(Self.isNothing | Self.isInGroups) == 0 else {
            return nil
        }
        let fields = bytes.withUnsafeBytes { raw in
            (
                raw.loadUnaligned(fromByteOffset: 2, as: Int64.self),
                raw.loadUnaligned(fromByteOffset: 10, as: Int64.self),
                raw.loadUnaligned(fromByteOffset: 18, as: Int64.self),
                raw.loadUnaligned(fromByteOffset: Self.checksumOffset, as: UInt32.self)
            )
        }
        guard Self.checksum(key, header: header, rest) == UInt32(littleEndian: fields.3) else {
            return nil
        }
        let written = Int64(littleEndian: fields.1)
        let expires = Int64(littleEndian: fields.2)
        // Whoever can write to the server can make a checksum, too.
        guard written >= 0, expires >= 0,
            let groups = flags & Self.isInGroups == 0 ? [] : Self.takeGroups(&rest)
        else { return nil }
        let isNothing = flags & Self.isNothing != 0
        guard !isNothing || rest.isEmpty else { return nil }
        self.init(
            value: isNothing ? nil : rest,
            typeVersion: Int64(littleEndian: fields.0),
            written: WallInstant(rawValue: written),
            expires: WallInstant(rawValue: expires),
            groups: groups
        )
    }

    private static func checksum(_ key: String, header: Data, _ value: Data) -> UInt32 {
        var key = key
        var checksum = UInt32(0)
        func add(_ bytes: UnsafeRawBufferPointer) {
            checksum = vellum_crc32c(checksum, bytes.baseAddress, bytes.count)
        }
        key.withUTF8 { add(UnsafeRawBufferPointer($0)) }
        // The length keeps the key and what follows it apart.
        withUnsafeBytes(of: Int64(key.utf8.count).littleEndian) { add($0) }
        header.withUnsafeBytes { add($0) }
        value.withUnsafeBytes { add($0) }
        return checksum
    }
}

/// A group of an entry, and the epoch of the group under which it was recorded: the entry is valid
/// while the server has the same one.
package struct GroupEpoch: Hashable, Sendable {
    package var name: EntryKey
    package var epoch: UInt64

    package init(name: EntryKey, epoch: UInt64) {
        self.name = name
        self.epoch = epoch
    }
}

extension Data {
    fileprivate mutating func append(integer: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: integer.littleEndian) { append(contentsOf: $0) }
    }
}
