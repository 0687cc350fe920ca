import Foundation
import TestThreads
import Testing
import Vellum

/// Updates that leave an object as it is: nothing is written, in whatever order its sets and
/// dictionaries are encoded this time.
@Suite(.ownThreads)
struct UnchangedObjectTests {
    private static let times = LongRun.number(20, usually: 6)
    private let temporary = TemporaryArchives()

    /// How many of some updates wrote the object.
    private func writes<Archive: Archivable>(
        of object: Archive,
        _ change: (inout Archive) -> Void = { _ in }
    ) throws -> Int {
        let store = try temporary.factory.store(for: Archive.self)
        try store.record(object)
        return try (0..<Self.times).count { _ in
            let written = try store.metadata(forKey: object.primaryKey)?.written
            temporary.clock.advance(bySeconds: 10)
            try store.update(archiveWithKey: object.primaryKey) { found in
                guard var object = found else { return }
                change(&object)
                found = object
            }
            return try store.metadata(forKey: object.primaryKey)?.written != written
        }
    }

    @Test func anObjectWithSetsAndDictionariesIsNotWritten() throws {
        #expect(try writes(of: Tagged()) == 0)
        #expect(try writes(of: Labelled()) == 0)
        #expect(try writes(of: Shelf()) == 0)
        #expect(try writes(of: TaggedText()) == 0)
    }

    @Test func aSetThatIsMadeAnewOfTheSameElementsIsNotWritten() throws {
        #expect(try writes(of: Tagged()) { $0.tags = Set($0.tags.shuffled()) } == 0)
        #expect(
            try writes(of: Labelled()) {
                $0.names = Dictionary(uniqueKeysWithValues: $0.names.shuffled())
            } == 0
        )
        #expect(
            try writes(of: Tagged()) { object in
                object.tags.remove("3")
                object.tags.insert("3")
            } == 0
        )
    }

    @Test func anObjectWithPeculiarNumbersIsNotWritten() throws {
        #expect(try writes(of: Peculiar()) == 0)
    }

    /// Changes that leave the number of bytes as it was, and often the bytes themselves in another
    /// order.
    @Test func whatHasAnOrderIsWritten() throws {
        #expect(try writes(of: Shelf()) { $0.list.reverse() } == Self.times)
        #expect(try writes(of: Shelf()) { $0.text = String($0.text.reversed()) } == Self.times)
        #expect(try writes(of: Peculiar()) { $0.zero *= -1 } == Self.times)
        #expect(try writes(of: Peculiar()) { $0.date.addTimeInterval(1) } == Self.times)
        let other = try writes(of: Tagged()) { $0.tags = [$0.tags.contains("1") ? "2" : "1"] }
        #expect(other == Self.times)
        let swapped = try writes(of: Labelled()) {
            ($0.names[1], $0.names[2]) = ($0.names[2], $0.names[1])
        }
        #expect(swapped == Self.times)
        #expect(try writes(of: TaggedText()) { $0.list.reverse() } == Self.times)
        #expect(try writes(of: Table()) { $0.columns.reverse() } == Self.times)
        // What the type writes beside its properties has an order that nobody knows.
        let reversed = try writes(of: OwnData()) { $0.secret = String($0.secret.reversed()) }
        #expect(reversed == Self.times)
    }

    @Test func anObjectThatContainsAnUnchangedOneIsWrittenAlone() throws {
        let (shelves, boxes) = (
            try temporary.factory.store(for: Shelf.self), try temporary.factory.store(for: Box.self)
        )
        try boxes.record(Box(shelf: Shelf()))
        let written = try shelves.metadata(forKey: "shelf")?.written
        for _ in 0..<Self.times {
            temporary.clock.advance(bySeconds: 10)
            try boxes.update(archiveWithKey: "box") { _ in }
        }
        #expect(try shelves.metadata(forKey: "shelf")?.written == written)
        #expect(try boxes.metadata(forKey: "box")?.written == written)
    }
}

private let words = Set((0..<40).map { "\($0)" })

private struct Tagged: ArchiveCodable {
    static var archiveName: String { "Tagged" }
    var primaryKey: String { "tagged" }
    var tags = words
}

/// A class, so that each update has an object of its own.
private final class Labelled: ArchiveCodable {
    static var archiveName: String { "Labelled" }
    var primaryKey: String { "labelled" }
    var names = Dictionary(uniqueKeysWithValues: (0..<40).map { ($0, "a\($0)") })
    var weights = Dictionary(uniqueKeysWithValues: (0..<40).map { (Point(x: $0), [words]) })
}

private struct Point: Codable, Hashable {
    var x: Int
}

private struct Shelf: ArchiveCodable {
    static var archiveName: String { "Shelf" }
    var primaryKey: String { "shelf" }
    var sets = [words: Set([Point(x: 1), Point(x: 2), Point(x: 3)]), []: []]
    var optional: [String: Set<String>?] = ["a": words, "b": nil, "c": []]
    var list = [1, 2, 3]
    var text = "abc"
}

private struct TaggedText: ArchiveCodable {
    static var archiveName: String { "TaggedText" }
    static var archiveFormat: CodableFormat { .json }
    var primaryKey: String { "text" }
    var tags = words
    var names = ["a": 1, "b": 2, "c": 3, "d": 4]
    var list = ["one", "two"]
}

private struct Peculiar: ArchiveCodable {
    static var archiveName: String { "Peculiar" }
    var primaryKey: String { "peculiar" }
    var nan = Double.nan
    var zero = -0.0
    var date = Date(timeIntervalSinceReferenceDate: 1.0625)
    var distant: Set = [Date.distantPast, .distantFuture, .init(timeIntervalSince1970: 0.1)]
    var numbers: Set = [Double.nan, .infinity, -0.0, 0.1]
}

/// Writes more than it encodes.
private struct OwnData: ArchiveCodable {
    static var archiveName: String { "OwnData" }
    enum CodingKeys: CodingKey { case tags }
    var primaryKey: String { "own" }
    var tags: Set = ["a", "b", "c"]
    var secret = "xyz"

    func archive() throws -> Data { Data(secret.utf8) + (try JSONEncoder().encode(self)) }

    static func deArchive(fromData data: Data) throws -> any Archivable {
        var object = try JSONDecoder().decode(OwnData.self, from: data.dropFirst(3))
        object.secret = String(decoding: data.prefix(3), as: UTF8.self)
        return object
    }
}

private struct Box: ArchiveCodable {
    static var archiveName: String { "Box" }
    static var archivePropertyBehavior: ArchivePropertyBehavior { .replaceExisting }
    var primaryKey: String { "box" }
    var shelf: Shelf
}

/// Keeps an order as that of its keys.
private struct Table: ArchiveCodable {
    private struct Column: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    static var archiveName: String { "Table" }
    var primaryKey: String { "table" }
    var columns = ["name", "size", "age"]

    init() {}

    init(from decoder: any Decoder) throws {
        columns = try decoder.container(keyedBy: Column.self).allKeys.map(\.stringValue)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Column.self)
        for column in columns { try container.encode(1, forKey: Column(stringValue: column)) }
    }
}
