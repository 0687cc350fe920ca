import Foundation
import TestThreads
import Testing
import VellumTestSupport
import VellumTesting

@testable import Vellum

/// What own writes show before they return.
extension ScreenTests {
    @Test func anOwnWriteIsVisibleWhenTheCallReturns() async throws {
        try cities.record(contentsOf: [10, 20, 30, 40].map { City(name: "c\($0)", people: $0) })
        let results = ArchiveResults(
            cities,
            where: #Predicate { $0.people >= 10 },
            sortedBy: [SortDescriptor(\.people)]
        )
        await cities.observersSettled()
        func check(_ names: [String], _ place: SourceLocation = #_sourceLocation) async throws {
            #expect(results.value.map(\.name) == names, sourceLocation: place)
            await cities.observersSettled()
            #expect(results.value.map(\.name) == names, sourceLocation: place)
            #expect(
                results.value
                    == (try cities.fetch(
                        where: #Predicate { $0.people >= 10 },
                        sortedBy: [SortDescriptor(\.people)]
                    ))
            )
        }
        try results.record(City(name: "new", people: 25))
        try await check(["c10", "c20", "new", "c30", "c40"])
        try results.record(City(name: "new", people: 50))
        try await check(["c10", "c20", "c30", "c40", "new"])
        try results.record(City(name: "c20", people: 1))
        try await check(["c10", "c30", "c40", "new"])
        try results.record(City(name: "tiny", people: 2))
        try await check(["c10", "c30", "c40", "new"])
        #expect(try results.delete(allKeys: ["c30"]) == 1)
        #expect(try results.delete(allKeys: ["none"]) == 0)
        try await check(["c10", "c40", "new"])
        try results.delete(allKeys: ["c10", "new", "none"])
        try await check(["c40"])
    }

    /// Own writes that fall between two answers: no answer is taken while this does not suspend.
    @Test(arguments: 1...UInt64(LongRun.number(400, usually: 60)))
    func ownWritesShowTheBeginningOfTheAnswer(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let orders: [[SortDescriptor<City>]] = [
            [SortDescriptor(\.people)], [SortDescriptor(\.people, order: .reverse)],
            [SortDescriptor(\.people), SortDescriptor(\.name, order: .reverse)], [],
        ]
        let order = orders[Int(seed % 4)]
        let limit = seed % 5 == 0 ? nil : Int(seed % 5)
        // Without an order, an object that comes back stands where it was.
        let predicate = order.isEmpty ? nil : #Predicate<City> { $0.people % 5 != 0 }
        // No two are equal, but for the third order.
        func people() -> Int {
            Int.random(in: 0..<(seed % 4 == 2 ? 9 : 1 << 40), using: &random)
        }
        for number in 0..<Int.random(in: 0...9, using: &random) {
            try cities.record(City(name: "city \(number)", people: people()))
        }
        let results = ArchiveResults(cities, where: predicate, sortedBy: order, limit: limit)
        for round in 0..<8 {
            if round > 0 { await cities.observersSettled() }
            for step in 0..<Int.random(in: 1...6, using: &random) {
                var name = "city \(Int.random(in: 0..<12, using: &random))"
                if let last = results.value.last, Bool.random(using: &random) { name = last.name }
                if Int.random(in: 0..<3, using: &random) == 0 {
                    try results.delete(allKeys: [name])
                } else if let old = try cities.access(archiveWithKey: name),
                    Bool.random(using: &random)
                {
                    try results.record(City(name: name, people: old.people, note: "\(step)"))
                } else {
                    try results.record(City(name: name, people: people()))
                }
                // What is asked meanwhile has no answer yet.
                if step == 2 { results.limit = limit.map { $0 + round % 3 - 1 } }
                if step == 3 { results.ask(sortedBy: [SortDescriptor(\.name)], limit: 2) }
                let all = try cities.fetch(where: predicate, sortedBy: order)
                guard results.isLoaded || limit == nil else {
                    #expect(results.value.isEmpty)
                    continue
                }
                // Before the first answer only own objects are known.
                guard results.isLoaded else { continue }
                #expect(
                    results.value == Array(all.prefix(results.value.count)),
                    "seed \(seed), round \(round), step \(step)"
                )
                #expect(results.value.count <= limit ?? .max)
            }
            results.ask(where: predicate, sortedBy: order, limit: limit)
            await cities.observersSettled()
            #expect(
                results.value
                    == (try cities.fetch(where: predicate, sortedBy: order, limit: limit))
            )
        }
    }

    @Test func aLimitHoldsForOwnWrites() async throws {
        try cities.record(contentsOf: [10, 20, 30, 40].map { City(name: "c\($0)", people: $0) })
        let results = ArchiveResults(cities, sortedBy: [SortDescriptor(\.people)], limit: 3)
        await cities.observersSettled()
        try results.record(City(name: "new", people: 15))
        #expect(results.value.map(\.name) == ["c10", "new", "c20"])
        try results.delete(allKeys: ["c10"])
        // What moves up is not known, nor what stands behind it.
        try results.record(City(name: "late", people: 50))
        #expect(results.value.map(\.name) == ["new", "c20"])
        // The last object is the last still if its place has not changed.
        try results.record(City(name: "c20", people: 20, note: "x"))
        #expect(results.value.map(\.name) == ["new", "c20"])
        await cities.observersSettled()
        #expect(results.value.map(\.name) == ["new", "c20", "c30"])
    }

    /// An answer that was asked before an own write would show it no longer.
    @Test func noEarlierAnswerTakesAnOwnWriteBack() async throws {
        try cities.record(contentsOf: (0..<1000).map { City(name: "c\($0)", people: $0) })
        let results = ArchiveResults(cities, sortedBy: [SortDescriptor(\.people)])
        await cities.observersSettled()
        for number in 0..<30 {
            let name = "own \(number)"
            try results.record(City(name: name, people: -number - 1))
            // Earlier questions may be answered meanwhile. Where none is, the test can only miss a
            // defect, never fail without one.
            for _ in 0..<3 {
                await pause()
                #expect(results.value.first?.name == name)
            }
            if number % 3 == 0 {
                try results.delete(allKeys: [name])
                for _ in 0..<3 {
                    await pause()
                    #expect(results.value.first?.name != name)
                }
            }
        }
        await cities.observersSettled()
        #expect(results.value == (try cities.fetch(sortedBy: [SortDescriptor(\.people)])))
    }

    @Test func aWriteThatFailsLeavesTheValue() async throws {
        try cities.record(City(name: "a", people: 1))
        let results = ArchiveResults(cities)
        await cities.observersSettled()
        faults.fail()
        #expect(throws: VellumError.self) { try results.record(City(name: "b", people: 1)) }
        #expect(throws: VellumError.self) { try results.delete(allKeys: ["a"]) }
        #expect(results.value.map(\.name) == ["a"])
        faults.heal()
        await cities.observersSettled()
        #expect(results.value.map(\.name) == ["a"] && results.error == nil)
    }

    /// Where a query would throw, Foundation ends the process.
    @Test func aPredicateThatCannotBeCalculatedChangesNothing() async throws {
        try cities.record(City(name: "a", people: 2))
        let (shares, next) = (
            ArchiveResults(cities, where: #Predicate { 10 / $0.people > 2 }),
            ArchiveResults(cities, where: #Predicate { $0.people + 1 > 2 })
        )
        await cities.observersSettled()
        try shares.record(City(name: "b", people: 0))
        try next.record(City(name: "c", people: .max))
        #expect(shares.value.map(\.name) == ["a"] && next.value.map(\.name) == ["a"])
        await cities.observersSettled()
        #expect(shares.error?.code == .failedQuery && next.error?.code == .failedQuery)
        try shares.delete(allKeys: ["b", "c"])
        await cities.observersSettled()
        #expect(shares.error == nil && next.error == nil)
    }

    /// A write by others is shown while the model writes more often than a query takes.
    @Test func ownWritesHideNoOthers() async throws {
        try cities.record(contentsOf: (0..<3000).map { City(name: "c\($0)", people: $0) })
        let results = ArchiveResults(cities, where: #Predicate { $0.name.contains("o") })
        await cities.observersSettled()
        try factory.store(for: City.self).record(City(name: "other", people: 0))
        var number = 0
        try await until("what the other wrote is shown") {
            guard !results.value.contains(where: { $0.name == "other" }) else { return true }
            number += 1
            try results.record(City(name: "own \(number % 7)", people: number))
            #expect(
                results.value.contains { $0.name == "own \(number % 7)" && $0.people == number }
            )
            return false
        }
        await cities.observersSettled()
        #expect(results.value == (try cities.fetch(where: #Predicate { $0.name.contains("o") })))
    }
}
