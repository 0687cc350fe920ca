import Foundation
import MiniCache
import TestThreads
import Testing
import Vellum
import VellumFiles
import VellumTestSupport

/// Exports, and what is imported of them.
@Suite(.ownThreads)
struct ExportTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func filled(_ count: Int, in name: String = "from") throws -> ArchivesFactory {
        let factory = ArchivesFactory(directory: folder.file(name))
        var random = SeededGenerator(seed: 5)
        let animals = (0..<count).map { Animal.random($0, &random) }
        let store = try factory.store(for: Animal.self, diskLimit: 9.megaBytes)
        try store.record(contentsOf: animals)
        let plain = try factory.store(for: PlainAnimal.self)
        let ages: [Expiration] = [
            .after(.seconds(86_400)), .unused(for: .seconds(3600)), .never, .after(.seconds(1e15)),
        ]
        for (number, age) in ages.enumerated() where number < count {
            try plain.record(PlainAnimal(animals[number]), expiration: age)
        }
        return factory
    }

    private func content(_ file: ArchiveFile) throws -> [String] {
        var content: [String] = []
        for archive in try file.archives() {
            for entry in try archive.entries() {
                let data = try archive.encodedData(forKey: entry.key)
                content.append(
                    """
                    \(archive.name) \(entry.key) \(entry.recorded) \
                    \(String(describing: entry.expires)) \(String(describing: entry.idle)) 
                    """
                        + "\(entry.typeVersion) \(data?.base64EncodedString() ?? "")"
                )
            }
        }
        return content
    }

    @Test func whatIsExportedIsImportedAsItWas() throws {
        let from = try filled(700)
        let export = folder.file("export.jsonl")
        #expect(try from.file().export(to: export).entries == 704)
        let to = ArchivesFactory(directory: folder.file("to"))
        #expect(try to.file().import(from: export) == 704)
        #expect(try content(to.file()) == content(from.file()))
        #expect(try to.rawArchive(named: "Animal")?.summary().limit == 9.megaBytes)
        let old = try from.store(for: Animal.self).fetch(where: #Predicate { $0.legs > 2 }).map(
            \.id
        )
        #expect(
            try to.store(for: Animal.self).fetch(where: #Predicate { $0.legs > 2 }).map(\.id) == old
        )
        // Again: everything is replaced by the same.
        #expect(try to.file().summary().size > .zero)
        #expect(try posixPermissions(of: export) == 0o600)
    }

    private func posixPermissions(of url: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }

    @Test func valuesStayInTheirGroups() throws {
        func cache(
            _ name: String
        ) throws -> (manager: MiniCacheManager, cache: MiniCache<String, Int>) {
            let manager = MiniCacheManager(name: "caches", directory: folder.file(name))
            return (
                manager,
                manager.cache(cacheName: "Pages", cacheVersion: .custom("1"), maxAge: .days(1))
            )
        }
        let (from, pages) = try cache("from")
        let groups: [Set<String>] = [["a \u{1F40E} \"group\"", "odd"], []]
        for number in 0..<9 {
            try pages.set(number, forKey: "\(number)", groups: groups[number % 2])
        }
        let export = folder.file("groups.jsonl")
        #expect(try from.storedFile().export(to: export).entries == 9)
        let (to, old) = try cache("to")
        try old.set(7, forKey: "0", groups: ["of the old value"])
        try to.close()
        #expect(try to.storedFile().import(from: export) == 9)
        let copies = try cache("to").cache
        #expect(try copies.keys(group: "odd").sorted() == ["0", "2", "4", "6", "8"])
        #expect(try copies.keys(group: "of the old value") == [])
        #expect(try copies.removeAll(group: "a \u{1F40E} \"group\"") == 5 && copies.count() == 4)
    }

    @Test func cachesKeepTheirVersions() throws {
        func manager(_ name: String) -> MiniCacheManager {
            MiniCacheManager(name: "caches", directory: folder.file(name))
        }
        func cache(_ manager: MiniCacheManager, _ version: String) -> MiniCache<String, Int> {
            manager.cache(cacheName: "numbers", cacheVersion: .custom(version), maxAge: .hours(1))
        }
        let from = manager("from")
        try cache(from, "2").set(7, forKey: "a")
        let export = folder.file("export.jsonl")
        try from.storedFile().export(to: export)
        let to = manager("to")
        #expect(try to.storedFile().import(from: export) == 1)
        #expect(try cache(to, "2").value(forKey: "a") == 7)
        let other = manager("other")
        try cache(other, "3").set(1, forKey: "b")
        let error = #expect(throws: VellumError.self) {
            try other.storedFile().import(from: export)
        }
        #expect(error?.code == .contradiction)
        #expect(try cache(other, "3").value(forKey: "b") == 1)
    }

    /// A default never gets less, so that one that is raised would let an archive grow for ever.
    @Test func defaultLimitsStayAsTheyAre() throws {
        func limit(_ factory: ArchivesFactory) throws -> DataSize? {
            let summary = try factory.rawArchive(named: "PlainAnimal")?.summary()
            #expect(summary?.isLimitGiven == false)
            return summary?.limit
        }
        let from = try filled(4)
        let (before, export) = (try #require(try limit(from)), folder.file("export.jsonl"))
        try from.file().export(to: export)
        try from.close()
        let file = try ArchiveFile(
            at: folder.file("from").appendingPathComponent("Archives.sqlite"),
            access: .writing
        )
        #expect(try file.archive(named: "PlainAnimal")?.remove(keys: ["0"]) == 1)
        #expect(try file.archive(named: "PlainAnimal")?.summary().limit == before)
        #expect(try file.import(from: export) == 8)
        #expect(try file.archive(named: "PlainAnimal")?.summary().limit == before)
        try file.close()
        let to = ArchivesFactory(directory: folder.file("to"))
        try to.file().import(from: export)
        #expect(try limit(to) == before)
        #expect(
            try to.file().drop(archiveNamed: "PlainAnimal") && to.file().import(from: export) == 8
        )
        #expect(try limit(to) == before)
    }

    /// Cut off anywhere, an export is resumed, and then has what it had.
    @Test func anExportThatWasInterruptedIsResumed() throws {
        let file = try filled(40).file()
        let whole = folder.file("whole.jsonl")
        try file.export(to: whole)
        let bytes = try Data(contentsOf: whole)
        var random = SeededGenerator(seed: 9)
        let cuts =
            [0, 1, bytes.count - 1, bytes.count]
            + (0..<40).map { _ in Int.random(in: 0..<bytes.count, using: &random) }
        var options = ArchiveFile.ExportOptions()
        options.resumes = true
        for cut in cuts {
            let part = folder.file("part.jsonl")
            try bytes.prefix(cut).write(to: part)
            #expect(try file.export(to: part, options).entries == 44, "cut at \(cut)")
            #expect(try Data(contentsOf: part) == bytes, "cut at \(cut)")
        }
        #expect(throws: VellumError.self) { try file.export(to: whole) }
        #expect(try Data(contentsOf: whole) == bytes)
    }

    private struct Stop: Error {}

    @Test func anExportThatIsStoppedCanBeResumed() throws {
        let file = try filled(40).file()
        let url = folder.file("export.jsonl")
        #expect(throws: Stop.self) { try file.export(to: url) { _ in throw Stop() } }
        var options = ArchiveFile.ExportOptions()
        options.resumes = true
        #expect(try file.export(to: url, options).entries == 44)
        #expect(try ArchivesFactory(directory: folder.file("to")).file().import(from: url) == 44)
    }

    /// Each moment of a second, and those at the borders of what an export writes as a text.
    @Test func momentsAreImportedToTheMillisecond() throws {
        var texts = (0..<1000).map {
            "\"2026-03-01T08:1\($0 % 10):5\($0 / 7 % 10).\(String(1000 + $0).dropFirst())Z\""
        }
        texts += ["\"0001-01-01T00:00:00.001Z\"", "\"9999-12-31T23:59:59.999Z\""]
        texts += ["253402300800001", "9223372036854775806", "-62135596800001"]
        let entries = texts.enumerated().map { number, text in
            "{\"id\":\(1 << 40 + number + 1),\"key\":\"\(number)\",\"recorded\":\(text),"
                + "\"expires\":\"2999-07-01T00:00:00.\(100 + number % 900)Z\",\"data\":\"ZQ==\"}"
        }
        let lines =
            ["{\"vellum\":1,\"kind\":\"archives\"}", "{\"archive\":\"A\"}"] + entries + [
                "{\"entries\":\(texts.count)}", "",
            ]
        let (export, again) = (folder.file("export.jsonl"), folder.file("again.jsonl"))
        try Data(lines.joined(separator: "\n").utf8).write(to: export)
        let file = try ArchivesFactory(directory: folder.file("to")).file()
        #expect(try file.import(from: export) == texts.count)
        try file.export(to: again)
        let found = try String(contentsOf: again, encoding: .utf8).components(separatedBy: "\n")
        #expect(found.count == lines.count)
        for (line, text) in zip(found, lines) { #expect(line == text) }
    }

    @Test(arguments: [
        ("a text without an end", "a letter"), ("lines of JSON", "{\"a\":1}\n"),
        ("an export of caches", "{\"vellum\":1,\"kind\":\"caches\"}\n"),
        ("of a later version", "{\"vellum\":2,\"kind\":\"archives\"}\n"), ("an empty line", "\n"),
        ("no JSON below", "{\"vellum\":1,\"kind\":\"archives\"}\nhello\n"),
    ])
    func whatIsNoExportOfSuchAFileIsNotResumed(_ name: String, _ text: String) throws {
        let url = folder.file("letter")
        try Data(text.utf8).write(to: url)
        var options = ArchiveFile.ExportOptions()
        options.resumes = true
        let file = try filled(1).file()
        #expect(throws: VellumError.self, "\(name)") { try file.export(to: url, options) }
        #expect(try String(contentsOf: url, encoding: .utf8) == text, "\(name)")
    }

    @Test func whatCannotBeReadOrWrittenIsSaid() throws {
        let file = try filled(1).file()
        #expect(throws: VellumError.self) { try file.import(from: folder.file("")) }
        #if os(Linux)
            let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
            #expect(throws: VellumError.self) { try file.export(to: full) }
            let place = file.url.deletingLastPathComponent()
            let closed = try FileHandle(
                forReadingFrom: place.appendingPathComponent("Archives.sqlite-changes")
            )
            let error = #expect(throws: VellumError.self) { try file.export(to: closed) }
            #expect(
                error?.code == .inputOutput
                    && error?.message.contains("Bad file descriptor") == true
            )
        #endif
    }

    @Test func aFileIsNoExportOfItself() throws {
        let file = try filled(1).file()
        var options = ArchiveFile.ExportOptions()
        options.resumes = true
        #expect(throws: VellumError.self) { try file.import(from: file.url) }
        #expect(throws: VellumError.self) { try file.export(to: file.url, options) }
        #expect(try file.verify().isIntact)
    }

    @Test func whatIsNoExportIsRefused() throws {
        let from = try filled(3).file()
        let export = folder.file("export.jsonl")
        try from.export(to: export)
        let lines = try String(contentsOf: export, encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        func changed(_ change: (inout [Substring]) -> Void) -> String {
            var lines = lines
            change(&lines)
            return lines.joined(separator: "\n")
        }
        let cases: [(String, String)] = [
            ("no JSON", "hello\n"),
            ("after its end", changed { $0.insert($0[2], at: $0.count - 1) }),
            ("another version", changed { $0[0] = "{\"vellum\":2,\"kind\":\"archives\"}" }),
            ("another kind", changed { $0[0] = "{\"vellum\":1,\"kind\":\"caches\"}" }),
            ("an entry before an archive", changed { $0.remove(at: 1) }),
            ("not whole", changed { $0.removeLast(2) }),
            ("a wrong sum", changed { $0[$0.count - 2] = "{\"entries\":99}" }),
            ("no value", changed { $0[2] = "{\"id\":1,\"key\":\"a\",\"recorded\":0}" }),
            (
                "no date",
                changed {
                    $0[2] = "{\"id\":1,\"key\":\"a\",\"recorded\":\"yesterday\",\"data\":\"\"}"
                }
            ),
            (
                "no Base64",
                changed { $0[2] = "{\"id\":1,\"key\":\"a\",\"recorded\":0,\"data\":\"%\"}" }
            ),
            (
                "a key that is too long",
                changed {
                    let key = String(repeating: "k", count: 70_000)
                    $0[2] = "{\"id\":1,\"key\":\"\(key)\",\"recorded\":0,\"data\":\"\"}"
                }
            ),
        ]
        for (number, (name, text)) in cases.enumerated() {
            let url = folder.file("bad\(number).jsonl")
            try Data(text.utf8).write(to: url)
            let file = try ArchivesFactory(directory: folder.file("to\(number)")).file()
            let error = #expect(throws: VellumError.self, "\(name)") { try file.import(from: url) }
            #expect(
                [.invalidImport, .keyTooLong].contains(error?.code),
                "\(name): \(error.map { "\($0)" } ?? "")"
            )
            #expect(try file.verify().isIntact, "\(name)")
        }
    }

    /// What is chosen, and what it is written down as.
    private static let choices: [(archives: [String]?, values: Bool)] = [
        (nil, false), (nil, true), (["Animal"], false), (["Animal"], true),
        (["PlainAnimal"], false),
        (["Animal", "PlainAnimal"], false), (["PlainAnimal", "Animal", "Animal"], false),
        ([], false),
        (["None"], false),
    ]

    @Test func anExportIsResumedOnlyAsWhatItWas() throws {
        let file = try filled(40).file()
        func options(_ choice: (archives: [String]?, values: Bool)) -> ArchiveFile.ExportOptions {
            var options = ArchiveFile.ExportOptions()
            options.archives = choice.archives
            options.includesJSON = choice.values
            options.resumes = true
            return options
        }
        for (number, first) in Self.choices.enumerated() {
            let whole = folder.file("\(number).jsonl")
            let entries = try file.export(to: whole, options(first)).entries
            let bytes = try Data(contentsOf: whole)
            for second in Self.choices {
                let isSame =
                    first.archives.map(Set.init) == second.archives.map(Set.init)
                    && first.values == second.values
                for part in [bytes, bytes.prefix(bytes.count * 2 / 3)] {
                    try part.write(to: whole)
                    if isSame {
                        #expect(try file.export(to: whole, options(second)).entries == entries)
                        #expect(try Data(contentsOf: whole) == bytes, "\(first) \(second)")
                    } else if part.contains(UInt8(ascii: "\n")) {
                        #expect(throws: VellumError.self, "\(first) \(second)") {
                            try file.export(to: whole, options(second))
                        }
                        #expect(try Data(contentsOf: whole) == part, "\(first) \(second)")
                    }
                }
            }
            try bytes.write(to: whole)
            let to = try ArchivesFactory(directory: folder.file("to \(number)")).file()
            #expect(try to.import(from: whole) == entries)
        }
    }

    /// Of a file that has other archives.
    @Test func anExportOfAnotherFileIsNotResumed() throws {
        let whole = folder.file("whole.jsonl")
        try filled(40).file().export(to: whole)
        let bytes = try Data(contentsOf: whole)
        let other = ArchivesFactory(directory: folder.file("other"))
        try other.store(for: Hut.self).record(Hut(primaryKey: "a"))
        var options = ArchiveFile.ExportOptions()
        options.resumes = true
        #expect(throws: VellumError.self) { try other.file().export(to: whole, options) }
        #expect(try Data(contentsOf: whole) == bytes)
    }

    /// The limit of the archive into which is imported, and how many entries it has before.
    @Test(arguments: [
        (20.kiloByte, 0), (20.kiloByte, 30), (1.kiloByte, 0), (100.byte, 0), (9.megaByte, 30),
        (DataSize.unlimited, 30),
    ])
    func anImportSaysHowManyEntriesStay(_ limit: DataSize, _ before: Int) throws {
        let export = folder.file("export.jsonl")
        let from = try filled(700)
        try from.file().export(to: export)
        let keys = Set(try from.store(for: Animal.self).keys())
        let to = ArchivesFactory(directory: folder.file("to"))
        let animals = try to.store(for: Animal.self, diskLimit: limit)
        var random = SeededGenerator(seed: 7)
        for number in 0..<before { try animals.record(Animal.random(1000 + number, &random)) }
        try to.close()
        let done = try to.file().importEntries(from: export)
        #expect(done.entries == 704)
        let archive = try #require(try to.rawArchive(named: "Animal"))
        let kept = try archive.entries().count { keys.contains($0.key) }
        #expect(done.kept == kept + 4)
        #expect(done.limits == (kept < 700 ? ["Animal": limit] : [:]))
        // Once more: the same stays.
        #expect(try to.file().importEntries(from: export) == done)
    }

    @Test func nothingIsChangedWithoutItsTypeWhileItIsOpenWithIt() throws {
        let export = folder.file("export.jsonl")
        try filled(4).file().export(to: export)
        let to = ArchivesFactory(directory: folder.file("to"))
        // The second archive of the export.
        let animals = try to.store(for: PlainAnimal.self)
        let file = try to.file()
        let calls: [(String, () throws -> Void)] = [
            ("import", { try file.import(from: export) }),
            ("remove", { try to.rawArchive(named: "PlainAnimal")?.remove(keys: ["0"]) }),
            ("drop", { try file.drop(archiveNamed: "PlainAnimal") }),
        ]
        for (name, call) in calls {
            let error = #expect(throws: VellumError.self, "\(name)") { try call() }
            #expect(error?.code == .contradiction, "\(name)")
            #expect(error?.message.contains("Close it first") == true, "\(name)")
            #expect(error?.archive == "PlainAnimal", "\(name)")
        }
        #expect(try file.archives().map { try $0.summary().entries } == [0])
        try animals.close()
        #expect(try file.import(from: export) == 8)
        #expect(try to.rawArchive(named: "PlainAnimal")?.remove(keys: ["0"]) == 1)
    }

    /// What other programs add to lines, and an export of nothing.
    @Test func blankLinesAreNoEntries() throws {
        let export = folder.file("export.jsonl")
        try filled(3).file().export(to: export)
        let text = try String(contentsOf: export, encoding: .utf8)
        let empty = ArchivesFactory(directory: folder.file("empty"))
        try empty.file().export(to: folder.file("none.jsonl"))
        let none = try String(contentsOf: folder.file("none.jsonl"), encoding: .utf8)
        let texts = [
            (text + "\n", 6), (text + " \t\r\n\n", 6), ("\n" + text, 6),
            (String(text.dropLast()), 6),
            (text.replacing("\n", with: "\r\n"), 6), (text.replacing("\n", with: "\n\n"), 6),
            (none, 0), ("", 0), ("\n\n", 0),
        ]
        for (number, (text, count)) in texts.enumerated() {
            try Data(text.utf8).write(to: export)
            let to = ArchivesFactory(directory: folder.file("to \(number)"))
            #expect(try to.file().import(from: export) == count, "\(number)")
        }
    }

    @Test func valuesAreAddedForOtherPrograms() throws {
        let file = try filled(5).file()
        var options = ArchiveFile.ExportOptions()
        let to = try ArchivesFactory(directory: folder.file("to")).file()
        (options.includesJSON, options.archives) = (true, ["Animal"])
        #expect(try file.export(to: folder.file("json.jsonl"), options).entries == 5)
        #expect(
            try String(contentsOf: folder.file("json.jsonl"), encoding: .utf8).contains(
                "\"value\":{\"big\""
            )
        )
        #expect(try to.import(from: folder.file("json.jsonl")) == 5)
    }
}
