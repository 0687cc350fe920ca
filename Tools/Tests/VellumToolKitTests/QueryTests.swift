import Foundation
import MiniCache
import Testing
import Vellum
import VellumFiles

@testable import VellumToolKit

/// What is asked of objects without their type, and the same of their values.
@Suite(.timeLimit(.minutes(10)))
struct QueryTests {
    private static let firstSeed =
        ProcessInfo.processInfo.environment["VELLUM_SEED"].flatMap(UInt64.init) ?? 1

    /// The same things with indexes and without.
    private static func withArchives(
        of things: [Thing],
        _ body: (RawArchive) throws -> Void
    ) throws {
        let factory = ArchivesFactory.inMemory()
        let indexed = try factory.store(for: Thing.self, diskLimit: .unlimited)
        let plain = try factory.store(for: PlainThing.self, diskLimit: .unlimited)
        try indexed.record(contentsOf: things)
        try plain.record(contentsOf: things.map(PlainThing.init))
        for archive in try factory.file().archives() { try body(archive) }
        try factory.close()
    }

    private static func keys(_ text: String, in archive: RawArchive) throws -> [String] {
        var keys: [String] = []
        try Query(text).find(in: archive) { keys.append($0.entry.key) }
        return keys
    }

    @Test(arguments: firstSeed..<(firstSeed + 20))
    func aQueryFindsWhatSwiftFinds(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let things = (0..<40).map { Thing.random($0, &random) }
        let questions = (0..<100).map { _ in Question.random(&random) }
        try Self.withArchives(of: things) { archive in
            for question in questions {
                let expected = things.filter(question.holds).map(\.primaryKey)
                let found = try Self.keys(question.text, in: archive)
                #expect(found == expected, "VELLUM_SEED=\(seed), \(archive.name): \(question.text)")
            }
        }
    }

    /// The fields of a value, each as a query names it.
    private static func fields(of value: CBORValue, at path: String = "") -> [(String, CBORValue)] {
        let start = path.isEmpty ? "" : path + "."
        switch value {
        case .map(let pairs):
            return pairs.flatMap {
                fields(of: $0.value, at: start + Question.quoted(field: $0.key.plainText))
            }
        case .array(let elements):
            return elements.enumerated().flatMap {
                fields(of: $0.element, at: "\(start)\($0.offset)")
            }
        default: return [(path, value)]
        }
    }

