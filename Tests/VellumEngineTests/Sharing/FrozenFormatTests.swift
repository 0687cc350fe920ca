import CChecksum
import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

/// What later versions must read and write as this one does: files of format 1, and the layout of
/// `-changes`.
@Suite(.ownThreads)
final class FrozenFormatTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Fixtures/Format1").standardizedFileURL

    private let memory: UnsafeMutableRawPointer
    private let page: ChangePage

    init() {
        memory = .allocate(byteCount: ChangePage.size, alignment: 4096)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: ChangePage.size)
        page = ChangePage(memory)
    }

    deinit { memory.deallocate() }

    /// A change of a fixture is a change of the format. Do not change these numbers: write another
    /// fixture.
    @Test(arguments: [
        ("Archives.jsonl", 0xce67_3b80), ("Archives.sqlite", 0x138f_2f97),
        ("Caches.jsonl", 0x5481_d130), ("Caches.sqlite", 0x062a_c91e),
        ("Changes.txt", 0xdb62_1398), ("Features0.sqlite", 0x775e_f3ee),
        ("Features1.sqlite", 0x40c5_5c8e),
        ("Features2.sqlite", 0x35b2_55ff), ("Storage.jsonl", 0xd589_f168),
        ("Storage.sqlite", 0xdd88_eb3b),
    ]) func aFixtureNeverChanges(_ name: String, _ checksum: UInt32) throws {
        let bytes = try Data(contentsOf: Self.fixtures.appendingPathComponent(name))
        #expect(bytes.withUnsafeBytes { vellum_crc32c(0, $0.baseAddress, $0.count) } == checksum)
    }

    /// A later version has set a bit of one of the three words of features, and added a table and
    /// an index.
    @Test(arguments: 0..<3)
    func aFileWithAFeatureOfALaterVersionIsTreatedAsItSays(word: Int) throws {
        let folder = try TemporaryDirectory()
        let url = folder.file("file.sqlite")
        try FileManager.default.copyItem(
            at: Self.fixtures.appendingPathComponent("Features\(word).sqlite"),
            to: url
        )
        guard word < 2 else {
            #expect(code { _ = try DatabaseFile.open(at: url, kind: .storage) } == .newerFormat)
            return
        }
        let file = try DatabaseFile.open(at: url, kind: .storage)
        let store = try file.store(named: "Storage", codec: CodableCodec<String>(), StoreOptions())
        #expect(try store.value(forKey: "a") == "one")
        #expect(code { try store.record("new", forKey: "new") } == (word == 0 ? nil : .readOnly))
        #expect(try file.verify().isIntact)
        try file.close()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == [
                "file.sqlite", "file.sqlite-changes",
            ]
        )
    }

    private static func frozenWords() throws -> [Int: UInt64] {
        let lines = try String(
            contentsOf: fixtures.appendingPathComponent("Changes.txt"),
            encoding: .utf8
        ).split(separator: "\n")
        return try lines.filter { !$0.hasPrefix("#") }.reduce(into: [:]) { words, line in
            let numbers = try line.split(separator: " ").map { try #require(UInt64($0, radix: 16)) }
            words[Int(numbers[0])] = numbers[1]
        }
    }

    private func word(_ offset: Int) -> UInt64 {
        memory.load(fromByteOffset: offset, as: UInt64.self)
    }

    private func expectWords(_ words: [Int: UInt64]) {
        for offset in stride(from: 0, to: ChangePage.size, by: 8)
        where word(offset) != words[offset] ?? 0 {
            Issue.record("At \(offset) there is \(word(offset)), not \(words[offset] ?? 0).")
        }
    }

    @Test func theLayoutOfChangesIsRead() throws {
        for (offset, value) in try Self.frozenWords() {
            memory.storeBytes(of: value, toByteOffset: offset, as: UInt64.self)
        }
        func received(_ archive: Int64, notBy author: UInt32 = 9) -> ChangedKeys {
            page.changes(
                of: archive,
                after: 1_000_000,
                through: page.generation(of: archive).value,
                notBy: author
            )
        }
        #expect(page.isIntact)
        #expect(received(3) == Self.changes([(12, .removed), (11, .written)]))
        #expect(received(3, notBy: 7) == .keys([]))
        #expect(received(259) == ChangedKeys(all: .removed))
        #expect(received(4) == Self.changes([(14, .prefixRemoved), (13, .evicted)]))
        #expect(received(5) == .keys([]))
        #expect((page.now.announced, page.openings, word(40)) == (1_000_005, 1_000_002, 42))
        #expect(page.isFinished(1_000_003) && !page.isFinished(1_000_004))
        #expect(page.isChanging(13, of: 4, notBy: 9) && !page.isChanging(12, of: 3, notBy: 9))
        #expect(!page.isRetired && !page.isLogRestartRequested(at: 1))
    }

    private static let ofArchive3 = changes([(11, .written), (12, .removed)])
    private static let ofArchive4 = changes([(13, .evicted), (14, .prefixRemoved)])

    private static func changes(_ changes: [(UInt64, ChangeKind)]) -> ChangedKeys {
        changes.reduce(into: ChangedKeys()) { $0.insert(ChangedKeys.Key($1.0, $1.1), most: .max) }
    }

    /// The changes of the fixture.
    private func announceFrozenChanges() {
        page.announceOpening()
        page.announceOpening()
        let first = page.announce(
            [
                .init(archive: 3, keys: Self.ofArchive3),
                .init(archive: 259, keys: ChangedKeys(all: .removed)),
            ],
            by: 7,
            of: 42
        )
        page.finish(first.last)
        _ = page.announce([.init(archive: 4, keys: Self.ofArchive4)], by: 7, of: 42)
    }

    @Test func theLayoutOfChangesIsWritten() throws {
        page.reset(first: 1_000_000)
        announceFrozenChanges()
        expectWords(try Self.frozenWords())
    }

    /// A program of a later version may use them beside this one; where the page is begun anew, it
    /// must not trust them any more.
    @Test func wordsOfLaterVersionsAreKeptUntilThePageIsBegunAnew() throws {
        page.reset(first: 1_000_000)
        var words = try Self.frozenWords()
        let later =
            Array(stride(from: 72, to: 1024, by: 8)) + Array(stride(from: 3072, to: 4096, by: 8))
        for offset in later {
            words[offset] = UInt64(offset)
            memory.storeBytes(of: UInt64(offset), toByteOffset: offset, as: UInt64.self)
        }
        announceFrozenChanges()
        expectWords(words)
        #expect(page.isIntact)
        page.reset()
        #expect(later.allSatisfy { word($0) == 0 })
    }

    /// Truncating it would end a program of a later version that has it mapped.
    @Test func aFileThatIsLongerKeepsWhatIsBehindTheChanges() throws {
        let folder = try TemporaryDirectory()
        let database = folder.file("file").path
        let path = database + "-changes"
        do {
            let file = try ChangesFile(besides: database)
            file.page.announceOpening()
        }
        let tail = Data(repeating: 0xA5, count: 8192)
        let begun = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(begun.count == ChangePage.size)
        try (begun + tail).write(to: URL(fileURLWithPath: path))
        let file = try ChangesFile(besides: database)
        let other = try ChangesFile(besides: database)
        let before = other.page.generation(of: 3).value
        file.page.finish(
            file.page.announce([.init(archive: 3, keys: .keys([11]))], by: file.author, of: 1).last
        )
        #expect(
            other.page.changes(
                of: 3,
                after: before,
                through: other.page.generation(of: 3).value,
                notBy: other.author
            ) == .keys([11])
        )
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).suffix(8192) == tail)
    }

    /// Whatever another program left there is not read as changes, and what memory has is
    /// forgotten.
    @Test func aPageOfAnUnknownLayoutIsBegunAnew() throws {
        let folder = try TemporaryDirectory()
        let database = folder.file("file").path
        let reader = try ChangesFile(besides: database)
        let before = reader.page.generation(of: 3).value
        // Another magic number over an otherwise good page.
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: database + "-changes"))
        try handle.write(contentsOf: Data("VLMCHAN9".utf8))
        try handle.close()
        #expect(!reader.page.isIntact)
        let other = try ChangesFile(besides: database)
        #expect(reader.page.isIntact && other.page.isIntact)
        #expect(
            reader.page.changes(
                of: 3,
                after: before,
                through: reader.page.generation(of: 3).value,
                notBy: 9
            )
                == .unknown
        )
    }
}
