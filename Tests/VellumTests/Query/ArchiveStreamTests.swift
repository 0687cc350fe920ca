import Foundation
import TestThreads
import Testing

@testable import VellumCore
@testable import VellumEngine
@testable import Vellum

@Suite(.ownThreads)
struct ArchiveStreamTests {
    let archives = TemporaryArchives()
    let store: ArchiveStore<City>

    init() throws { store = try archives.factory.store(for: City.self, diskLimit: 100.megaByte) }

    private func names(_ stream: ArchiveStream<City>) async throws -> [String] {
        var names: [String] = []
        for try await city in stream { names.append(city.name) }
        return names
    }

    @Test func aStreamReturnsTheResultsOfAFetch() async throws {
        try store.record(contentsOf: City.many(1000))
        let some = #Predicate<City> { $0.people > 300 && $0.tags.contains("tag 1") }
        #expect(try await names(store.stream(where: some)) == store.fetch(where: some).map(\.name))
        let order = [SortDescriptor(\City.country), SortDescriptor(\City.people, order: .reverse)]
        #expect(
            try await names(store.stream(sortedBy: order, limit: 200, offset: 5))
                == store.fetch(sortedBy: order, limit: 200, offset: 5).map(\.name)
        )
        #expect(
            try await names(store.stream(where: #Predicate { $0.name == "city 7" })) == ["city 7"]
        )
    }

    @Test func everyLoopExecutesTheQueryAgain() async throws {
        let stream = store.stream()
        #expect(try await names(stream) == [])
        try store.record(contentsOf: City.examples)
        #expect(try await names(stream).count == 5)
    }

    @Test func aNegativeLimitIsAnErrorOfTheStream() async {
        await #expect(throws: VellumError.self) { try await names(store.stream(limit: -1)) }
    }

    @Test func aCancelledStreamEnds() async throws {
        try store.record(contentsOf: City.many(500))
        let stream = store.stream()
        let task = Task {
            var count = 0
            for try await _ in stream {
                count += 1
                if count == 100 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return count
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// The query reads every object and matches none. It must stop before the last.
    @Test func cancellingEndsAStreamDuringARead() async throws {
        try store.record(contentsOf: City.many(3000))
        let asked = Counter()
        let noMatch = Test<City> { _ in
            asked.add()
            return false
        }
        let cursor = QueryCursor(
            QueryDescription([.filter(.test(noMatch))]),
            in: store.store,
            batchSize: 64
        )
        let error = #expect(throws: VellumError.self) { try cursor.next { asked.value >= 100 } }
        #expect(error?.code == .cancelled)
        #expect(asked.value == 100)

        let stream = store.stream(where: #Predicate { $0.name == "nowhere" })
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            for try await _ in stream {}
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    private final class Counter {
        private(set) var value = 0
        func add() { value += 1 }
    }

    /// The loop writes to the archive that it reads. Each object is returned once.
    @Test func aLoopMayWriteToItsArchive() async throws {
        try store.record(contentsOf: City.many(500))
        var met: [String] = []
        for try await city in store.stream(
            where: #Predicate { $0.people >= 0 },
            sortedBy: [SortDescriptor(\.people)]
        ) {
            met.append(city.name)
            var changed = city
            changed.tags = ["seen"]
            try store.record(changed)
            if city.people % 2 == 0 {
                try store.delete(archiveWithKey: "city \(city.people + 251)")
            }
        }
        #expect(Set(met).count == met.count)
        #expect(try store.count(where: #Predicate { $0.tags.contains("seen") }) <= met.count)
        #expect(try await names(store.stream()).count == store.count())
    }

    /// A stream holds no locks between two objects, so writers and checkpoints do not wait.
    @Test func aSlowLoopDoesNotDelayCheckpoints() async throws {
        try store.record(contentsOf: City.many(2000))
        var objects = store.stream(sortedBy: [SortDescriptor(\.country)]).makeAsyncIterator()
        _ = try await objects.next()
        let log = URL(fileURLWithPath: archives.file.path + "-wal")
        var largest = 0
        // Of a log that could not begin anew, more than the limit.
        let rounds = LongRun.number(40, usually: 10)
        let tags = rounds < 40 ? [String(repeating: "x", count: 800)] : []
        for round in 0..<rounds {
            let cities = City.many(1000).map {
                City(
                    name: "\(round) \($0.name)",
                    country: $0.country,
                    people: $0.people,
                    tags: tags
                )
            }
            try store.record(contentsOf: cities)
            largest = max(
                largest,
                try FileManager.default.attributesOfItem(atPath: log.path)[.size] as? Int ?? 0
            )
        }
        #expect(largest <= 8 << 20)
        var left = 0
        while try await objects.next() != nil { left += 1 }
        #expect(left == 1999)
    }
}
