import Foundation
import Observation
import TestThreads
import Testing
import VellumTestSupport
import VellumTesting

@testable import Vellum

/// Models of screens: what they show, and when.
@MainActor
@Suite(.ownThreads)
struct ScreenTests {
    struct City: ArchiveCodable, IndexedArchivable, Equatable, Sendable {
        var primaryKey: String { name }
        var name: String
        var people: Int
        var note: String?

        static var archiveIndexes: [ArchiveIndex<City>] { [.index(\.people)] }

        /// How often an object was decoded whose name begins with "counted".
        static var decoded: Int { counter.withLock { $0 } }
        private static let counter = Locked(0)

        init(name: String, people: Int, note: String? = nil) {
            (self.name, self.people, self.note) = (name, people, note)
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            people = try container.decode(Int.self, forKey: .people)
            note = try container.decodeIfPresent(String.self, forKey: .note)
            if name.hasPrefix("counted") { Self.counter.withLock { $0 += 1 } }
        }
    }

    let faults = Faults()
    let clock = TestClock()
    let factory: ArchivesFactory
    let cities: ArchiveStore<City>

    init() throws {
        factory = .inMemory(faults: faults, clock: clock)
        cities = try factory.store(diskLimit: .unlimited)
    }

    private final class Changes: Sendable {
        private let number = Locked(0)
        var count: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }

    // MARK: The present answer

    @Test func aScreenHasThePresentAnswer() async throws {
        let results = ArchiveResults(
            cities,
            where: #Predicate { $0.people > 0 },
            sortedBy: [SortDescriptor(\.name)]
        )
        let result = ArchiveResult(cities, archiveWithKey: "a")
        let count = ArchiveCount(cities, where: #Predicate { $0.people > 0 })
        #expect(
            results.value.isEmpty && !results.isLoaded && results.isAsking && count.value == 0
                && !count.isLoaded
        )
        await cities.observersSettled()
        #expect(results.isLoaded && !results.isAsking && result.isLoaded && count.isLoaded)
        let changes = Changes()
        withObservationTracking {
            _ = results.value
        } onChange: {
            changes.add()
        }
        try cities.record(City(name: "a", people: 1))
        await cities.observersSettled()
        #expect(results.value.map(\.name) == ["a"] && result.value?.people == 1 && count.value == 1)
        #expect(changes.count == 1)
        results.stop()
        try cities.record(City(name: "b", people: 1))
        await cities.observersSettled()
        #expect(results.value.count == 1 && count.value == 2)
    }