    @Test(arguments: firstSeed..<(firstSeed + 3))
    func whatIsPrintedIsFound(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let things = (0..<20).map { Thing.random($0, &random) }
        try Self.withArchives(of: things) { archive in
            let dates = try archive.dateFields()
            try archive.find(where: { _ in true }) { object in
                for (field, value) in Self.fields(of: object.value) {
                    let name = String(field.prefix { $0 != "." }.filter { $0 != "`" })
                    let isDate = dates.contains(name)
                    let printed =
                        isDate
                        ? CBORValue.map(["d": value]).json(dateFields: ["d"]).dropFirst(6).dropLast(
                            2
                        )
                        : value.json()[...]
                    let found = try Self.keys("\(field) == \(printed)", in: archive)
                    #expect(
                        found.contains(object.entry.key),
                        "VELLUM_SEED=\(seed), \(archive.name): \(field) == \(printed)"
                    )
                }
            }
        }
    }

    @Test(
        arguments: ["name", "nick", "note", "count", "big", "weight", "price", "born"],
        [
            false, true,
        ]
    )
    func aSortIsThatOfSwift(_ field: String, _ isDescending: Bool) throws {
        var random = Seeded(state: 7)
        let things = (0..<80).map { Thing.random($0, &random) }
        func isLess<Value: Comparable>(_ left: Value?, _ right: Value?) -> Bool {
            guard let right else { return false }
            return left.map { $0 < right } ?? true
        }
        func sorted<Value: Comparable>(_ read: (Thing) -> Value?) -> [Thing] {
            things.sorted {
                isDescending ? isLess(read($1), read($0)) : isLess(read($0), read($1))
            }
        }
        let expected =
            switch field {
            case "name": sorted(\.name)
            case "nick": sorted(\.nick)
            case "note": sorted(\.note.text)
            case "count": sorted(\.count)
            case "big": sorted(\.big)
            // NaN comes before all others.
            case "weight": sorted { $0.weight.isNaN ? nil : $0.weight }
            case "price": sorted(\.price)
            default: sorted(\.born)
            }
        let order = isDescending ? "desc" : "asc"
        try Self.withArchives(of: things) { archive in
            let found = try Self.keys("sort by \(field) \(order) limit 9 offset 3", in: archive)
            #expect(found == expected[3..<12].map(\.primaryKey), "\(archive.name)")
            #expect(try Self.keys("limit 9 offset 3", in: archive) == (3..<12).map { "\($0)" })
            #expect(try Self.keys("limit 0", in: archive).isEmpty)
        }
    }

    /// Where a text is wrong: the offset in scalars, and words of the message.
    @Test(arguments: [
        ("elevation >", 11, "value"), ("country == CH", 11, "quotes"),
        ("country == \"CH", 11, "not closed"), ("a == '\\", 5, "not closed"),
        ("a == 1 b", 7, "Expected 'and'"),
        ("(a == 1", 7, "')'"), ("a in 1", 5, "'('"), ("a in (1 2)", 8, "','"),
        ("limit -1", 6, "not negative"), ("limit x", 6, "number"),
        ("sort", 4, "field"), ("sort a sort b", 12, "already"), ("a ~ 1", 2, "no meaning"),
        ("e\u{301} ~ 1", 3, "no meaning"), ("a == \u{301}", 5, "no meaning"),
        ("and", 0, "field"),
        ("a == 2026-13-01", 5, "date"), ("a == 2026-02-30", 5, "date"),
        ("a == 2025-02-29", 5, "date"), ("a == 2026-02-30T08:00:00Z", 5, "date"),
        ("a == 2026-03-01T24:00:00Z", 5, "date"), ("a == 2026-03-01T08:60:00Z", 5, "date"),
        ("a == 2026-03-01T08:00:60.5+01:00", 5, "date"),
        ("a == 1e999", 5, "number"), ("a == 1.2.3", 5, "number"), ("a == 0x10", 5, "number"),
        ("a", 1, "Expected '=='"), ("a. == 1", 3, "field"), ("a begins 1", 9, "text"),
        ("a == '\\ud800'", 5, "escape"), ("a == '\\ud83d\\u0041'", 5, "escape"),
        ("a == '\\u12'", 5, "escape"),
        ("a == '\\u{110000}'", 5, "escape"), ("a == '\\u{12", 5, "not closed"),
        ("not", 3, "field"), (String(repeating: "(", count: 5000), 99, "deep"),
        (String(repeating: "not ", count: 5000), 396, "deep"),
    ])
    func anErrorPointsToItsPlace(_ text: String, _ offset: Int, _ words: String) {
        let error = #expect(throws: Query.SyntaxError.self) { try Query(text) }
        #expect(error?.offset == offset, "\(text): \(error?.message ?? "")")
        #expect(error?.message.contains(words) == true, "\(text): \(error?.message ?? "")")
    }

    /// The command line, with a file that has stored nulls: with an index, and without.
    @Test(arguments: ["Thing", "PlainThing"])
    func deletingByAConditionDeletesWhatItFinds(_ name: String) async throws {
        let folder = try TestFolder()
        var random = Seeded(state: 5)
        let things = (0..<20).map { Thing.random($0, &random) }
        let kept = things.filter { $0.note.text == nil }.map(\.primaryKey)
        let factory = ArchivesFactory(directory: folder.url)
        try factory.store(for: Thing.self).record(contentsOf: things)
        try factory.store(for: PlainThing.self).record(contentsOf: things.map(PlainThing.init))
        try factory.close()
        let test = TestConsole()
        let words = ["delete", folder.url.path, name, "--where", "note != null", "--yes"]
        #expect(await Tool.run(words, console: test.console()) == 0)
        let file = try ArchiveFile(at: folder.url.appending(path: "Archives.sqlite"))
        let archive = try #require(try file.archive(named: name))
        #expect(try archive.entries().map(\.key) == kept)
        try file.close()
    }
}

/// A folder that is removed with its owner.
final class TestFolder {
    let url = FileManager.default.temporaryDirectory.appending(path: "vellum-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do { try FileManager.default.removeItem(at: url) } catch { Issue.record(error) }
    }
}
