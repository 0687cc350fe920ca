import Foundation
import MiniCache
import Shallows
import ShallowsSQLite
import TestThreads
import Testing
import Vellum

/// Files of format 1, which every later version opens (`Documentation/Format.md`).
@Suite(.ownThreads)
struct FormatTests {
    private let folder: URL
    private static let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }
    private static let fixtures = root.appendingPathComponent("Tests/Fixtures/Format1")

    private struct City: ArchiveCodable, Equatable {
        var name: String
        var people: Int
        var isCapital: Bool
        var height: Double
        var rivers: [String]
        var founded: Date?
        var id: UUID
        var primaryKey: String { name }
        static var archiveName: String { "Cities" }
    }

    private struct Note: ArchiveCodable {
        var number: Int
        var text: String
        var primaryKey: String { "note \(number)" }
        static var archiveName: String { "Notes" }
    }

    private struct Link: ArchiveCodable {
        var name: String
        var url: URL
        var price: Decimal
        var primaryKey: String { name }
        static var archiveName: String { "Links" }
    }

    private struct District: ArchiveCodable, IndexedArchivable {
        var name: String
        var district: String
        var primaryKey: String { name }
        static var archiveName: String { "\u{112B}\u{1161}\u{11BC}\u{C18C}" }
        static var archiveIndexes: [ArchiveIndex<District>] { [.index(\.district)] }
    }

    private struct Draft: ArchiveCodable {
        var title: String
        var primaryKey: String { title }
        static var archiveName: String { "Drafts" }
    }

    private struct Place: Codable {
        var x: Int
        var y: Int
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "format-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for name in ["Archives", "Caches", "Storage"] {
            let file = folder.appendingPathComponent("\(name).sqlite")
            try FileManager.default.copyItem(
                at: Self.fixtures.appendingPathComponent("\(name).sqlite"),
                to: file
            )
        }
    }

    @Test func archivesOfFormat1AreRead() throws {
        let factory = ArchivesFactory(directory: folder)
        let cities = try factory.store(for: City.self)
        let bern = try #require(try cities.access(archiveWithKey: "Bern"))
        #expect(bern.people == 134_795 && bern.height == 542.25 && bern.rivers == ["Aare"])
        #expect(bern.founded == Date(timeIntervalSince1970: -24_000_000_000))
        #expect(try cities.access(archiveWithKey: "Zürich")?.rivers == ["Limmat", "Sihl"])
        #expect(try cities.access(archiveWithKey: "Genève") == nil)
        #expect(try cities.access(archiveWithKey: "東京")?.people == 13_960_000)
        // Whichever way the syllables are written.
        for name in ["서울", "\u{1109}\u{1165}\u{110B}\u{116E}\u{11AF}", "\u{C11C}\u{C6B0}\u{11AF}"] {
            #expect(try cities.access(archiveWithKey: name)?.rivers == ["한강"])
        }
        #expect(try cities.count() == 4)
        let places = try factory.store(for: District.self)
        let gak = "각"
        #expect(try places.fetch(where: #Predicate { $0.district == gak }).map(\.name) == ["강남"])
        let notes = try factory.store(for: Note.self)
        #expect(try notes.count() == 100)
        #expect(
            try notes.fetch(where: #Predicate { $0.number % 7 == 6 }).allSatisfy {
                $0.text == "xxxxxx"
            }
        )
        let link = try #require(try factory.store(for: Link.self).access(archiveWithKey: "swift"))
        #expect(
            link.url.absoluteString == "https://swift.org/a?b=c"
                && link.price == Decimal(1999) / 100
        )
        // The rows of the emptied archive are still in the file.
        let drafts = try factory.store(for: Draft.self)
        #expect(try drafts.accessAll().map(\.title) == ["new"])
        #expect(try drafts.access(archiveWithKey: "old 7") == nil)
        try drafts.record(Draft(title: "old 7"))
        #expect(try drafts.count() == 2)
        try factory.close()
    }

    @Test func cachesOfFormat1AreRead() throws {
        let manager = MiniCacheManager(name: "Caches", directory: folder)
        let numbers: MiniCache<Int, String> = manager.cache(
            cacheName: "Numbers",
            cacheVersion: .custom("1"),
            maxAge: .forever
        )
        #expect([-7, 0, 42].map { numbers[$0] } == ["value -7", "value 0", "value 42"])
        let images: MiniCache<String, Data> = manager.cache(
            cacheName: "Images",
            cacheVersion: .custom("2"),
            maxAge: .forever
        )
        #expect(images["https://example.com/a.png"] == Data([1, 2, 3, 255]))
        #expect(images["\u{1}marked"] == Data(repeating: 9, count: 10_000))
        let places: MiniCache<Place, Bool> = manager.cache(
            cacheName: "Places",
            cacheVersion: .custom("1"),
            maxAge: .forever
        )
        #expect(places[Place(x: 1, y: 2)] == true)
        let lists: MiniCache<String, [Int]> = manager.cache(
            cacheName: "\u{1} and \u{0}",
            cacheVersion: .custom("1.0"),
            maxAge: .forever
        )
        #expect(lists["list"] == [1, -2, 300])
        let texts: MiniCache<String, String> = manager.cache(
            cacheName: "한글",
            cacheVersion: .custom("각"),
            maxAge: .forever
        )
        #expect(
            ["각", "\u{AC00}\u{11A8}", "\u{1100}\u{1161}\u{11A8}"].map { texts[$0] } == [
                "각", "각", "각",
            ]
        )
        try manager.close()
    }

    @Test func aStorageOfFormat1IsRead() async throws {
        let storage = SQLiteStorage<String>(
            fileURL: folder.appendingPathComponent("Storage.sqlite")
        )
        for (key, value) in ["a": "one", "folder/b": "two", "é": "three", "해운대/각": "각"] {
            #expect(try await storage.retrieve(forKey: Filename(rawValue: key)) == value)
        }
        try await storage.close()
        // A value of several pages.
        let texts = SQLiteStorage<Data>(fileURL: folder.appendingPathComponent("Storage.sqlite"))
        let large = try await texts.retrieve(forKey: "large")
        #expect(large.count == 7690 && large.starts(with: Data("line 0 of a large value\n".utf8)))
        try await texts.close()
    }

    /// The reader was written from the document alone.
    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/env")),
        arguments: ["Archives", "Caches", "Storage"]
    )
    func aReaderInAnotherLanguageReadsThem(_ name: String) throws {
        let output = folder.appendingPathComponent("\(name).jsonl")
        let script = Self.root.appendingPathComponent("Scripts/read_archives.py").path
        let arguments = [
            "-c", #"command -v python3 >/dev/null || exit 77; exec python3 "$0" "$1" >"$2""#,
            script,
            folder.appendingPathComponent("\(name).sqlite").path, output.path,
        ]
        let end = try Child.run("/bin/sh", arguments).end
        guard end != .exited(77) else { return print("Skipped: there is no Python here.") }
        #expect(end == .exited(0))
        #expect(
            try Data(contentsOf: output)
                == Data(contentsOf: Self.fixtures.appendingPathComponent("\(name).jsonl"))
        )
    }
}
