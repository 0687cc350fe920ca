import Foundation
import GRDB
import Vellum

/// Bytes that are their own encoding, such as an image: only the storage is compared.
protocol Blob: Subject, Codable {
    static var size: Int { get }
    static var contents: Data { get }

    init(key: String, bytes: Data)
    var key: String { get }
    var bytes: Data { get }
}

extension Blob {
    static var archiveName: String { "Blob" }
    static var isLarge: Bool { size >= 1 << 20 }

    var primaryKey: String { key }

    func archive() throws -> Data { bytes }

    // The bytes do not contain the key, which is not needed here.
    static func deArchive(fromData data: Data) throws -> any Archivable {
        Self(key: "", bytes: data)
    }

    static func make(_ index: Int) -> Self {
        Self(key: "b" + String(Scatter.place(index), radix: 16), bytes: contents)
    }

    static func createTable(_ database: Database) throws {
        try database.create(table: databaseTableName) { table in
            table.primaryKey("key", .text)
            table.column("bytes", .blob).notNull()
        }
    }

    static func pattern() -> Data {
        Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    }
}

struct Blob100: Blob {
    static let (title, size) = ("100 B", 100)
    static let contents = pattern()
    let key: String
    let bytes: Data
}

struct Blob1K: Blob {
    static let (title, size) = ("1 KiB", 1024)
    static let contents = pattern()
    let key: String
    let bytes: Data
}

struct Blob64K: Blob {
    static let (title, size) = ("64 KiB", 65_536)
    static let contents = pattern()
    let key: String
    let bytes: Data
}

struct Blob4M: Blob {
    static let (title, size) = ("4 MiB", 4_194_304)
    static let contents = pattern()
    let key: String
    let bytes: Data
}
