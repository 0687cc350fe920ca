import Foundation
import TestThreads
import Testing
import Vellum

/// Public bug reports of libraries of this field: queries, nested data, keys.
@Suite(.ownThreads)
struct QueryReportTests {
    struct Word: ArchiveCodable, IndexedArchivable, Equatable {
        var primaryKey: String { "\(length)" }
        var length: Int
        static var archiveIndexes: [ArchiveIndex<Word>] { [.index(\.length)] }
    }

    let temporary = TemporaryArchives()

    // MARK: Conditions that a loop makes

    private typealias WordVariable = PredicateExpressions.Variable<Word>

    private func hasLength(
        _ length: Int,
        _ word: WordVariable
    ) -> some StandardPredicateExpression<Bool> {
        PredicateExpressions.build_Equal(
            lhs: PredicateExpressions.build_KeyPath(
                root: PredicateExpressions.build_Arg(word),
                keyPath: \.length
            ),
            rhs: PredicateExpressions.build_Arg(length)
        )
    }

    private func either(
        _ left: some StandardPredicateExpression<Bool>,
        _ length: Int,
        _ word: WordVariable
    ) -> any StandardPredicateExpression<Bool> {
        PredicateExpressions.build_Disjunction(lhs: left, rhs: hasLength(length, word))
    }

    private func not(
        _ part: some StandardPredicateExpression<Bool>
    ) -> any StandardPredicateExpression<Bool> {
        PredicateExpressions.build_Negation(part)
    }

    /// `$0.length == 0 || $0.length == 1 || …`
    private func isOneOfTheFirst(_ count: Int) -> Predicate<Word> {
        Predicate<Word> { word in
            var expression: any StandardPredicateExpression<Bool> = hasLength(0, word)
            for length in 1..<count { expression = either(expression, length, word) }
            return expression
        }
    }

    /// `!!…($0.length == 3)`
    private func hasLengthThree(negations: Int) -> Predicate<Word> {
        Predicate<Word> { word in
            var expression: any StandardPredicateExpression<Bool> = hasLength(3, word)
            for _ in 0..<negations { expression = not(expression) }
            return expression
        }
    }

    private func words() throws -> ArchiveStore<Word> {
        let words = try temporary.factory.store(for: Word.self)
        try words.record(contentsOf: (0..<300).map(Word.init))
        return words
    }

