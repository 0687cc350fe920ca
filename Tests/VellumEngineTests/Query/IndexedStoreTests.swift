import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

@Suite(.ownThreads)
struct IndexedStoreTests {
    static var questions: [[QueryDescription<Person>.Step]] {
        [
            [.filter(Question.age(30))],
            [.filter(Question.older(than: 80))],
            [.filter(.not(Question.older(than: 5)))],
            [.filter(Question.city(nil))],
            [.filter(Question.city("city 3"))],
            [.filter(.not(Question.city("city 3")))],
            [.filter(Question.tagged("mod3"))],
            [
                .filter(
                    .all([
                        Question.tagged("mod3"), Question.tagged("all"), Question.older(than: 40),
                    ])
                )
            ],
            [.filter(.any([Question.tagged("mod3"), Question.age(7)]))],
            [.filter(.not(Question.tagged("mod3")))],
            [.filter(Question.begins("person 1"))],
            [.filter(Question.isEvenlyNamed())],
            [.filter(.all([Question.isEvenlyNamed(), Question.older(than: 50)])), .limit(3)],
            [.filter(.any([Question.isEvenlyNamed(), Question.older(than: 50)]))],
            [.sort([Question.byAge()])],
            [.sort([Question.byAge(descending: true)]), .limit(10)],
            [.sort([Question.byAge(descending: true)]), .skip(5), .limit(10)],
            [.sort([Question.byAge(descending: true)]), .skip(5)],
            // More ties at its end than are read at first.
            [
                .filter(Question.tagged("all")), .sort([Question.byCity(descending: true)]),
                .skip(5), .limit(10),
            ],
            [.limit(20), .filter(Question.older(than: 10))],
            [.limit(20), .sort([Question.byAge(descending: true)])],
            [
                .filter(Question.older(than: 10)), .sort([Question.byAge()]), .limit(7),
                .filter(Question.isEvenlyNamed()),
            ],
            [.filter(Question.isEvenlyNamed()), .sort([Question.byAge()]), .limit(7)],
            [.filter(.all([]))], [.filter(.any([]))], [.limit(0)], [.skip(1000)], [],
        ]
    }

    @Test(arguments: [true, false])
    func indexedQueriesMatchFilteringAnArray(_ isIndexed: Bool) throws {
        let people = Person.crowd(400)
        let setup = try Setup()
        let store = try setup.people(isIndexed ? Person.catalog : nil)
        try store.record(people)
        for (number, steps) in Self.questions.enumerated() {
            let question = QueryDescription(steps)
            let expected = try people.answering(steps)
            #expect(try store.fetch(question) == expected, "query \(number)")
            #expect(try store.count(question) == expected.count, "query \(number)")
            #expect(try store.first(question) == expected.first, "query \(number)")
            #expect(try store.exists(question) == !expected.isEmpty, "query \(number)")
            let cursor = QueryCursor(question, in: store, batchSize: 7)
            var streamed: [Person] = []
            while case let some = try cursor.next(), !some.isEmpty { streamed += some }
            #expect(streamed == expected, "query \(number)")
        }
    }
}
