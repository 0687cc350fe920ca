import Foundation
import MiniCache
import TestThreads
import Testing
import Vellum
import VellumCore
import VellumFiles
import VellumTestSupport

/// The rows of the table of parameters that files without types have.
@Suite(.ownThreads)
struct FilesInputTests {
    struct Item: ArchiveCodable, Sendable {
        var id: String
        var primaryKey: String { id }
        static var archiveName: String { "Items" }
    }

    private static func factory() throws -> ArchivesFactory {
        let factory = ArchivesFactory.inMemory()
        try factory.store(for: Item.self).record(contentsOf: ["a", "b", "c"].map { Item(id: $0) })
        return factory
    }

    private static func expect(_ isTrue: Bool, _ what: String) throws {
        guard isTrue else { throw VellumError(.failedQuery, what) }
    }

    private static func withArchive(_ body: (RawArchive) throws -> Void) throws {
        let factory = try factory()
        guard let archive = try factory.rawArchive(named: "Items") else {
            throw VellumError(.failedQuery, "no archive")
        }
        try body(archive)
        try factory.close()
    }

    /// Paths at which there is no file, and none can be made.
    private static let places = [
        "", "/", "/dev/null", "/none/file.sqlite",
        "/tmp/\(String(repeating: "n", count: 300)).sqlite",
    ]

    private static func code(of place: String) -> VellumError.Code? { .cannotOpen }

    private static let names: [InputCase] = [
        InputCase(
            "ArchivesFactory.rawArchive named",
            "ArchiveFile.archive named",
            "ArchiveFile.ExportOptions.archives",
            of: HostileInput.names
        ) {
            let factory = try factory()
            try expect(
                factory.rawArchive(named: $0) == nil && factory.file().archive(named: $0) == nil,
                "an archive"
            )
            var options = ArchiveFile.ExportOptions()
            options.archives = [$0]
            let nothing = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/null"))
            try expect(
                factory.file().export(to: nothing, options).entries == 0,
                "an export"
            )
        },
        InputCase("ArchiveFile.drop archiveNamed", of: HostileInput.names) {
            let factory = try factory()
            try expect(!factory.file().drop(archiveNamed: $0), "an archive")
            try factory.close()
        },
        InputCase("MiniCacheManager.rawCache named", of: HostileInput.names) {
            try expect(MiniCacheManager.inMemory().rawCache(named: $0) == nil, "a cache")
        },
        InputCase(
            "RawArchive.encodedData forKey",
            "RawArchive.entry forKey",
            "RawArchive.value forKey",
            "RawArchive.text ofKey",
            "RawArchive.key ofText",
            "RawArchive.entries withPrefix",
            "RawArchive.forEachEntry withPrefix",
            of: HostileInput.names.filter { !$0.isEmpty }
        ) { name in
            try withArchive { archive in
                try expect(
                    archive.encodedData(forKey: name) == nil && archive.value(forKey: name) == nil
                        && archive.entry(forKey: name) == nil
                        && archive.key(ofText: archive.text(ofKey: name)) == nil,
                    "an entry"
                )
                for order in [RawArchive.Order.recorded, .use, .size] {
                    try expect(archive.entries(withPrefix: name, order: order).isEmpty, "entries")
                }
                try archive.forEachEntry(withPrefix: name) { _ in
                    throw VellumError(.failedQuery, "an entry")
                }
            }
        },
        InputCase("RawArchive.remove keys", of: HostileInput.names) { name in
            let folder = try TemporaryDirectory()
            let factory = ArchivesFactory(directory: folder.url)
            try factory.store(for: Item.self).record(Item(id: "a"))
            try factory.close()
            let file = try ArchiveFile(at: folder.file("Archives.sqlite"), access: .writing)
            try expect(file.archive(named: "Items")?.remove(keys: [name]) == 0, "an entry")
        },
    ]

    private static let counts: [InputCase] = [
        InputCase("RawArchive.entries limit", of: HostileInput.counts) { limit in
            try withArchive { archive in
                for order in [RawArchive.Order.recorded, .use, .size] {
                    try expect(
                        archive.entries(order: order, limit: limit).count == min(3, max(0, limit)),
                        "\(order)"
                    )
                }
            }
        },
        InputCase("RawArchive.Entry.hasExpired at", of: HostileInput.seconds) { seconds in
            try withArchive {
                try expect(
                    $0.entry(forKey: "a")?.hasExpired(at: Date(timeIntervalSince1970: seconds))
                        == false,
                    "an age"
                )
            }
        },
    ]

    private static let files: [InputCase] = [
        InputCase("ArchiveFile.init at", "ArchiveFile.salvage at", of: places, throwing: code) {
            _ = try ArchiveFile(at: URL(fileURLWithPath: $0))
        },
        InputCase("ArchiveFile.importEntries from", of: places) {
            do {
                let done = try factory().file().importEntries(from: URL(fileURLWithPath: $0))
                try expect(done.entries == 0, "entries")
            } catch let error as VellumError {
                try expect([.cannotOpen, .inputOutput].contains(error.code), "\(error)")
            }
        },
        InputCase("ArchiveFile.verify at", of: places, throwing: code) {
            _ = try ArchiveFile.verify(at: URL(fileURLWithPath: $0))
        },
        InputCase("ArchivesFactory.init readingOnly", of: places, throwing: code) {
            _ = try ArchivesFactory(readingOnly: URL(fileURLWithPath: $0)).store(for: Item.self)
        },
        InputCase(
            "ArchivesFactory.backup to",
            "ArchiveFile.backup to",
            "ArchiveFile.export to",
            of: places,
            throwing: code
        ) {
            try factory().backup(to: URL(fileURLWithPath: $0))
        },
        InputCase("MiniCacheManager.backup to", of: places, throwing: code) {
            try MiniCacheManager.inMemory().backup(to: URL(fileURLWithPath: $0))
        },
        InputCase("ArchiveFile.restore from", "ArchiveFile.restore to", of: places, throwing: code)
        {
            try ArchiveFile.restore(from: URL(fileURLWithPath: $0), to: URL(fileURLWithPath: $0))
        },
    ]

    @Test(arguments: names + counts + files)
    func noValueEndsTheProcess(_ row: InputCase) async {
        let problems = await row.problems()
        #expect(problems == [], "\(problems)")
    }
}
