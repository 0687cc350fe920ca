import Foundation
import TestThreads
import Testing
import Vellum

/// Searches that ignore case and diacritics, as clients write them (decision 77).
@Suite(.ownThreads)
struct QueryIgnoringTests {
    struct City: Codable, IndexedArchivable {
        var primaryKey: String { name }
        var name: String
        var nick: String?
        var country: String

        static var archiveIndexes: [ArchiveIndex<City>] {
            [
                .index(\.name, ignoring: .caseAndDiacritics), .index(\.nick, ignoring: .case),
                .index(\.country, \.name.ignoringCase),
            ]
        }
    }

    let temporary = TemporaryArchives()
    let cities: ArchiveManager<City>

    init() throws {
        cities = try temporary.factory.archives()
        cities.insert(
            City(name: "Zürich", nick: "Züri", country: "CH"),
            City(name: "ZUG", nick: nil, country: "CH"),
            City(name: "İstanbul", nick: "Şehir", country: "TR"),
            City(name: "Gießen", nick: "zÜRI", country: "DE"),
            City(name: "Ἀθῆναι", nick: "ΑΘΉΝΑΣ", country: "GR")
        )
    }

    private func found(_ predicate: Predicate<City>) throws -> [String] {
        try cities.store.fetch(where: predicate).map(\.name).sorted()
    }

    private func found(_ find: (QueryFinder<City>) -> QueryFinder<City>) -> [String] {
        cities.findWhere(find).getResults().map(\.name).sorted()
    }

    private func isIndexed(_ predicate: Predicate<City>) throws -> Bool {
        try cities.store.explain(where: predicate).description.hasPrefix("answered by the index")
    }

    private func isIndexed(_ find: (QueryFinder<City>) -> QueryFinder<City>) -> Bool {
        cities.findWhere(find).explain().description.hasPrefix("answered by the index")
    }

    @Test(arguments: [
        ("zurich", ["Zürich"]), ("ZU\u{308}RI", ["Zürich"]), ("istanbul", ["İstanbul"]),
        ("GIESSEN", ["Gießen"]), ("αθηναι", ["Ἀθῆναι"]),
        ("zu", ["ZUG", "Zürich"]), ("u", ["ZUG", "Zürich", "İstanbul"]),
    ])
    func aPredicateFindsThemWithTheTextCaptured(search: String, names: [String]) throws {
        let text = search.ignoringCaseAndDiacritics
        #expect(try found(#Predicate { $0.name.ignoringCaseAndDiacritics.contains(text) }) == names)
        #expect(found { $0.name(.contains(search, ignoring: .caseAndDiacritics)) } == names)
    }

    @Test func anIndexAnswersEqualityAndPrefixes() throws {
        let (whole, start) = ("ZURICH".ignoringCaseAndDiacritics, "ZÜ".ignoringCaseAndDiacritics)
        let predicates: [(Predicate<City>, [String])] = [
            (#Predicate { $0.name.ignoringCaseAndDiacritics == whole }, ["Zürich"]),
            (
                #Predicate { $0.name.ignoringCaseAndDiacritics.starts(with: start) },
                ["ZUG", "Zürich"]
            ),
        ]
        for (predicate, names) in predicates {
            #expect(try found(predicate) == names)
            #expect(try isIndexed(predicate))
        }
        #expect(found { $0.name(.isEqual("ZURICH", ignoring: .caseAndDiacritics)) } == ["Zürich"])
        #expect(isIndexed { $0.name(.isEqual("ZURICH", ignoring: .caseAndDiacritics)) })
        #expect(
            found { $0.name(.starts(with: "ZÜ", ignoring: .caseAndDiacritics)) } == [
                "ZUG", "Zürich",
            ]
        )
        #expect(isIndexed { $0.name(.starts(with: "ZÜ", ignoring: .caseAndDiacritics)) })
        // Another difference than the index ignores.
        #expect(
            found { $0.nick(.starts(with: "zur", ignoring: .caseAndDiacritics)) } == [
                "Gießen", "Zürich",
            ]
        )
        #expect(!isIndexed { $0.nick(.starts(with: "zur", ignoring: .caseAndDiacritics)) })
    }

    @Test func anOptionalPropertyIsIndexed() throws {
        let (text, start) = ("ZÜRI".ignoringCase, "ş".ignoringCase)
        let equal = #Predicate<City> { $0.nick.ignoringCase == text }
        let begins = #Predicate<City> {
            if let nick = $0.nick.ignoringCase { nick.starts(with: start) } else { false }
        }
        let isNil = #Predicate<City> { $0.nick.ignoringCase == nil }
        for (predicate, names) in [
            (equal, ["Gießen", "Zürich"]), (begins, ["İstanbul"]), (isNil, ["ZUG"]),
        ] {
            #expect(try found(predicate) == names)
            #expect(try isIndexed(predicate))
        }
        #expect(found { $0.nick(.isEqual("αθήνας", ignoring: .case)) } == ["Ἀθῆναι"])
        #expect(isIndexed { $0.nick(.isEqual("αθήνας", ignoring: .case)) })
        #expect(found { $0.nick(.starts(with: "ZÜ", ignoring: .case)) } == ["Gießen", "Zürich"])
        #expect(isIndexed { $0.nick(.starts(with: "ZÜ", ignoring: .case)) })
        #expect(found { $0.nick(.contains("ri", ignoring: .case)) } == ["Gießen", "Zürich"])
        #expect(found { $0.nick(.contains("", ignoring: .case)) }.count == 4)
        #expect(found { $0.nick(.isEqual(nil, ignoring: .case)) } == ["ZUG"])
        // The optional chain of Swift means the same, and no index answers it.
        #expect(try found(#Predicate { $0.nick?.ignoringCase == text }) == ["Gießen", "Zürich"])
    }

    @Test func anIndexOfSeveralPropertiesMayHaveOne() throws {
        let text = "ZÜRICH".ignoringCase
        let predicate = #Predicate<City> { $0.country == "CH" && $0.name.ignoringCase == text }
        #expect(try found(predicate) == ["Zürich"])
        #expect(try isIndexed(predicate))
    }

    @Test func anIndexSorts() throws {
        let order = SortDescriptor(\City.name.ignoringCaseAndDiacritics, comparator: .lexical)
        let all = #Predicate<City> { _ in true }
        #expect(
            try cities.store.fetch(where: all, sortedBy: [order]).map(\.name) == [
                "Gießen", "İstanbul", "ZUG", "Zürich", "Ἀθῆναι",
            ]
        )
        #expect(
            try cities.store.explain(where: all, sortedBy: [order]).description.contains(
                "sorted by name.ignoringCaseAndDiacritics"
            )
        )
    }
}