    @Test func anErrorKeepsTheValueAndTheNextChangeAsksAgain() async throws {
        try cities.record(City(name: "a", people: 1, note: "x"))
        // Fails for an object without a note.
        let results = ArchiveResults(cities, where: #Predicate { $0.note! > "" })
        await cities.observersSettled()
        #expect(results.value.map(\.name) == ["a"] && results.error == nil)
        try cities.record(City(name: "b", people: 2))
        await cities.observersSettled()
        #expect(results.value.map(\.name) == ["a"] && results.error != nil && !results.isAsking)
        try cities.record(City(name: "b", people: 3, note: "y"))
        await cities.observersSettled()
        #expect(results.error == nil && results.value.count == 2)
    }

    @Test func aClosedArchiveIsAnError() async throws {
        try cities.close()
        let (results, result, count) = (
            ArchiveResults(cities), ArchiveResult(cities, archiveWithKey: "a"), ArchiveCount(cities)
        )
        #expect(
            results.error?.code == .closed && result.error?.code == .closed
                && count.error?.code == .closed
        )
        results.ask(where: #Predicate { $0.people > 1 })
        results.limit = 3
        #expect(!results.isAsking && results.value.isEmpty)
        #expect(throws: VellumError.self) { try results.record(City(name: "a", people: 1)) }
    }

    @Test func aModelThatIsReleasedObservesNoLonger() async throws {
        for _ in 0..<50 {
            let results = ArchiveResults(cities)
            results.ask(limit: 3)
            await cities.observersSettled()
        }
        await until("no model observes any more") { cities.fileAndArchive.file.observers().isEmpty }
    }

    // MARK: Asking something else

    @Test func theValueStaysUntilTheAnswer() async throws {
        try cities.record(contentsOf: (0..<100).map { City(name: "city \($0)", people: $0) })
        let results = ArchiveResults(cities, where: #Predicate { $0.people < 10 })
        let count = ArchiveCount(cities, where: #Predicate { $0.people < 10 })
        await cities.observersSettled()
        #expect(results.value.count == 10 && count.value == 10)
        results.ask(where: #Predicate { $0.people >= 95 })
        count.ask(where: #Predicate { $0.people >= 95 })
        #expect(results.value.count == 10 && results.isAsking && count.value == 10)
        await cities.observersSettled()
        #expect(results.value.count == 5 && !results.isAsking && count.value == 5)
        // The same objects are an answer, too.
        results.ask(where: #Predicate { $0.people > 94 })
        await cities.observersSettled()
        #expect(results.value.count == 5 && !results.isAsking)
    }

    @Test func ofQuestionsInARowOnlyTheLastIsShown() async throws {
        try cities.record(contentsOf: (0..<1000).map { City(name: "city \($0)", people: $0) })
        let results = ArchiveResults(cities, where: #Predicate { $0.people < 1 })
        await cities.observersSettled()
        let shown = Shown(results)
        for limit in 2...200 {
            results.ask(where: #Predicate { $0.people < limit })
            // Answers to some of the earlier questions come meanwhile. Nothing depends on which.
            if limit % 7 == 0 { await pause() }
        }
        await cities.observersSettled()
        #expect(results.value.count == 200)
        #expect(
            shown.counts.sorted() == shown.counts,
            "An answer to an earlier question was shown after one to a later."
        )
    }

    @Test func theFailureOfAnEarlierQuestionIsNotShown() async throws {
        try cities.record(contentsOf: (0..<50).map { City(name: "city \($0)", people: $0) })
        let results = ArchiveResults(cities, where: #Predicate { $0.people < 1 })
        await cities.observersSettled()
        for round in 1...30 {
            results.ask(where: #Predicate { $0.note! > "" })
            // It fails before or after the next question. Nothing depends on which.
            if !round.isMultiple(of: 5) { await pause() }
            results.ask(where: #Predicate { $0.people < round })
            #expect(results.isAsking)
            await cities.observersSettled()
            #expect(results.error == nil && results.value.count == round)
        }
    }

    /// What was shown, in order.
    @MainActor private final class Shown {
        private(set) var counts: [Int] = []
        private let results: ArchiveResults<City>

        init(_ results: ArchiveResults<City>) {
            self.results = results
            follow()
        }

        private func follow() {
            let count = withObservationTracking {
                results.value.count
            } onChange: {
                Task { @MainActor [weak self] in self?.follow() }
            }
            counts.append(count)
        }
    }

    // MARK: More of the same

    @Test func aHigherLimitReadsOnlyWhatIsNotShown() async throws {
        try cities.record(contentsOf: (0..<300).map { City(name: "counted \($0)", people: $0) })
        cities.trimMemory(to: .zero)
        let results = ArchiveResults(
            cities,
            where: #Predicate { $0.people >= 50 },
            sortedBy: [SortDescriptor(\.people)],
            limit: 20
        )
        await cities.observersSettled()
        #expect(results.value.map(\.people) == Array(50..<70))
        for page in 1...5 {
            let before = City.decoded
            results.showMore(after: results.value[0])  // Not the last one.
            #expect(results.limit == 20 * page)
            try results.showMore(after: #require(results.value.last), by: 20)
            #expect(results.limit == 20 * (page + 1) && results.value.count == 20 * page)
            // Without the forced question that settling is.
            await until("the model has its answer") { !results.isAsking }
            #expect(results.value.map(\.people) == Array(50..<70 + 20 * page))
            #expect(City.decoded - before == 20)
        }
        results.limit = nil
        await cities.observersSettled()
        #expect(results.value.count == 250)
        results.limit = 3
        await cities.observersSettled()
        #expect(results.value.map(\.people) == [50, 51, 52])
        results.showMore(after: results.value[2], by: .max)
        await cities.observersSettled()
        #expect(results.value.count == 250 && results.limit == .max)
    }

    /// Whatever happens between two pages: a write before, among and after what is shown, by an own
    /// write, another handle, or an age.
    @Test(arguments: 0..<12) func aChangeBetweenTwoPagesIsSeen(_ kind: Int) async throws {
        let lasting = kind % 4 == 3 ? Expiration.after(.seconds(10)) : nil
        try cities.record(
            contentsOf: (0..<100).map { City(name: "\($0 + 100)", people: $0 * 2) },
            expiration: nil
        )
        try cities.record(City(name: "mortal", people: [-1, 9, 91][kind / 4]), expiration: lasting)
        let results = ArchiveResults(cities, sortedBy: [SortDescriptor(\.people)], limit: 20)
        await cities.observersSettled()
        let key = ["first", "middle", "last"][kind / 4]
        let new = City(name: key, people: [-5, 11, 95][kind / 4])
        switch kind % 4 {
        case 0: try cities.record(new)
        case 1: try results.record(new)
        case 2: try factory.store(for: City.self).delete(archiveWithKey: "105")
        default: clock.now += 10
        }
        results.limit = 60
        await cities.observersSettled()
        #expect(
            results.value == (try cities.fetch(sortedBy: [SortDescriptor(\.people)], limit: 60))
        )
    }

    // MARK: Errors and the end

    @Test func anErrorEndsWithTheNextAnswerAlsoIfItIsTheSame() async throws {
        let city = City(name: "a", people: 1)
        try cities.record(city)
        let share = #Predicate<City> { 10 / $0.people >= 1 }
        let (results, count) = (
            ArchiveResults(cities, where: share), ArchiveCount(cities, where: share)
        )
        let result = ArchiveResult(cities, archiveWithKey: "a")
        await cities.observersSettled()
        #expect(results.value == [city] && count.value == 1 && result.value == city)
        try cities.record(City(name: "b", people: 0))
        try cities.damage(archiveWithKey: "a")
        await cities.observersSettled()
        #expect(results.error != nil && count.error != nil && result.error?.code == .damagedEntry)
        #expect(results.value == [city] && count.value == 1 && result.value == city)
        try cities.delete(archiveWithKey: "b")
        try cities.record(city)
        await cities.observersSettled()
        #expect(results.error == nil && count.error == nil && result.error == nil)
        #expect(results.value == [city] && count.value == 1 && result.value == city)
    }

    @Test func aModelOfAnArchiveThatIsClosedSaysSo() async throws {
        let models = (0..<3).map { _ in ArchiveResults(cities) }
        await cities.observersSettled()
        let late = ArchiveResults(cities)
        models[1].stop()
        models[2].ask(limit: 3)
        try cities.close()
        let ended = [models[0], models[2], late]
        await until("each model that was not stopped has an error") {
            ended.allSatisfy { $0.error != nil }
        }
        #expect(ended.allSatisfy { $0.error?.code == .closed } && models[1].error == nil)
        for model in models + [late] {
            model.ask(limit: 2)
            #expect(!model.isAsking)
        }
    }

    // MARK: At random

    /// Whatever is asked and written, by the model or by others: in the end it shows what a query
    /// finds.
    @Test(arguments: 1...UInt64(LongRun.number(12, usually: 3)))
    func atRandomItShowsWhatAQueryFinds(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try cities.record(
            contentsOf: (0..<50).map {
                City(name: "c\($0)", people: Int.random(in: 0..<20, using: &random))
            }
        )
        let results = ArchiveResults(cities)
        var (least, limit, order) = (0, Int?.none, [SortDescriptor<City>]())
        for step in 0..<150 {
            let city = City(
                name: "c\(Int.random(in: 0..<80, using: &random))",
                people: Int.random(in: 0..<20, using: &random)
            )
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1: try results.record(city)
            case 2: try results.delete(allKeys: [city.name])
            case 3:
                try results.delete(
                    allKeys: results.value.prefix(Int.random(in: 0..<4, using: &random)).map(\.name)
                )
            case 4: try cities.record(city)
            case 5: try cities.delete(archiveWithKey: city.name)
            case 6:
                (least, limit) = (
                    city.people, [nil, 0, 5, 40].randomElement(using: &random) ?? nil
                )
                order =
                    [
                        [], [SortDescriptor(\.name)],
                        [SortDescriptor(\.people), SortDescriptor(\.name)],
                    ].randomElement(using: &random) ?? []
                results.ask(where: #Predicate { $0.people >= least }, sortedBy: order, limit: limit)
            case 7, 8:
                limit = limit.map { $0 + city.people }
                results.limit = limit
            default:
                await cities.observersSettled()
                let expected = try cities.fetch(
                    where: #Predicate { $0.people >= least },
                    sortedBy: order,
                    limit: limit
                )
                #expect(results.value == expected, "seed \(seed), step \(step)")
            }
            // Some answers come meanwhile. Nothing depends on which.
            if Bool.random(using: &random) { await pause() }
        }
        await cities.observersSettled()
        #expect(
            results.value
                == (try cities.fetch(
                    where: #Predicate { $0.people >= least },
                    sortedBy: order,
                    limit: limit
                ))
        )
    }
}
