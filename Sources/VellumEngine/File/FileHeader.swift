internal import Foundation
internal import VellumCore

/// The first hundred bytes of a database file (sqlite.org/fileformat2.html, 1.3), most of which are the same in each of ours.
///
/// Read and written by itself, so only while no connection of this process has the file open.
struct FileHeader {
    static let size = 100
    private var bytes: [UInt8]

    /// - Returns: `nil` if the file has none.
    private init?(path: String) throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { file.closeFile() }
        bytes = try file.read(upToCount: Self.size).map(Array.init) ?? []
        guard bytes.count == Self.size else { return nil }
    }

    /// Whether the file is one of ours, by what is left of its header.
    static func isOurs(_ path: String, _ kind: FileKind) throws -> Bool {
        guard let header = try FileHeader(path: path) else { return false }
        return header.fixed(kind).count { header.bytes[$0.offset] != $0.byte } <= 8
    }

    /// What the header says that the file holds, if it says so.
    static func kind(of path: String) throws -> FileKind? {
        guard let header = try FileHeader(path: path) else { return nil }
        return FileKind(rawValue: Int32(truncatingIfNeeded: header.number(at: 68)))
    }

    /// What the header of a file of ours must hold, whatever is in the file: all but the size of a page, counters, and places.
    private func fixed(_ kind: FileKind) -> [(offset: Int, byte: UInt8)] {
        var fixed: [(offset: Int, byte: UInt8)] = []
        func add(_ offset: Int, _ bytes: some Sequence<UInt8>) { fixed += bytes.enumerated().map { (offset + $0.offset, $0.element) } }
        add(0, Array("SQLite format 3".utf8) + [0])
        // The log is used by readers and writers; no byte of a page is kept free; three fractions.
        add(18, [2, 2, 0, 64, 32, 32])
        // The format of the schema; UTF-8; incremental vacuum; who wrote it.
        add(44, [0, 0, 0, 4])
        add(56, [0, 0, 0, 1])
        add(64, [0, 0, 0, 1])
        add(68, withUnsafeBytes(of: kind.applicationID.bigEndian) { Array($0) })
        add(72, [UInt8](repeating: 0, count: 20))
        return fixed
    }

    /// Makes a copy of the file, with its log, whose header is as it must be. Where there is no header any more the pages may still
    /// be in the log.
    ///
    /// - Returns: Where the copy is; `nil` if nothing is wrong with the header.
    static func mendedCopy(of path: String, _ kind: FileKind) throws -> String? {
        let present = try FileHeader(path: path)
        var header = present ?? FileHeader(bytes: [UInt8](repeating: 0, count: Self.size))
        for (offset, byte) in header.fixed(kind) { header.bytes[offset] = byte }
        header.set(Schema.formatVersion, at: 60)
        let size = try logPageSize(path) ?? header.pageSize(ofFile: FileSystem.size(path))
        header.bytes.replaceSubrange(16..<18, with: [UInt8(size >> 8 & 0xFF), UInt8(size >> 16)])
        guard header.bytes != present?.bytes else { return nil }
        let copy = try copy(of: path)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: copy))
        defer { file.closeFile() }
        try file.write(contentsOf: header.bytes)
        // One page there must be, or the log is not looked at.
        if FileSystem.size(copy) < size { try file.truncate(atOffset: UInt64(size)) }
        return copy
    }

    /// What a copy of a damaged file is called.
    static let copySuffix = "-mended"

    /// Makes a copy of the file with its log, and returns where it is.
    static func copy(of path: String) throws -> String {
        let copy = path + copySuffix
        try removeCopy(copy)
        for suffix in ["", "-wal"] where FileIdentity(path: path + suffix) != nil {
            // A copy would fill the disk with them.
            guard !FileSystem.isMostlyHoles(path + suffix) else {
                try removeCopy(copy)
                throw SQLiteError.unsafePath(path + suffix, "consists of holes")
            }
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        return copy
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func number(at offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }

    private mutating func set(_ number: Int, at offset: Int) {
        for place in 0..<4 { bytes[offset + place] = UInt8(truncatingIfNeeded: number >> (24 - 8 * place)) }
    }

    /// The size of a page as the log has it (sqlite.org/fileformat2.html, 4.1), if there is one.
    private static func logPageSize(_ path: String) throws -> Int? {
        guard FileIdentity(path: path + "-wal") != nil, let log = try FileHeader(path: path + "-wal") else { return nil }
        guard [0x377F_0682, 0x377F_0683].contains(log.number(at: 0)), isPageSize(log.number(at: 8)) else { return nil }
        return log.number(at: 8)
    }

    /// The size of a page: what the header says, or what the number of pages says, or what it is if no one says anything.
    private func pageSize(ofFile size: Int) -> Int {
        // 65536 is written as 1.
        let said = Int(bytes[16]) << 8 | Int(bytes[17]) << 16
        if Self.isPageSize(said) { return said }
        let pages = number(at: 28)
        return pages > 0 && size % pages == 0 && Self.isPageSize(size / pages) ? size / pages : 4096
    }

    private static func isPageSize(_ size: Int) -> Bool { 512...65536 ~= size && size & (size - 1) == 0 }

    static func removeCopy(_ copy: String) throws {
        for suffix in ["", "-wal", "-shm", "-journal"] where FileIdentity(path: copy + suffix) != nil {
            try FileManager.default.removeItem(atPath: copy + suffix)
        }
    }
}
