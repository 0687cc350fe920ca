import Foundation
import Vellum
import VellumTesting
import VellumTestSupport

// Types of programs of version 1, and the files that version 1 wrote for them.

/// A folder of archives beside the caches folder of a program that used version 1.
final class Originals: Sendable {
    let root: TemporaryDirectory
    let caches: URL
    let clock = TestClock()
    let factory: ArchivesFactory

    init() throws {
        root = try TemporaryDirectory()
        caches = root.file("caches")
        try FileManager.default.createDirectory(at: caches, withIntermediateDirectories: true)
        factory = ArchivesFactory(
            directory: root.file("archives"),
            importing: caches,
            clock: clock.wallClock
        )
    }

    /// Writes a file as version 1 did, last used some seconds after 2020 began.
    func write(_ data: Data, _ key: String, in folder: String, at second: Int = 0) throws {
        let folder = (caches.path as NSString).appendingPathComponent(folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = (folder as NSString).appendingPathComponent("\(key).vlm")
        guard FileManager.default.createFile(atPath: path, contents: data) else {
            throw CocoaError(.fileWriteUnknown)
        }
        try FileManager.default.setAttributes([.modificationDate: date(second)], ofItemAtPath: path)
    }

    func date(_ second: Int) -> Date { Date(timeIntervalSince1970: 1_577_836_800 + Double(second)) }

    /// The names of the files in a folder; empty if there is none.
    func files(_ folder: String) throws -> Set<String> {
        let path = caches.appendingPathComponent(folder).path
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return Set(
            try FileManager.default.contentsOfDirectory(atPath: path).filter {
                $0.hasSuffix(".vlm")
            }
        )
    }

    func exists(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: caches.appendingPathComponent(folder).path)
    }

    deinit {
        try? factory.close()
    }
}

/// Types with the short names of others, as in another module.
enum Shop {
    struct Article: ArchiveCodable, Equatable {
        var primaryKey: String { name }
        var name: String
        var price: Int
    }
}

enum News {
    struct Article: ArchiveCodable, Equatable {
        var primaryKey: String { name }
        var name: String
        var text: String
    }

    /// Its objects can be decoded as articles of the shop, too.
    enum Extended {
        struct Article: ArchiveCodable, Equatable {
            var primaryKey: String { name }
            var name: String
        }
    }
}

/// A type with a version.
struct Ticket: ArchiveCodable, VersionedArchive, Equatable {
    static var archiveVersion: Int { 2 }
    static var formerArchiveNames: [String] { ["Cinema.Coupon"] }
    var primaryKey: String { number }
    var number: String
    var seat: String

    static func migrate(_ old: StoredObject) throws -> Migrated<Ticket> {
        struct First: Decodable {
            var number: String
            var row: Int
        }
        let first = try old.decode(First.self)
        return first.row == 0
            ? .remove
            : .object(Ticket(number: "\(old.version)-\(first.number)", seat: "\(first.row)A"))
    }
}
