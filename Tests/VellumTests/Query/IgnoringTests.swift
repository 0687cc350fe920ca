import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine

@testable import Vellum

/// Indexes of strings without case and diacritics.
@Suite(.ownThreads)
struct IgnoringTests {
    struct Place: ArchiveCodable, IndexedArchivable {
        static let archiveName = "Place"
        var primaryKey: String { name }
        var name: String
        var nick: String?
        static var archiveIndexes: [ArchiveIndex<Place>] {
            [
                .index(\.name, ignoring: .case), .index(\.name, ignoring: .caseAndDiacritics),
                .index(\.nick, ignoring: .case, named: "short"),
                .index(\.nick, ignoring: .caseAndDiacritics),
            ]
        }
    }

    @Test func anIndexIsNamedAfterWhatItIgnores() throws {
        let catalog = try #require(try indexCatalog(of: Place.self))
        #expect(
            catalog.shape.columns.map(\.name)
                == [
                    "name.ignoringCase", "name.ignoringCaseAndDiacritics", "short",
                    "nick.ignoringCaseAndDiacritics",
                ]
        )
    }

    /// An index has another definition than one that ignores less: it is built again when one
    /// replaces the other.
    @Test func eachIndexHasTheValuesOfItsOwnFolding() throws {
        let archives = TemporaryArchives()
        let store = try archives.factory.store(for: Place.self)
        try store.record(contentsOf: ["Zürich", "ZURICH", "zug"].map { Place(name: $0, nick: $0) })
        let (cased, plain) = ("ZÜRICH".ignoringCase, "ZÜRICH".ignoringCaseAndDiacritics)
        #expect(
            try store.fetch(where: #Predicate { $0.name.ignoringCase == cased }).map(\.name) == [
                "Zürich"
            ]
        )
        #expect(
            try store.fetch(where: #Predicate { $0.name.ignoringCaseAndDiacritics == plain }).map(
                \.name
            ) == ["Zürich", "ZURICH"]
        )
        #expect(
            try store.fetch(where: #Predicate { $0.nick.ignoringCase == cased }).map(\.name) == [
                "Zürich"
            ]
        )
        #expect(
            try store.fetch(where: #Predicate { $0.nick.ignoringCaseAndDiacritics == plain }).map(
                \.name
            ) == ["Zürich", "ZURICH"]
        )
    }

    /// Finders and predicates agree with the strings themselves, on strings that Swift and
    /// Unicode's tables treat differently, too.
    @Test(arguments: QuerySample.names)
    func findersAndPredicatesAgree(part: String) throws {
        let (cased, plain) = (part.ignoringCase, part.ignoringCaseAndDiacritics)
        let predicates: [(Predicate<QuerySample>, QueryValidator<QuerySample, String>)] = [
            (#Predicate { $0.name.ignoringCase.contains(cased) }, .contains(part, ignoring: .case)),
            (
                #Predicate { $0.name.ignoringCaseAndDiacritics.contains(plain) },
                .contains(part, ignoring: .caseAndDiacritics)
            ),
            (
                #Predicate { $0.name.ignoringCase.starts(with: cased) },
                .starts(with: part, ignoring: .case)
            ),
            (
                #Predicate { $0.name.ignoringCaseAndDiacritics == plain },
                .isEqual(part, ignoring: .caseAndDiacritics)
            ),
        ]
        for name in QuerySample.names + ["X" + part.uppercased() + "y"] {
            let sample = QuerySample(name: name, nick: name)
            for (predicate, validator) in predicates {
                #expect(
                    try predicate.evaluate(sample) == validator.condition(\.name).matches(sample)
                )
                #expect(try Condition(predicate).evaluation()(sample) == predicate.evaluate(sample))
            }
        }
    }

    @Test func nilIsEqualToNilAlone() throws {
        let validators: [QueryValidator<QuerySample, String?>] = [
            .contains("", ignoring: .case), .starts(with: "", ignoring: .case),
            .isEqual("", ignoring: .caseAndDiacritics),
        ]
        for validator in validators {
            #expect(try !validator.condition(\.nick).matches(QuerySample(nick: nil)))
            #expect(try validator.condition(\.nick).matches(QuerySample(nick: "")))
        }
        #expect(
            try QueryValidator<QuerySample, String?>.isEqual(nil, ignoring: .case).condition(\.nick)
                .matches(QuerySample(nick: nil))
        )
    }
}
