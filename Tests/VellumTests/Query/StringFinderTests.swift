import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine

@testable import Vellum

/// Finders on strings that are not ASCII.
@Suite(.ownThreads)
struct StringFinderTests {
    @Test(arguments: QuerySample.names + ["Swift is fun", "abcabd", "aab"])
    func substringsAreFoundAsInSwift(string: String) {
        for part in QuerySample.names + ["is", "abd", "ab", "n"] {
            #expect(
                StringPart(part).isContained(in: string) == contains(string, part),
                "\(part.debugDescription)"
            )
            let expected = contains(string.lowercased(), part.lowercased())
            #expect(StringPart(part, caseSensitive: false).isContained(in: string) == expected)
        }
    }

    /// Compares by characters. The method of Foundation compares differently.
    private func contains<Whole: Collection<Character>>(
        _ string: Whole,
        _ part: some Collection<Character>
    ) -> Bool {
        string.contains(part)
    }

    private struct Song: IndexedArchivable, ArchiveCodable, Equatable {
        static let archiveName = "Song"
        var primaryKey: String { title }
        var title: String
        var artist: String
        var album: String?
        var text: String?
        var tags: [String] = []

        static var archiveIndexes: [ArchiveIndex<Song>] {
            [.index(\.title), .index(\.album), .each(\.tags)]
        }
    }

    @Test func everyStringContainsTheEmptyStringAndNilDoesNot() throws {
        let archives = TemporaryArchives()
        let store = try archives.factory.store(for: Song.self)
        let songs = [
            Song(title: "Ode", artist: "Ann", album: "One", text: "la", tags: [""]),
            Song(title: "", artist: "", album: "", text: ""),
            Song(title: "e\u{301}\r\n", artist: "\u{E9}\r\n"),
            Song(title: "👩‍👩‍👧", artist: "👩", album: nil, text: "\r\n", tags: ["a"]),
        ]
        try store.record(contentsOf: songs)
        let manager = try archives.factory.archives(for: Song.self)
        func titles(_ songs: [Song]) -> Set<String> { Set(songs.map(\.title)) }
        func found(_ find: (QueryFinder<Song>) -> QueryFinder<Song>) -> Set<String> {
            titles(manager.findWhere(find).getResults())
        }

        let all = titles(songs)
        #expect(
            titles(
                try store.fetch(
                    where: #Predicate { $0.title.contains("") && $0.artist.contains("") }
                )
            ) == all
        )
        for isSensitive in [true, false] {
            #expect(found { $0.title(.contains("", caseSensitive: isSensitive)) } == all)
            #expect(found { $0.artist(.contains(string: "", caseSensitive: isSensitive)) } == all)
            #expect(
                found { $0.album(.contains("", caseSensitive: isSensitive)) }
                    == titles(songs.filter { $0.album != nil })
            )
            #expect(
                found { $0.text(.contains(string: "", caseSensitive: isSensitive)) }
                    == titles(songs.filter { $0.text != nil })
            )
        }
        #expect(
            found { $0.album(.contains("")) }
                == titles(try store.fetch(where: #Predicate { $0.album?.contains("") ?? false }))
        )
        #expect(found { $0.title(.contains("")).artist(.contains("n")) } == ["Ode"])
        #expect(
            found { $0.title(.contains("")).album(.isNil()) }
                == titles(songs.filter { $0.album == nil })
        )
        // This tests an element of a collection, not a substring.
        #expect(found { $0.tags(.contains(with: "")) } == ["Ode"])
        #expect(found { $0.tags(.contains(atLeastOne: [""])) } == ["Ode"])
        #expect(found { $0.tags(.contains(all: ["", ""])) } == ["Ode"])
        // The characters of a string are elements too: it contains all of an empty list, and none
        // of an empty list.
        #expect(found { $0.title(.contains(all: [] as [Character])) } == all)
        #expect(found { $0.title(.contains(atLeastOne: [] as [Character])) } == [])
    }

    @Test(arguments: QuerySample.names)
    func findersAndPredicatesAgreeOnContains(part: String) throws {
        let predicate = #Predicate<QuerySample> { $0.name.contains(part) }
        let validators = [
            QueryValidator<QuerySample, String>.contains(part), .contains(string: part),
        ]
        for name in QuerySample.names {
            let sample = QuerySample(name: name, nick: name)
            let expected = try predicate.evaluate(sample)
            for validator in validators {
                #expect(try validator.condition(\.name).matches(sample) == expected)
            }
            for nick in [name, nil] {
                let condition = QueryValidator<QuerySample, String?>.contains(part).condition(
                    \.nick
                )
                #expect(try condition.matches(QuerySample(nick: nick)) == (nick != nil && expected))
            }
        }
    }

    @Test(arguments: [("^b", true), ("B", false), ("(?i)B", true), ("b$", false), ("é", false)])
    func aRegularExpressionMatchesAnywhere(pattern: String, isFound: Bool) {
        let expression = RegularExpression(pattern)

        #expect(expression.matches("bc") == isFound)
        #expect(expression.problem == nil)
    }

    @Test func theErrorOfAnInvalidExpressionDoesNotContainThePattern() throws {
        let query = Query<QuerySample>.findWhere {
            $0.name(.matches(regex: "secret(")).nick(.isNil())
        }

        #expect(query.problems.map(\.code) == [.invalidQuery])
        #expect(try !String(reflecting: #require(query.problems.first)).contains("secret"))
        guard case .filter(let condition) = query.step else {
            throw CocoaError(.featureUnsupported)
        }
        #expect(try !condition.matches(QuerySample(name: "secret(")))
    }

    @Test(arguments: [
        ("secret(", 7), ("(a)(b", 4), ("a{2,1}", 2), ("[z-a]", 1), ("\u{E9}\\", 2),
        (String(repeating: "a", count: 300) + "(", 201),
    ])
    func theErrorOfAnInvalidExpressionSaysWhereItIsInvalid(pattern: String, position: Int) throws {
        let problem = try #require(
            Query<QuerySample>.findWhere { $0.name(.matches(regex: pattern)) }.problems.first
        )

        #expect(
            problem.message
                == """
                A regular expression in a query is invalid from character \(position) on, and \
                matches nothing. Correct the expression.
                """
        )
    }

    @Test func theErrorOfAnInvalidExpressionNamesTheArchive() throws {
        let queries = [
            Query<Song>.findWhere { $0.artist(.matches(regex: "[")) },
            .findWhere { $0.album(.matches(regex: "[")) },
        ]

        for query in queries {
            #expect(try #require(query.problems.first).description.hasSuffix("(archive Song)"))
        }
    }

    @Test func anEmptyRegularExpressionMatchesNothing() throws {
        #expect(!RegularExpression("").matches("bc"))
        #expect(try #require(RegularExpression("").problem).message.contains("is empty"))
    }

    @Test func aRegularExpressionIsCompiledOnce() throws {
        let validator = QueryValidator<QuerySample, String>.matches(regex: "^a")

        #expect(try validator.condition(\.name).matches(QuerySample(name: "ab")))
        #expect(try !validator.condition(\.address.city).matches(QuerySample(name: "ab")))
    }
}
