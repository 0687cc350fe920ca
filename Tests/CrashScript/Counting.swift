package import Foundation
internal import Vellum

/// What several processes count up together, and who has counted how far.
package struct Counts: ArchiveCodable {
    package static var archiveName: String { "counts" }
    package static let keys = 10

    package var primaryKey: String { key }
    package var key: String
    package var total = 0
    package var by: [String: Int] = [:]

    package init(key: String) { self.key = key }
}

/// One who counts keys up, and notes in a file what was acknowledged: that file survives the
/// process.
package struct Counting {
    private let name: String
    private let store: ArchiveStore<Counts>
    private let file: FileHandle
    private let folder: URL
    private var acknowledged = Array(repeating: 0, count: Counts.keys)
    private var random: UInt64

    package init(in folder: URL, name: String, seed: UInt64) throws {
        (self.name, self.folder, random) = (name, folder, seed | 1)
        store = try whileBusy { try ArchivesFactory(directory: folder).store(for: Counts.self) }
        let url = Self.notes(of: name, in: folder)
        try Data(repeating: 0, count: 8 * Counts.keys).write(to: url)
        file = try FileHandle(forUpdating: url)
    }

    private static func notes(of name: String, in folder: URL) -> URL {
        folder.appendingPathComponent("acknowledged-" + name)
    }

    /// Ends all who count in the folder.
    package static func stop(in folder: URL) throws {
        try Data().write(to: folder.appendingPathComponent("stop"))
    }

    /// What each who counted was told, by name.
    package static func acknowledged(in folder: URL) throws -> [String: [Int]] {
        var all: [String: [Int]] = [:]
        let prefix = "acknowledged-"
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where name.hasPrefix(prefix) {
            let bytes = try Data(contentsOf: folder.appendingPathComponent(name))
            guard bytes.count == 8 * Counts.keys else { continue }
            all[String(name.dropFirst(prefix.count))] = bytes.withUnsafeBytes { bytes in
                (0..<Counts.keys).map {
                    Int(bytes.loadUnaligned(fromByteOffset: $0 * 8, as: Int64.self))
                }
            }
        }
        return all
    }

    package struct Miscounted: Error {
        package var key: String
        package var found: Int
        package var acknowledged: Int
    }

    /// Counts until somebody stops it.
    package mutating func run() throws {
        let stop = folder.appendingPathComponent("stop").path
        while access(stop, F_OK) != 0 {
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            let number = Int(random % UInt64(Counts.keys))
            let (key, mine, name) = ("\(number)", acknowledged[number], name)
            try whileBusy {
                try store.update(archiveWithKey: key) { present in
                    var counts = present ?? Counts(key: key)
                    guard counts.by[name, default: 0] == mine else {
                        throw Miscounted(
                            key: key,
                            found: counts.by[name, default: 0],
                            acknowledged: mine
                        )
                    }
                    counts.total += 1
                    counts.by[name, default: 0] += 1
                    present = counts
                }
            }
            acknowledged[number] += 1
            try file.seek(toOffset: UInt64(number * 8))
            withUnsafeBytes(of: Int64(acknowledged[number])) { file.write(Data($0)) }
        }
        try whileBusy { try store.close() }
    }
}
