import Foundation
import Testing
import VellumCore
import VellumEngine
import Vellum

@Suite("FieldReadable", .timeLimit(.minutes(1)))
struct FieldReadableTests {
    private struct Guest: ArchiveCodable, FieldReadable, Equatable {
        static let archiveName = "Guest"
        var primaryKey: String { name }
        var name: String
        var age: Int
        var nick: String?
        var home = Home()
        /// Not a field.
        var note = "note"

        struct Home: Codable, Equatable {
            var city = "Ulm"
        }

        static var archiveFields: [ArchiveField<Guest>] {
            [
                .field(\.age, at: CodingKeys.age), .field(\.name, at: "name"), .field(\.nick, at: CodingKeys.nick),
                .field(\.home.city, at: "home", "city"),
            ]
        }
    }

    private static let guests = (0..<40).map { number in
        Guest(
            name: "guest \(number)", age: number, nick: number.isMultiple(of: 4) ? "nick \(number)" : nil,
            home: Guest.Home(city: number.isMultiple(of: 10) ? "Bern" : "Ulm"))
    }

    private let archives = TemporaryArchives()

    private func store(_ guests: [Guest] = guests) throws -> ArchiveStore<Guest> {
        let store = try archives.factory.store(for: Guest.self, memoryLimit: 1.byte)
        for guest in guests { try store.record(guest) }
        return store
    }

    /// A predicate, the number of guests that match, and the number that must be decoded.
    private struct Question: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var predicate: @Sendable () -> Predicate<Guest>
        var answers: Int
        var decoded: Int
    }

    private static let questions: [Question] = [
        Question(testDescription: "a range", predicate: { #Predicate { $0.age > 37 } }, answers: 2, decoded: 2),
        Question(testDescription: "a text's part", predicate: { #Predicate { $0.name.contains("t 3") } }, answers: 11, decoded: 11),
        Question(testDescription: "a property within", predicate: { #Predicate { $0.home.city == "Bern" } }, answers: 4, decoded: 4),
        Question(
            testDescription: "several fields", predicate: { #Predicate { $0.age < 20 && $0.name.contains("9") || $0.age == 30 } },
            answers: 3, decoded: 3),
        Question(testDescription: "two fields at once", predicate: { #Predicate { $0.age > $0.name.count + 25 } }, answers: 6, decoded: 6),
        // A nick that is nil is not encoded, so the data does not decide.
        Question(testDescription: "an optional", predicate: { #Predicate { $0.nick == "nick 8" } }, answers: 1, decoded: 31),
        Question(testDescription: "no field", predicate: { #Predicate { $0.note == "note" } }, answers: 40, decoded: 40),
        Question(
            testDescription: "a field and none", predicate: { #Predicate { $0.note == "note" && $0.age < 3 } }, answers: 3, decoded: 3),
        Question(
            testDescription: "a field or none", predicate: { #Predicate { $0.note == "no" || $0.age < 3 } }, answers: 3, decoded: 40),
        Question(testDescription: "the opposite", predicate: { #Predicate { !($0.age < 38) } }, answers: 2, decoded: 2),
        Question(testDescription: "the whole object", predicate: { #Predicate { _ in true } }, answers: 40, decoded: 40),
    ]

    @Test(arguments: questions)
    private func onlyObjectsThatMayMatchAreDecoded(_ question: Question) throws {
        let store = try store()
        let predicate = question.predicate()
        let expected = try Self.guests.filter(predicate.evaluate)
        #expect(expected.count == question.answers)
        #expect(try store.fetch(where: predicate) == expected)
        #expect(try store.count(where: predicate) == expected.count)
        let explanation = try store.explain(where: predicate)
        #expect(explanation.results == question.answers)
        #expect(explanation.decodedObjects == question.decoded)
    }

    @Test func findersReadFields() throws {
        _ = try store()
        let manager = try archives.factory.archives(for: Guest.self)
        let explanation = manager.findWhere { $0.age(.greater(than: 37)) }.explain()
        #expect(explanation.results == 2)
        #expect(explanation.decodedObjects == 2)
    }

    /// A type for the same archive that writes JSON.
    private struct JSONGuest: ArchiveCodable {
        static let archiveName = "Guest"
        static let archiveFormat = CodableFormat.json
        var primaryKey: String { name }
        var name: String
        var age: Int
        var home = Guest.Home()
        var note = "note"
    }

    @Test func objectsWithoutFieldsAreDecoded() throws {
        try archives.factory.store(for: JSONGuest.self).record(JSONGuest(name: "json", age: 39))
        try archives.factory.close()
        let store = try archives.anotherFactory().store(for: Guest.self)
        for guest in Self.guests { try store.record(guest) }
        #expect(try store.fetch(where: #Predicate { $0.age > 38 }).map(\.name).sorted() == ["guest 39", "json"])
    }

    @Test func fieldsAreReadOnlyForFiltersBeforeALimit() throws {
        _ = try store()
        let manager = try archives.factory.archives(for: Guest.self)
        let found = manager.limitResults(by: 10).findWhere { $0.age(.greater(than: 8)) }.getResults()
        #expect(found.map(\.age) == [9])
    }

    // MARK: Sorting

    /// The first of a sort are decoded, and those that were among the first when they were read.
    @Test func aSortWithALimitDecodesWhatMayBeAmongTheFirst() throws {
        let guests = (0..<1000).map { Guest(name: "guest \($0)", age: $0 * 7919 % 1000, home: Guest.Home(city: "city \($0 % 3)")) }
        let store = try store(guests)
        let orders: [[SortDescriptor<Guest>]] = [
            [SortDescriptor(\.age)], [SortDescriptor(\.age, order: .reverse)], [SortDescriptor(\.name)],
            [SortDescriptor(\.home.city), SortDescriptor(\.age)],
        ]
        for order in orders {
            let expected = Array(guests.filter { $0.age != 3 }.sorted(using: order).dropFirst(2).prefix(10))
            let predicate = #Predicate<Guest> { $0.age != 3 }
            #expect(try store.fetch(where: predicate, sortedBy: order, limit: 10, offset: 2) == expected)
        }
        let decoded = try orders.map { try store.explain(sortedBy: $0, limit: 10).decodedObjects }
        #expect(decoded[0] < 400 && decoded[1] < 400, "\(decoded)")
        // Without a limit, all are needed.
        #expect(try store.fetch(sortedBy: orders[0]).map(\.age) == Array(0..<1000))
    }

    @Test func equalObjectsOfASortStayInTheirOrder() throws {
        let guests = (0..<300).map { Guest(name: "guest \($0)", age: $0 % 2) }
        let found = try store(guests).fetch(sortedBy: [SortDescriptor(\.age)], limit: 5)
        #expect(found.map(\.name) == ["guest 0", "guest 2", "guest 4", "guest 6", "guest 8"])
    }

    @Test(arguments: ["é", "e\u{301}", "K", "\u{212A}", "k", ""])
    func textsAreEqualAsInSwift(_ text: String) throws {
        let texts = ["é", "e\u{301}", "K", "\u{212A}", "k", "", "ok"]
        let store = try store(texts.enumerated().map { Guest(name: "guest \($0.offset)", age: 1, nick: $0.element) })
        #expect(try store.fetch(where: #Predicate { $0.nick == text }).map(\.nick) == texts.filter { $0 == text })
        #expect(try store.count(where: #Predicate { $0.nick != text }) == texts.filter { $0 != text }.count)
    }
}
