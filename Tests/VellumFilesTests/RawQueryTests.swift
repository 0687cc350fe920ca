import Foundation
import RawDatabase
import TestThreads
import Testing
import Vellum
import VellumFiles
import VellumTestSupport

/// Queries as text, of objects without their type.
@Suite(.ownThreads)
struct RawQueryTests {
    private static let firstSeed =
        ProcessInfo.processInfo.environment["VELLUM_SEED"].flatMap(UInt64.init) ?? 1

    /// A condition as text, and what it means in Swift.
    private struct Question {
        var text: String
        var holds: (Animal) -> Bool

        static func quoted(_ text: String) -> String {
            "\""
                + text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(
                    of: "\"",
                    with: "\\\""
                )
                .replacingOccurrences(of: "\n", with: "\\n") + "\""
        }

        private static func order<Value: Comparable>(
            _ field: String,
            _ text: String,
            _ operand: Value,
            _ read: @escaping (Animal) -> Value?,
            _ random: inout SeededGenerator
        ) -> Question {
            let tests: [(String, (Value, Value) -> Bool)] = [
                ("==", ==), ("<", <), ("<=", <=), (">", >), (">=", >=),
            ]
            let test = tests.random(&random)
            return Question(text: "\(field) \(test.0) \(text)") { animal in
                read(animal).map { test.1($0, operand) } ?? false
            }
        }

        static func random(_ random: inout SeededGenerator, depth: Int = 0) -> Question {
            let name = Animal.names.random(&random)
            switch Int.random(in: depth > 2 ? 3...17 : 0...17, using: &random) {
            case 0:
                let (left, right) = (
                    Question.random(&random, depth: depth + 1),
                    Question.random(&random, depth: depth + 1)
                )
                return Question(text: "(\(left.text)) and \(right.text)") {
                    left.holds($0) && right.holds($0)
                }
            case 1:
                let (left, right) = (
                    Question.random(&random, depth: depth + 1),
                    Question.random(&random, depth: depth + 1)
                )
                return Question(text: "(\(left.text) or \(right.text))") {
                    left.holds($0) || right.holds($0)
                }
            case 2:
                let inner = Question.random(&random, depth: depth + 1)
                return Question(text: "not (\(inner.text))") { !inner.holds($0) }
            case 3: return order("name", quoted(name), name, \.name, &random)
            case 4: return order("nick", quoted(name), name, \.nick, &random)
            case 5:
                let number = Int.random(in: -3...5, using: &random)
                return order("legs", "\(number)", number, \.legs, &random)
            case 6:
                let number = [0, 1, -2.25, 0.1, 1e300, 2.5].random(&random)
                return order(
                    "weight",
                    number == number.rounded() && abs(number) < 10 ? "\(Int(number))" : "\(number)",
                    number,
                    \.weight,
                    &random
                )
            case 7:
                let date = Animal.dates.random(&random)
                return order(
                    "born",
                    ISO8601DateFormatter().string(from: date),
                    date,
                    \.born,
                    &random
                )
            case 8: return Question(text: "isWild == true", holds: \.isWild)
            case 9:
                let tag = Animal.tags.random(&random)
                return Question(text: "tag != '\(tag.uuidString)'") { $0.tag != tag }
            case 10:
                let kind = Animal.Kind.allCases.random(&random)
                return Question(text: "kind = \"\(kind.rawValue)\"") { $0.kind == kind }
            case 11: return Question(text: "state == \"wild\"") { $0.state == .wild }
            case 12:
                return Question(text: "home.city begins \(quoted(name))") {
                    $0.home.city.starts(with: name)
                }
            case 13:
                return Question(text: "labels contains \(quoted(name))") {
                    $0.labels.contains(name)
                }
            case 14: return Question(text: "home.zip == null") { $0.home.zip == nil }
            case 15:
                return Question(text: "home.zip in (1, 3, null)") {
                    [1, 3, nil].contains($0.home.zip)
                }
            case 16:
                return Question(text: "big > 9223372036854775807") { $0.big > UInt64(Int64.max) }
            default:
                return Question(text: "name contains \(quoted(name))") {
                    name.isEmpty || $0.name.contains(name)
                }
            }
        }
    }

