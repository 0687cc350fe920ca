import Foundation
import TestThreads
import Testing
import Vellum

/// The list of finders, each on a property and on an optional property.
@Suite(.ownThreads)
struct QueryFinderTests {
    struct Post: Codable, Archivable {
        var primaryKey: String { name }
        var name: String
        var text: String
        var note: String?
        var tags: [String]
        var scores: Set<Int>?
        var rank: Int
        var rating: Double?
    }

    let temporary = TemporaryArchives()
    let posts: ArchiveManager<Post>

    init() throws {
        posts = try temporary.factory.archives()
        posts.insert(
            Post(
                name: "a",
                text: "Swift is fun",
                note: "Read",
                tags: ["x", "y"],
                scores: [1, 2, 3],
                rank: 1,
                rating: 1.5
            ),
            Post(name: "b", text: "", note: "", tags: [], scores: [], rank: 2, rating: 2.5),
            Post(
                name: "c",
                text: "swiftly",
                note: nil,
                tags: ["y"],
                scores: nil,
                rank: 3,
                rating: nil
            )
        )
    }

    private func found(_ find: (QueryFinder<Post>) -> QueryFinder<Post>) -> String {
        posts.findWhere(find).sorted { $0.name(.ascending) }.getResults().map(\.name).joined()
    }

    @Test func stringsAreFound() {
        #expect(found { $0.text(.contains(string: "wift")) } == "ac")
        #expect(found { $0.text(.contains(string: "swift")) } == "c")
        #expect(found { $0.text(.contains(string: "SWIFT", caseSensitive: false)) } == "ac")
        #expect(found { $0.text(.contains("Swift")) } == "a")
        #expect(found { $0.text(.matches(regex: "^[Ss]wift( |l)")) } == "ac")
        #expect(found { $0.text(.matches(regex: "([")) } == "")
        #expect(found { $0.note(.contains(string: "ea")) } == "a")
        #expect(found { $0.note(.contains("EA", caseSensitive: false)) } == "a")
        #expect(found { $0.note(.matches(regex: "^$")) } == "b")
    }

    @Test func elementsAreFound() {
        #expect(found { $0.tags(.contains(with: "y")) } == "ac")
        #expect(found { $0.tags(.contains(atLeastOne: ["x", "z"])) } == "a")
        #expect(found { $0.tags(.contains(all: ["x", "y"])) } == "a")
        #expect(found { $0.tags(.contains("x", "y")) } == "a")
        #expect(found { $0.scores(.contains(with: 2)) } == "a")
        #expect(found { $0.scores(.contains(atLeastOne: [3, 4])) } == "a")
        #expect(found { $0.scores(.contains(all: [])) } == "ab")
        #expect(found { $0.scores(.contains(1, 2)) } == "a")
    }

    @Test func countsAreFound() {
        #expect(found { $0.tags(.countEqual(with: 1)) } == "c")
        #expect(found { $0.tags(.countGreater(than: 0)) } == "ac")
        #expect(found { $0.tags(.countLess(than: 1)) } == "b")
        #expect(found { $0.tags(.countGreaterOrEqual(with: 2)) } == "a")
        #expect(found { $0.tags(.countLessOrEqual(with: 1)) } == "bc")
        #expect(found { $0.scores(.countEqual(with: 0)) } == "b")
        #expect(found { $0.scores(.countGreater(than: -1)) } == "ab")
        #expect(found { $0.scores(.countLess(than: 9)) } == "ab")
        #expect(found { $0.scores(.countGreaterOrEqual(with: 3)) } == "a")
        #expect(found { $0.scores(.countLessOrEqual(with: 3)) } == "ab")
    }

    @Test func equalValuesAreFound() {
        #expect(found { $0.rank(.isEqual(with: 2)) } == "b")
        #expect(found { $0.rank(.isEqual(2)) } == "b")
        #expect(found { $0.rank(.isNotEqual(with: 2)) } == "ac")
        #expect(found { $0.rank(.isNotEqual(2)) } == "ac")
        #expect(found { $0.note(.isEqual(with: "Read")) } == "a")
        #expect(found { $0.note(.isNotEqual("Read")) } == "bc")
        #expect(found { $0.text(.isEqual(nil)) } == "")
        #expect(found { $0.text(.isNotEqual(nil)) } == "abc")
        #expect(found { $0.note(.isEqual(nil)) } == "c")
        #expect(found { $0.note(.isNotEqual(with: nil)) } == "ab")
    }

    @Test func comparisonsAreFound() {
        #expect(found { $0.rank(.greater(than: 2)) } == "c")
        #expect(found { $0.rank(.less(than: 2)) } == "a")
        #expect(found { $0.rank(.greaterOrEqual(with: 2)) } == "bc")
        #expect(found { $0.rank(.lessOrEqual(with: 2)) } == "ab")
        #expect(found { $0.rating(.greater(than: 0)) } == "ab")
        #expect(found { $0.rating(.less(than: 2)) } == "a")
        #expect(found { $0.rating(.greaterOrEqual(with: 2.5)) } == "b")
        #expect(found { $0.rating(.lessOrEqual(with: 2.5)) } == "ab")
        #expect(found { $0.text(.greater(than: "Swift")) } == "ac")
    }

    @Test func emptyAndNilValuesAreFound() {
        #expect(found { $0.note(.isNil()) } == "c")
        #expect(found { $0.note(.isNotNil()) } == "ab")
        #expect(found { $0.text(.isEmpty()) } == "b")
        #expect(found { $0.text(.isNotEmpty()) } == "ac")
        #expect(found { $0.tags(.isEmpty()) } == "b")
        #expect(found { $0.scores(.isEmpty()) } == "b")
        #expect(found { $0.scores(.isNotEmpty()) } == "a")
        #expect(found { $0.note(.isNotEmpty()) } == "a")
        #expect(found { $0.note(.isNilOrEmpty()) } == "bc")
        #expect(found { $0.scores(.isNilOrEmpty()) } == "bc")
        #expect(found { $0.note(.isValid { $0 == nil }) } == "c")
    }

    @Test func allConditionsMustHold() {
        #expect(found { $0.rank(.greater(than: 1)).rank(.less(than: 3)).note(.isNotNil()) } == "b")
        #expect(found { $0 } == "abc")
    }
}
