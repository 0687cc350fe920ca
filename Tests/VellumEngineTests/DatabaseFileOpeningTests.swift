import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

@Suite(.ownThreads)
struct DatabaseFileOpeningTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    // MARK: One store for each file

    /// C10: however the path is spelled.
    @Test func handlesOfOneFileShareOneStore() throws {
        let file = try setup.open()
        let link = setup.folder.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: setup.folder.url)
        let fileLink = setup.folder.file("other.sqlite")
        try FileManager.default.createSymbolicLink(at: fileLink, withDestinationURL: setup.url)
        let spellings = [
            setup.url, link.appendingPathComponent("Archives.sqlite"), fileLink,
            setup.folder.url.appendingPathComponent("x/../Archives.sqlite"),
            URL(fileURLWithPath: setup.url.path + "/"),
        ]
        try FileManager.default.createDirectory(
            at: setup.folder.file("x"),
            withIntermediateDirectories: true
        )
        for url in spellings { #expect(try DatabaseFile.open(at: url) === file, "\(url)") }
        #expect(try setup.store() === setup.store())
    }

    @Test func reopeningAfterTheLastHandleIsReleasedFindsEverything() throws {
        try setup.store().record(Data("value".utf8), forKey: "a")
        #expect(try setup.store().value(forKey: "a") == Data("value".utf8))
        #expect(try setup.store().statistics().disk == StorageUsage(entries: 1, bytes: 5))
    }

    @Test func smallerLimitsForAnOpenArchiveAreRejectedOrSharedAndLargerOnesApply() throws {
        let store = try setup.store(disk: 1.megaByte)
        #expect(code { _ = try setup.store(disk: 1.kiloByte) } == .contradiction)
        let shared = try setup.open().store(
            named: "strings",
            codec: IdentityCodec(),
            memory: Capacity(1.byte),
            disk: Capacity(2.megaByte),
            whenDifferent: .share
        )
        #expect(shared === store)
        #expect(store.capacities.disk == (try Capacity(2.megaByte)))
    }

    @Test func openingAnArchiveForAnotherTypeIsRejected() throws {
        let store = try setup.store()
        #expect(
            code {
                _ = try setup.open().store(
                    named: "strings",
                    codec: JSONCodec<Int>(),
                    memory: Capacity(1.megaByte),
                    disk: Capacity(100.megaByte)
                )
            } == .contradiction
        )
        withExtendedLifetime(store) {}
    }

    /// P5: archives of one file are separate.
    @Test func archivesOfOneFileAreSeparate() throws {
        let names = [
            "a", "A", "", "a'; DROP TABLE archives; --", "é", String(repeating: "n", count: 5000),
        ]
        for (number, name) in names.enumerated() {
            try setup.store(name).record(Data(number, count: 3), forKey: "key")
        }
        for (number, name) in names.enumerated() {
            #expect(try setup.store(name).value(forKey: "key") == Data(number, count: 3))
        }
        #expect(try setup.open().archiveNames() == names)
    }

    // MARK: Foreign files

    @Test func aFileThatIsNotADatabaseIsRejectedUnchanged() throws {
        let text = Data("This is a letter, not a database. ".utf8) + Data(count: 5000)
        try text.write(to: setup.url)
        #expect(code { _ = try setup.open() } == .notADatabase)
        #expect(try Data(contentsOf: setup.url) == text)
    }

    @Test func aFileThatIsNotADatabaseIsSetAsideOnRequest() throws {
        let text = Data("xyz".utf8)
        try text.write(to: setup.url)
        let file = try DatabaseFile.open(at: setup.url, ifNotADatabase: .setAside)
        _ = try file.archive(named: "a", capacity: .unlimited)
        let aside = try FileManager.default.contentsOfDirectory(atPath: setup.folder.url.path)
            .filter {
                $0.contains(".damaged-")
            }
        #expect(aside.count == 1)
        #expect(try Data(contentsOf: setup.folder.file(aside[0])) == text)
    }

    @Test func aDatabaseOfAnotherProgramIsRejectedUnchanged() throws {
        try RawDatabase(setup.url).execute("CREATE TABLE theirs(x); INSERT INTO theirs VALUES (1)")
        let before = try Data(contentsOf: setup.url)
        #expect(code { _ = try setup.open() } == .foreignFile)
        #expect(try Data(contentsOf: setup.url) == before)
    }

    @Test func aNewerFormatIsRejectedUnchanged() throws {
        try setup.store().record(Data("value".utf8), forKey: "a")
        try setup.close()
        try RawDatabase(setup.url).declareFormat(1000)
        let before = try Data(contentsOf: setup.url)
        #expect(code { _ = try setup.open() } == .newerFormat)
        #expect(try Data(contentsOf: setup.url) == before)
        try RawDatabase(setup.url).declareFormat(1)
        #expect(try setup.store().value(forKey: "a") == Data("value".utf8))
    }

    /// R13: one damaged byte must not lock a store out.
    @Test(arguments: [0, 2, 1000, 1 << 30])
    func aDamagedFormatNumberIsRepaired(_ number: Int) throws {
        try setup.store().record(Data("value".utf8), forKey: "a")
        try setup.close()
        try RawDatabase(setup.url).execute("PRAGMA user_version = \(number)")
        #expect(try setup.store().value(forKey: "a") == Data("value".utf8))
        try setup.close()
        #expect(try RawDatabase(setup.url).int("PRAGMA user_version") == 1)
    }

    /// The first page of the list of free pages, and their number (sqlite.org/fileformat2.html,
    /// 1.3).
    @Test(arguments: 32..<40)
    func aDamagedListOfFreePagesDoesNotKeepAFileFromBeingOpened(_ offset: Int) throws {
        let store = try setup.store()
        for number in 0..<40 {
            try store.record(Data(number, count: 5000), forKey: EntryKey("\(number)"))
        }
        for number in 0..<20 { try store.remove(EntryKey("\(number)")) }
        try setup.close()
        for bit in [0, 7] {
            var bytes = try Data(contentsOf: setup.url)
            bytes[offset] ^= 1 << bit
            try bytes.write(to: setup.url)
            for number in 20..<40 {
                let value = try ifDamagedAgain {
                    try setup.store().value(forKey: EntryKey("\(number)"))
                }
                #expect(value == Data(number, count: 5000))
            }
            try ifDamagedAgain { try setup.close() }
        }
    }

    /// The background, which returns free pages, may find the damage at any time. Then the file is
    /// opened again, and a copy takes its place.
    private func ifDamagedAgain<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as VellumError where error.code == .damagedFile {
            #expect(code { try setup.close() } != .busy)
            return try body()
        }
    }

    // MARK: Later versions

    private func isSetAside() throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: setup.folder.url.path).contains {
            $0.contains(".damaged-")
        }
    }

    private static let addition = """
        CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID; CREATE INDEX \
        notes_by_text ON notes(text, id);
        CREATE INDEX entries_by_date ON entries(written); INSERT INTO notes VALUES (1, 'note')
        """

    private func prepare(word: Int, bits: Int64, _ sql: String = addition) throws {
        try setup.store().record(Data("value".utf8), forKey: "a")
        try setup.close()
        try RawDatabase(setup.url).execute(
            "UPDATE features SET bits = \(bits), bits_check = \(~bits) WHERE word = \(word); \(sql)"
        )
    }

    private static let bits: [Int64] = [4, 1 << 62, .min, -2]

    @Test(arguments: bits)
    func aFeatureThatMayBeUnknownIsIgnoredAndKept(bits: Int64) throws {
        try prepare(word: 0, bits: bits)
        let store = try setup.store()
        #expect(try store.value(forKey: "a") == Data("value".utf8))
        try store.record(Data("other".utf8), forKey: "b")
        #expect(try setup.open().verify().isIntact)
        try setup.close()
        let database = try RawDatabase(setup.url)
        #expect(
            try database.int(
                "SELECT count(*) FROM notes, features WHERE word = 0 AND bits = \(bits)"
            ) == 1
        )
        #expect(try !isSetAside())
    }

    @Test(arguments: bits)
    func aFileWithAFeatureForWritingIsReadAndNotWritten(bits: Int64) throws {
        try prepare(word: 1, bits: bits)
        for _ in 0..<2 {
            let store = try setup.store()
            #expect(try store.value(forKey: "a") == Data("value".utf8))
            #expect(try store.keys() == ["a"])
            let error = #expect(throws: VellumError.self) {
                try store.record(Data("other".utf8), forKey: "b")
            }
            #expect(error?.code == .readOnly && error?.message.contains("later version") == true)
            #expect(code { try store.remove("a") } == .readOnly)
            #expect(code { _ = try store.removeAll() } == .readOnly)
            #expect(code { _ = try setup.store("another") } == .readOnly)
            #expect(try setup.open().verify().isIntact)
            try setup.open().suspend()
            try setup.open().resume()
            #expect(code { try store.record(Data("other".utf8), forKey: "b") } == .readOnly)
            try setup.close()
        }
        #expect(try RawDatabase(setup.url).int("SELECT count(*) FROM entries") == 1)
        #expect(try !isSetAside())
    }

    @Test(arguments: bits)
    func aFileWithAFeatureForOpeningIsNotOpened(bits: Int64) throws {
        try prepare(word: 2, bits: bits)
        let before = try Data(contentsOf: setup.url)
        #expect(code { _ = try setup.store() } == .newerFormat)
        #expect(try Data(contentsOf: setup.url) == before)
        #expect(try !isSetAside())
    }

    /// A damaged word is no feature: the file is repaired.
    @Test(arguments: [
        "UPDATE features SET bits = 1", "UPDATE features SET bits_check = 0 WHERE word = 2",
        "DELETE FROM features WHERE word = 1",
        "INSERT INTO features VALUES (3, 0, -1), (-1, 0, -1)",
        "UPDATE features SET word = 7 WHERE word = 0", "DROP TABLE features",
    ])
    func aDamagedWordIsNoFeature(_ sql: String) throws {
        try prepare(word: 0, bits: 0, sql)
        #expect(try setup.store().value(forKey: "a") == Data("value".utf8))
        #expect(try setup.open().verify().isIntact)
        #expect(try isSetAside())
    }

    @Test(
        arguments: [
            "CREATE TABLE more(a CHECK(a > 0))", "CREATE TABLE more(a, b AS (a + 1))",
            "CREATE TABLE more(a DEFAULT (1 + 1))",
            "CREATE INDEX more ON notes(text) WHERE length(text) > 1",
            "CREATE INDEX more ON notes(lower(text))",
            "CREATE VIEW more AS SELECT 1",
            "CREATE TRIGGER more AFTER INSERT ON notes BEGIN SELECT 1; END",
            "CREATE UNIQUE INDEX more ON entries(hash)",
            "CREATE TRIGGER more AFTER INSERT ON entries BEGIN SELECT 1; END",
            "CREATE VIRTUAL TABLE more USING rtree(a, b, c)",
        ],
        [0, 1]
    )
    func whatCouldBeExecutedIsDamageBesideAnyFeature(_ sql: String, word: Int) throws {
        try prepare(word: word, bits: 4, "\(Self.addition); \(sql)")
        #expect(try setup.store().value(forKey: "a") == Data("value".utf8))
        #expect(try isSetAside())
    }

    @Test func aTableThatNoFeatureAllowsIsDamage() throws {
        try prepare(word: 0, bits: 0)
        #expect(try setup.store().value(forKey: "a") == Data("value".utf8))
        #expect(try isSetAside())
    }

    // MARK: Paths

    @Test func aFolderThatCannotBeMadeIsAnError() throws {
        let blocker = setup.folder.file("file")
        try Data().write(to: blocker)
        #expect(
            code {
                _ = try DatabaseFile.open(at: blocker.appendingPathComponent("sub/Archives.sqlite"))
            } == .cannotOpen
        )
        #expect(
            code { _ = try DatabaseFile.open(at: URL(string: "https://example.org/a.sqlite")!) }
                == .cannotOpen
        )
        let folder = setup.folder.file("folder.sqlite")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #expect(code { _ = try DatabaseFile.open(at: folder) } == .cannotOpen)
    }

    /// C11: only the owner may read the files.
    @Test func onlyTheOwnerMayAccessTheFiles() throws {
        let url = setup.folder.file("new/Archives.sqlite")
        let file = try DatabaseFile.open(at: url)
        let driver = ArchiveHarness(try file.archive(named: "a", capacity: .unlimited))
        try driver.store([1], "a")
        for suffix in ["", "-wal", "-shm"] { #expect(try Self.mode(url.path + suffix) == 0o600) }
        #expect(try Self.mode(url.deletingLastPathComponent().path) == 0o700)
    }

    /// C11: what others have created before must not be readable for more users than what this
    /// package creates.
    @Test(arguments: [0o644, 0o666, 0o640, 0o600, 0o777], ["", "-wal", "-shm", "-changes"])
    func anEmptyFileThatIsTakenOverIsReadableForItsOwnerOnly(_ mode: Int, _ suffix: String) throws {
        let url = setup.folder.file("new/Archives.sqlite")
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Self.create(url.path + suffix, mode: mode)
        let driver = ArchiveHarness(
            try DatabaseFile.open(at: url).archive(named: "a", capacity: .unlimited)
        )
        try driver.store([1], "a")
        for suffix in ["", "-wal", "-shm", "-changes"] {
            #expect(try Self.mode(url.path + suffix) == 0o600, "\(suffix)")
        }
    }

    /// What somebody chose for a file with contents stays, and its side files have no more.
    @Test(arguments: [0o600, 0o640, 0o644]) func aSideFileHasNoMorePermissionsThanItsDatabase(
        _ mode: Int
    ) throws {
        let url = setup.folder.file("Archives.sqlite")
        try DatabaseFile.open(at: url).close()
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
        for suffix in ["-wal", "-shm", "-changes"] {
            try Self.create(url.path + suffix, mode: 0o666)
        }
        let driver = ArchiveHarness(
            try DatabaseFile.open(at: url).archive(named: "a", capacity: .unlimited)
        )
        try driver.store([1], "a")
        for suffix in ["", "-wal", "-shm", "-changes"] {
            #expect(try Self.mode(url.path + suffix) == mode, "\(suffix)")
        }
    }

    private static func create(_ path: String, mode: Int) throws {
        if !FileManager.default.fileExists(atPath: path) {
            try Data().write(to: URL(fileURLWithPath: path))
        }
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private static func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?
            .intValue
    }

    /// P39: many threads open a new file concurrently.
    @Test func manyThreadsCanOpenOneFileConcurrently() async throws {
        let url = setup.url
        try await withThrowingTaskGroup(of: DatabaseFile.self) { group in
            for _ in 0..<16 { group.addTask { try DatabaseFile.open(at: url) } }
            var files: [DatabaseFile] = []
            for try await file in group { files.append(file) }
            #expect(files.allSatisfy { $0 === files[0] })
        }
    }

    // MARK: Closing

    @Test func aClosedArchiveThrowsAndClosingTwiceHasNoEffect() throws {
        let store = try setup.store()
        try store.record(Data("value".utf8), forKey: "a")
        try store.close()
        try store.close()
        #expect(code { _ = try store.value(forKey: "a") } == .closed)
        #expect(code { try store.record(Data(), forKey: "b") } == .closed)
        #expect(code { try store.remove("a") } == .closed)
        #expect(code { _ = try store.keys() } == .closed)
        #expect(code { _ = try store.statistics() } == .closed)
        #expect(code { try store.flush() } == .closed)
        #expect(code { try store.removeUnused(since: .now) } == .closed)
        #expect(try setup.store().value(forKey: "a") == Data("value".utf8))
    }

    /// And the change page, which must not be removed because other processes may have it open.
    @Test func closingLeavesOnlyTheDatabaseAndTheChangePage() throws {
        try setup.store().record(Data("value".utf8), forKey: "a")
        try setup.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: setup.folder.url.path)
        #expect(names.sorted() == ["Archives.sqlite", "Archives.sqlite-changes"])
    }

    /// P10: a lower limit holds as soon as the archive is open.
    @Test func aSmallerLimitIsKeptWhenTheArchiveOpens() throws {
        do {
            let store = try setup.store()
            for number in 0..<2000 {
                try store.record(Data(number, count: 100), forKey: EntryKey("\(number)"))
            }
        }
        let store = try setup.store(disk: 1000)
        #expect(try store.statistics().disk == StorageUsage(entries: 10, bytes: 1000))
        #expect(try store.keys().map(\.normalized) == (1990..<2000).reversed().map(String.init))
    }
}
