internal import Foundation
internal import VellumCore

/// The first hundred bytes of a database file (sqlite.org/fileformat2.html, 1.3), most of which are
/// equal in all files of this package.
///
/// Reads and writes the file directly, so it may be used only while this process has no connection
/// to it.
package struct FileHeader {
    package static let size = 100
    private var bytes: [UInt8]

    /// Reads the header; `nil` if the file is too short.
    private init?(path: String) throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { file.closeFile() }
        bytes = try file.read(upToCount: Self.size).map(Array.init) ?? []
        guard bytes.count == Self.size else { return nil }
    }

    /// Returns whether the header is, up to eight bytes, one of this package's files of that kind.
    static func isOurs(_ path: String, _ kind: FileKind) throws -> Bool {
        guard let header = try FileHeader(path: path) else { return false }
        return header.fixed(kind).count { header.bytes[$0.offset] != $0.byte } <= 8
    }

    /// Whether the header says that readers use a log (sqlite.org/fileformat2.html, 1.3.3).
    static func hasLog(_ path: String) throws -> Bool {
        try FileHeader(path: path).map { $0.bytes[19] == 2 } ?? true
    }

    /// Returns the kind of file that the header names; `nil` if it names none.
    package static func kind(of path: String) throws -> FileKind? {
        try FileHeader(path: path)?.kind
    }

    package var kind: FileKind? { FileKind(rawValue: Int32(truncatingIfNeeded: number(at: 68))) }

    /// The header bytes that are equal in all files of a kind: all but the page size, counters and
    /// page numbers.
    private func fixed(_ kind: FileKind) -> [(offset: Int, byte: UInt8)] {
        var fixed: [(offset: Int, byte: UInt8)] = []
        func add(_ offset: Int, _ bytes: some Sequence<UInt8>) {
            fixed += bytes.enumerated().map { (offset + $0.offset, $0.element) }
        }
        add(0, Array("SQLite format 3".utf8) + [0])
        // WAL for readers and writers, but for a backup that nobody has opened for writing yet (1,
        // 1).
        add(
            18,
            bytes[18] == 1 && bytes[19] == 1 ? [1, 1] : [2, 2]
        )
        // No reserved bytes in a page; the three payload fractions.
        add(20, [0, 64, 32, 32])
        // Schema format 4; UTF-8; incremental vacuum.
        add(44, [0, 0, 0, 4])
        add(56, [0, 0, 0, 1])
        add(64, [0, 0, 0, 1])
        add(68, withUnsafeBytes(of: kind.rawValue.bigEndian) { Array($0) })
        add(72, [UInt8](repeating: 0, count: 20))
        return fixed
    }

    /// Copies the file and its log, and repairs the header of the copy. A file without a header is
    /// also copied, because its pages may be in the log.
    ///
    /// - Returns: The path of the copy; `nil` if the header needs no repair.
    static func repairedCopy(of path: String, _ kind: FileKind) throws -> String? {
        let present = try FileHeader(path: path)
        var header = present ?? FileHeader(bytes: [UInt8](repeating: 0, count: Self.size))
        for (offset, byte) in header.fixed(kind) { header.bytes[offset] = byte }
        header.set(Schema.formatVersion, at: 60)
        let size = try logPageSize(path) ?? header.pageSize(ofFile: FileSystem.size(path))
        header.bytes.replaceSubrange(
            16..<18,
            with: [UInt8(size >> 8 & 0xFF), UInt8(size >> 16)]
        )
        guard header.bytes != present?.bytes else { return nil }
        let copy = try copy(of: path)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: copy))
        defer { file.closeFile() }
        try file.write(contentsOf: header.bytes)
        // SQLite reads the log only if the file has at least one page.
        if FileSystem.size(copy) < size { try file.truncate(atOffset: UInt64(size)) }
        return copy
    }

    /// Copies the file and its log, and returns the path of the copy.
    static func copy(of path: String) throws -> String {
        let copy = path + FilePaths.copySuffix
        try FilePaths.remove(copy)
        for suffix in ["", "-wal"] where FileIdentity(path: path + suffix) != nil {
            // Copying a sparse file would fill the disk with zeros.
            guard !FileSystem.isMostlyHoles(path + suffix) else {
                try FilePaths.remove(copy)
                throw SQLiteError.unsafePath(path + suffix, "consists of holes")
            }
            try FileSystem.copy(path + suffix, to: copy + suffix)
        }
        return copy
    }

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package func number(at offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func set(_ number: Int, at offset: Int) {
        for index in 0..<4 {
            bytes[offset + index] = UInt8(truncatingIfNeeded: number >> (24 - 8 * index))
        }
    }

    /// Returns the page size in the header of the log (sqlite.org/fileformat2.html, 4.1); `nil` if
    /// there is no valid one.
    package static func logPageSize(_ path: String) throws -> Int? {
        guard FileIdentity(path: path + "-wal") != nil,
            let log = try FileHeader(path: path + "-wal")
        else { return nil }
        guard [0x377F_0682, 0x377F_0683].contains(log.number(at: 0)),
            isPageSize(log.number(at: 8))
        else { return nil }
        return log.number(at: 8)
    }

    /// Returns the page size from the header, or else from the number of pages, or else the default
    /// of 4096.
    private func pageSize(ofFile size: Int) -> Int {
        // 65536 is written as 1.
        let declared = Int(bytes[16]) << 8 | Int(bytes[17]) << 16
        if Self.isPageSize(declared) { return declared }
        let pages = number(at: 28)
        return pages > 0 && size % pages == 0 && Self.isPageSize(size / pages) ? size / pages : 4096
    }

    private static func isPageSize(_ size: Int) -> Bool {
        512...65536 ~= size && size & (size - 1) == 0
    }
}

/// What a file holds, as SQLite's application ID, which marks the program that owns a file
/// (sqlite.org/fileformat2.html, 1.3): stored in the file's header, so that archives, caches and
/// storages never share a file by mistake.
package enum FileKind: Int32, Sendable, CaseIterable {
    /// Archives of Vellum: "VELM".
    case archives = 0x5645_4C4D
    /// Caches of MiniCache: "VELC".
    case caches = 0x5645_4C43
    /// A storage of ShallowsSQLite: "VELS".
    case storage = 0x5645_4C53

    var name: String {
        switch self {
        case .archives: "archives of Vellum"
        case .caches: "caches of MiniCache"
        case .storage: "a storage of ShallowsSQLite"
        }
    }
}
