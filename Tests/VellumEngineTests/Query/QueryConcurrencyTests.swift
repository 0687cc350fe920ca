import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// Queries on some threads while others write and the log is restarted all the time.
@Suite(.ownThreads)
struct QueryConcurrencyTests {
    private static let padding = [String(repeating: "x", count: 6000)]

    @Test func everyResultMatchesItsQuery() throws {
        let setup = try Setup()
        let store = try setup.people(memory: 50.kiloByte)
        let people = (0..<100).map { Person("person \($0)", age: $0 % 2, tags: Self.padding) }
        try store.record(people)
        let complaints = Locked<[String]>([])
        let isDone = Locked(false)
        onThreads(5) { thread in
            do {
                if thread < 2 {
                    var random = SeededGenerator(seed: UInt64(thread))
                    for _ in 0..<LongRun.number(1500, usually: 200) {
                        let number = Int.random(in: 0..<100, using: &random)
                        try store.record(
                            Person(
                                "person \(number)",
                                age: Int.random(in: 0...1, using: &random),
                                tags: Self.padding
                            ),
                            forKey: EntryKey("person \(number)")
                        )
                    }
                    isDone.withLock { $0 = true }
                } else {
                    while !isDone.withLock({ $0 }) {
                        let found = try store.fetch(
                            QueryDescription([.filter(Question.age(thread % 2))])
                        )
                        let names = found.map(\.name)
                        let everyone = try store.count(
                            QueryDescription([.filter(.any([Question.age(0), Question.age(1)]))])
                        )
                        guard
                            found.contains(where: { $0.age != thread % 2 })
                                || Set(names).count != names.count || everyone != 100
                        else {
                            continue
                        }
                        complaints.withLock {
                            $0.append(
                                """
                                \(found.filter { $0.age != thread % 2 }.count) wrong of \
                                \(found.count), \(everyone)
                                """
                            )
                        }
                    }
                }
            } catch {
                isDone.withLock { $0 = true }
                complaints.withLock { $0.append("\(error)") }
            }
        }
        #expect(complaints.withLock { $0 } == [])
        #expect(try store.disagreements() == [])
    }

    /// A query sees each transaction completely or not at all.
    @Test func aQueryNeverSeesHalfATransaction() throws {
        let setup = try Setup()
        let store = try setup.people()
        try store.record((0..<10).map { Person("person \($0)", age: 1) })
        let wrong = Locked(0)
        let isDone = Locked(false)
        onThreads(3) { thread in
            do {
                if thread == 0 {
                    // The later half is new in each round.
                    for round in 0..<LongRun.number(400, usually: 60) {
                        try store.record(
                            (0..<20).map {
                                Person(
                                    $0 < 10 ? "person \($0)" : "person \(round) \($0)",
                                    age: round
                                )
                            }
                        )
                        var removal = StoreTransaction()
                        for number in 10..<20 {
                            removal.remove(EntryKey("person \(round) \(number)"), in: store)
                        }
                        try removal.commit()
                    }
                    isDone.withLock { $0 = true }
                } else {
                    while !isDone.withLock({ $0 }) {
                        let ages = Set(
                            try store.fetch(QueryDescription([.sort([Question.byAge()])])).map(
                                \.age
                            )
                        )
                        let scanned = Set(try store.fetch(QueryDescription()).map(\.age))
                        if ages.count != 1 || scanned.count != 1 { wrong.withLock { $0 += 1 } }
                        if ![10, 20].contains(try store.fetch(QueryDescription()).count) {
                            wrong.withLock { $0 += 1 }
                        }
                    }
                }
            } catch {
                isDone.withLock { $0 = true }
                wrong.withLock { $0 += 1 }
            }
        }
        #expect(wrong.withLock { $0 } == 0)
    }
}