    @Test(arguments: firstSeed..<(firstSeed + UInt64(LongRun.number(20, usually: 3))))
    func aQueryOfFieldsFindsWhatSwiftFinds(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let factory = ArchivesFactory.inMemory()
        let (indexed, plain) = (
            try factory.store(for: Animal.self, diskLimit: .unlimited),
            try factory.store(for: PlainAnimal.self, diskLimit: .unlimited)
        )
        let animals = (0..<40).map { Animal.random($0, &random) }
        try indexed.record(contentsOf: animals)
        try plain.record(contentsOf: animals.map(PlainAnimal.init))
        let archives = try ["Animal", "PlainAnimal"].map {
            try #require(try factory.rawArchive(named: $0))
        }
        for _ in 0..<40 {
            let question = Question.random(&random)
            let expected = animals.filter(question.holds).map(\.id)
            for archive in archives {
                let query = try RawQuery(question.text)
                let found = try archive.find(query).map(\.entry.key)
                #expect(found == expected, "VELLUM_SEED=\(seed), \(archive.name): \(question.text)")
                #expect(
                    try archive.count(query) == expected.count,
                    "VELLUM_SEED=\(seed), \(archive.name): \(question.text)"
                )
            }
        }
    }

    @Test(
        arguments: ["name", "nick", "legs", "weight", "born", "home.zip", "isWild"],
        [false, true]
    )
    func sortsWindowsAndLimitsAreThoseOfTheTypedQuery(_ field: String, _ isDescending: Bool) throws
    {
        var random = SeededGenerator(seed: 7)
        let factory = ArchivesFactory.inMemory()
        let (indexed, plain) = (
            try factory.store(for: Animal.self), try factory.store(for: PlainAnimal.self)
        )
        let animals = (0..<60).map { Animal.random($0, &random) }
        try indexed.record(contentsOf: animals)
        try plain.record(contentsOf: animals.map(PlainAnimal.init))
        let query = try RawQuery(
            "legs >= 0 sort by \(field) \(isDescending ? "desc" : "asc"), id limit 9 offset 3"
        )
        let found = try ["Animal", "PlainAnimal"].map {
            try #require(try factory.rawArchive(named: $0)).find(query).map(\.entry.key)
        }
        func typed<Property: Comparable>(
            _ path: any KeyPath<Animal, Property> & Sendable
        ) throws -> [String] {
            let order: SortOrder = isDescending ? .reverse : .forward
            return try indexed.fetch(
                where: #Predicate { $0.legs >= 0 },
                sortedBy: [
                    SortDescriptor(path, order: order), SortDescriptor(\.id, comparator: .lexical),
                ],
                limit: 9,
                offset: 3
            ).map(\.id)
        }
        #expect(found[0] == found[1])
        switch field {
        case "legs": #expect(try found[0] == typed(\.legs))
        case "weight": #expect(try found[0] == typed(\.weight))
        case "born": #expect(try found[0] == typed(\.born))
        default: break
        }
    }

    /// Where a text is wrong: the offset, and words of the message.
    @Test(arguments: [
        ("elevation >", 11, "value"), ("country == CH", 11, "quotes"),
        ("country == \"CH", 11, "not closed"),
        ("a == 1 b", 7, "Expected 'and'"),
        ("(a == 1", 7, "')'"), ("a in 1", 5, "'('"), ("a in (1 2)", 8, "','"),
        ("limit -1", 6, "not negative"), ("limit x", 6, "number"),
        ("sort", 4, "field"), ("sort a sort b", 12, "already"), ("a ~ 1", 2, "no meaning"),
        ("and", 0, "field"),
        ("a == 2026-13-01", 5, "date"), ("a == 2026-02-30", 5, "date"),
        ("a == 2025-02-29", 5, "date"),
        ("a == 2026-02-30T08:00:00Z", 5, "date"),
        ("a == 2026-03-01T24:00:00Z", 5, "date"), ("a == 2026-03-01T08:60:00Z", 5, "date"),
        ("a == 2026-03-01T08:00:60.5+01:00", 5, "date"),
        ("a == 1e999", 5, "number"), ("a == 1.2.3", 5, "number"), ("a", 1, "Expected '=='"),
        ("a. == 1", 3, "field"),
        ("a begins 1", 9, "text"),
        ("not", 3, "field"), (String(repeating: "(", count: 5000), 99, "deep"),
        (String(repeating: "not ", count: 5000), 396, "deep"),
    ])
    func anErrorPointsToItsPlace(_ text: String, _ offset: Int, _ words: String) {
        let error = #expect(throws: RawQuery.SyntaxError.self) { try RawQuery(text) }
        #expect(error?.offset == offset, "\(text): \(error?.message ?? "")")
        #expect(error?.message.contains(words) == true, "\(text): \(error?.message ?? "")")
        #expect(error?.description.contains("^") == true)
    }

    /// Integers are equal to themselves only, also those that no `Double` has.
    @Test(arguments: [
        ("big == 18446744073709551615", ["1"]), ("big == 18446744073709551614", ["0"]),
        ("big > 9223372036854775807", ["0", "1"]),
        ("big > 18446744073709551614", ["1"]), ("big < 9223372036854775808", ["2"]),
        ("big in (9223372036854775807, 18446744073709551614)", ["0", "2"]),
        ("big == 18446744073709551616", []),
        ("big < 170141183460469231731687303715884105727", ["0", "1", "2"]),
        ("legs < 9223372036854775808", ["0", "1", "2"]), ("legs == -9223372036854775809", []),
        ("big >= 1e19", ["0", "1"]),
    ])
    func integersBeyondThoseOfSwiftAreExact(_ text: String, _ keys: [String]) throws {
        var random = SeededGenerator(seed: 3)
        let factory = ArchivesFactory.inMemory()
        let animals = [UInt64.max - 1, .max, UInt64(Int64.max)].enumerated().map { number, big in
            var animal = Animal.random(number, &random)
            animal.big = big
            return animal
        }
        try factory.store(for: Animal.self).record(contentsOf: animals)
        let archive = try #require(try factory.rawArchive(named: "Animal"))
        #expect(try archive.find(RawQuery(text)).map(\.entry.key).sorted() == keys)
        #expect(
            try archive.find(RawQuery("`key` == 1 or \(text)")).map(\.entry.key).sorted() == keys
        )
    }

    /// Dates are those of the Gregorian calendar at all times, as they are shown.
    @Test(arguments: [
        ("0001-01-01", -62_135_596_800), ("1500-02-28T12:00:00Z", -14_826_715_200),
        ("1582-10-14", -12_219_379_200),
        ("1600-02-29", -11_670_998_400), ("2000-02-29T23:59:59.25+01:00", 951_865_199.25),
        ("2026-03-01T08:00:00-0130", 1_772_357_400), ("9999-12-31", 253_402_214_400),
    ])
    func datesOfEveryCenturyAreMet(_ text: String, _ seconds: Double) throws {
        var random = SeededGenerator(seed: 3)
        var animal = Animal.random(0, &random)
        animal.born = Date(timeIntervalSince1970: seconds)
        let factory = ArchivesFactory.inMemory()
        try factory.store(for: Animal.self).record(animal)
        let archive = try #require(try factory.rawArchive(named: "Animal"))
        #expect(try archive.count(RawQuery("born == \(text)")) == 1)
        #expect(try archive.count(RawQuery("born != \(text)")) == 0)
    }

    @Test func whatAnIndexHasIsAnsweredByIt() throws {
        var random = SeededGenerator(seed: 3)
        let factory = ArchivesFactory.inMemory()
        try factory.store(for: Animal.self).record(
            contentsOf: (0..<200).map { Animal.random($0, &random) }
        )
        let archive = try #require(try factory.rawArchive(named: "Animal"))
        for text in [
            "name == \"a\"", "legs > 2 sort legs", "born < 2026-01-01",
            "kind in (\"bird\", \"fish\")",
            "home.city == \"z\" and home.zip > 1",
            "labels contains \"a\"", "tag == '6BA7B810-9DAD-11D1-80B4-00C04FD430C8'",
            "sort weight desc limit 3", "nick begins \"a\"",
        ] {
            let explanation = try archive.explain(RawQuery(text))
            #expect(
                explanation.usesIndex && explanation.remaining.isEmpty,
                "\(text)\n\(explanation)"
            )
        }
        let explanation = try archive.explain(RawQuery("state == \"wild\""))
        #expect(!explanation.usesIndex && explanation.decodedObjects == 200)
    }

    /// A property whose coding key is that of another one.
    private struct Renamed: ArchiveCodable, IndexedArchivable {
        static var archiveName: String { "Renamed" }
        static var archiveIndexes: [ArchiveIndex<Renamed>] { [.index(\.name), .index(\.label)] }
        var primaryKey: String { name }
        var name: String
        var label: String
        enum CodingKeys: String, CodingKey { case name = "label", label = "name" }
    }

    @Test func anIndexOfOtherValuesThanTheFieldIsNotUsed() throws {
        let factory = ArchivesFactory.inMemory()
        try factory.store(for: Renamed.self).record(
            contentsOf: (0..<20).map { Renamed(name: "n\($0)", label: "l\($0)") }
        )
        let archive = try #require(try factory.rawArchive(named: "Renamed"))
        #expect(try archive.find(RawQuery("name == \"l7\"")).map(\.entry.key) == ["n7"])
        #expect(try archive.count(RawQuery("name == \"n7\"")) == 0)
        #expect(try archive.explain(RawQuery("name == \"l7\"")).usesIndex == false)
    }

    @Test func anObjectWhoseAgeHasEndedIsNotFound() throws {
        let clock = ManualClock()
        let factory = ArchivesFactory.inMemory(clock: clock.wallClock)
        let store = try factory.store(for: PlainAnimal.self)
        var random = SeededGenerator(seed: 1)
        try store.record(PlainAnimal(Animal.random(1, &random)), expiration: .after(.seconds(10)))
        let archive = try #require(try factory.rawArchive(named: "PlainAnimal"))
        #expect(try archive.count(RawQuery("")) == 1)
        clock.advance(by: .seconds(20))
        #expect(try archive.count(RawQuery("")) == 0)
        #expect(try archive.find(RawQuery("id == \"1\"")).isEmpty)
    }

    /// What a stranger's file says of its index is no trap.
    @Test(arguments: [
        "", ";", "1", "1;;each;", "1;a:String;a:String;(0,1);each;",
        "1;a:String?;a?:String;(0)(1);each;", "1;name:String;(7);each;",
        "1;name:String;(-1);each;", "1;name:String;(99999999999999999999);each;",
        "1;name:Nothing;(0);each;name:String;name:String",
        "1;:;(0);each;:", "1;;(0);each;a", "1;name:String;(0);each;;version x",
        "1;name:String;(0);each;;version 9223372036854775808",
        "1;" + (0..<11).map { "c\($0 / 2):String;" }.joined() + "(0);each;l:String",
        "2;name:String;(0);each;",
        String(repeating: "each;", count: 2000),
        "1;" + String(repeating: "a:String;", count: 3000) + "(0);each;",
    ])
    func aDefinitionOfAnyKindIsRead(_ definition: String) throws {
        let folder = try TemporaryDirectory()
        let factory = ArchivesFactory(directory: folder.url)
        var random = SeededGenerator(seed: 2)
        try factory.store(for: Animal.self).record(
            contentsOf: (0..<20).map { Animal.random($0, &random) }
        )
        try factory.close()
        let quoted = definition.replacingOccurrences(of: "'", with: "''")
        try RawDatabase(folder.file("Archives.sqlite")).execute(
            "UPDATE indexes SET definition = '\(quoted)'"
        )
        let archive = try #require(
            try ArchiveFile(at: folder.file("Archives.sqlite")).archive(named: "Animal")
        )
        #expect(try archive.find(RawQuery("legs < 100 sort name")).count == 20)
        #expect(try archive.summary().entries == 20)
        _ = try archive.dateFields()
    }
}