    /// groue/GRDB.swift#871, xerial/sqlite-jdbc#1013, Ericsson/CodeCompass PR #803: many
    /// alternatives nest too deeply for SQLite.
    @Test(arguments: [2, 40, 80, 86, 88, 90, 92, 94, 96, 98, 99, 100, 101, 150])
    func anyNumberOfAlternativesIsAnswered(count: Int) throws {
        let words = try words()
        let predicate = isOneOfTheFirst(count)
        #expect(try words.count(where: predicate) == count)
        #expect(
            try words.fetch(where: predicate, sortedBy: [SortDescriptor(\.length)])
                == (0..<count).map(Word.init)
        )
    }

    /// The same, with negations.
    @Test(arguments: [2, 40, 80, 90, 98, 110, 150, 198, 200])
    func anyNumberOfNegationsIsAnswered(count: Int) throws {
        let words = try words()
        #expect(try words.count(where: hasLengthThree(negations: count)) == 1)
        #expect(try words.count(where: hasLengthThree(negations: count + 1)) == 299)
    }

    // MARK: Depth

    /// Arrays in arrays, with numbers in the innermost. Neither direction recurses.
    struct Onion: ArchiveCodable {
        static var archiveFormat: CodableFormat { .cbor }
        var primaryKey: String { "\(depth)" }
        var depth: Int
        var numbers = [1, 2, 3]

        init(depth: Int) { self.depth = depth }

        private enum CodingKeys: CodingKey { case depth, layers }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(depth, forKey: .depth)
            var layer = container.nestedUnkeyedContainer(forKey: .layers)
            for _ in 1..<depth { layer = layer.nestedUnkeyedContainer() }
            try layer.encode(numbers)
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            depth = try container.decode(Int.self, forKey: .depth)
            var layer = try container.nestedUnkeyedContainer(forKey: .layers)
            for _ in 1..<depth { layer = try layer.nestedUnkeyedContainer() }
            numbers = try layer.decode([Int].self)
        }
    }

    /// The same as JSON.
    struct JSONOnion: ArchiveCodable {
        static var archiveFormat: CodableFormat { .json }
        var primaryKey: String { onion.primaryKey }
        var onion: Onion

        init(depth: Int) { onion = Onion(depth: depth) }
        init(from decoder: any Decoder) throws { onion = try Onion(from: decoder) }
        func encode(to encoder: any Encoder) throws { try onion.encode(to: encoder) }
    }

    /// swiftlang/swift-foundation#1176, fxamacker/cbor#354: what encodes does not decode, because
    /// the two limits of the depth differ.
    @Test(arguments: 505...515)
    func whatIsRecordedCanBeRead(depth: Int) throws {
        func check<Object: ArchiveCodable & Sendable>(
            _ object: Object,
            _ numbers: (Object) -> [Int]
        ) throws {
            let store = try temporary.factory.store(for: Object.self)
            do {
                try store.record(object)
            } catch let error as VellumError where error.code == .notEncodable {
                return #expect(depth > 509)  // Refused, with the old object kept.
            }
            store.trimMemory(to: .zero)
            #expect(
                try store.access(archiveWithKey: "\(depth)").map(numbers) == [1, 2, 3],
                "\(Object.self)"
            )
        }
        try check(Onion(depth: depth)) { $0.numbers }
        try check(JSONOnion(depth: depth)) { $0.onion.numbers }
    }

    // MARK: Objects in objects

    /// A document that keeps its last revision, which has the same key.
    final class Document: Archivable, Sendable {
        static var archivePropertyBehavior: ArchivePropertyBehavior { .replaceExisting }
        let primaryKey: String
        let text: String
        let last: Document?

        init(_ primaryKey: String, _ text: String, last: Document? = nil) {
            (self.primaryKey, self.text, self.last) = (primaryKey, text, last)
        }

        func archive() throws -> Data { Data("\(primaryKey)\n\(text)".utf8) }

        static func deArchive(fromData data: Data) throws -> any Archivable {
            let lines = String(decoding: data, as: UTF8.self).components(separatedBy: "\n")
            return Document(lines[0], lines[1])
        }
    }

    /// realm/realm-swift#6059: an object is overwritten by a nested one.
    @Test func aNestedObjectWithTheSameKeyDoesNotReplaceItsOwner() throws {
        let documents = try temporary.factory.store(for: Document.self)
        try documents.record(Document("letter", "new", last: Document("letter", "old")))
        #expect(try documents.access(archiveWithKey: "letter")?.text == "new")
        documents.trimMemory(to: .zero)
        #expect(try documents.access(archiveWithKey: "letter")?.text == "new")
    }

    // MARK: Keys

    /// swiftlang/swift#67427: whether a string begins with another depends on what follows. Here a
    /// user's data stay after a logout.
    @Test(arguments: ["\u{301}x", "\u{FE0F}", "\u{200D}x"])
    func everyKeyThatWasMadeWithAPrefixIsDeletedByIt(name: String) throws {
        let users = try temporary.factory.store(for: User.self)
        let names = ["anna", name].map { "user:" + $0 }
        try users.record(contentsOf: names.map { User(name: $0) } + [User(name: "other")])
        #expect(try Set(users.keys(prefix: "user:")) == Set(names))
        #expect(try users.deleteAll(prefix: "user:") == 2)
        #expect(try users.keys() == ["other"])
    }

    // MARK: Types that read their store while they decode

    struct Link: ArchiveCodable {
        @TaskLocal static var store: ArchiveStore<Link>?
        var primaryKey: String { "\(number)" }
        var number: Int
        /// How many links hang on this one, found while it was decoded.
        var length = 0

        init(_ number: Int) { self.number = number }

        private enum CodingKeys: CodingKey { case number }

        init(from decoder: any Decoder) throws {
            number = try decoder.container(keyedBy: CodingKeys.self).decode(
                Int.self,
                forKey: .number
            )
            guard number > 0, let next = try Link.store?.access(archiveWithKey: "\(number - 1)")
            else { return }
            length = next.length + 1
        }
    }

    /// tqbf/selfdrivingwiki#591, oxen-io/session-ios#808: a read inside a read ends the process, or
    /// waits for itself.
    @Test func aTypeMayReadItsStoreWhileItDecodes() throws {
        let links = try temporary.factory.store(for: Link.self)
        try links.record(contentsOf: (0..<20).map(Link.init))
        try Link.$store.withValue(links) {
            links.trimMemory(to: .zero)
            #expect(try links.access(archiveWithKey: "19")?.length == 19)
            links.trimMemory(to: .zero)
            #expect(try links.fetch().map(\.length).sorted() == Array(0..<20))
            links.trimMemory(to: .zero)
            #expect(try links.accessAll().map(\.length).sorted() == Array(0..<20))
            links.trimMemory(to: .zero)
            try temporary.factory.transaction { transaction in
                #expect(try transaction.access(archiveWithKey: "19", in: links)?.length == 19)
                try transaction.record(Link(20), in: links)
            }
            links.trimMemory(to: .zero)
            #expect(try links.access(archiveWithKey: "20")?.length == 20)
        }
    }
}
