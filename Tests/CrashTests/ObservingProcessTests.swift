import CrashScript
import Foundation
import Testing
import Vellum
import VellumTestSupport

/// Observers of what two other processes change, one of which is killed again and again.
@Suite(.timeLimit(.minutes(Tally.minutes)))
struct ObservingProcessTests {
    /// The elements of one observer.
    private final class Watcher: Sendable {
        private let state = Locked((last: [Twin]?.none, elements: 0, torn: 0))

        var last: [Twin]? { state.withLock { $0.last } }
        var elements: Int { state.withLock { $0.elements } }
        var torn: Int { state.withLock { $0.torn } }

        func take(_ twins: [Twin], isWhole: Bool) {
            let numbers = Dictionary(uniqueKeysWithValues: twins.map { ($0.name, $0.number) })
            let isTorn = twins.contains { twin in
                let pair = twin.name.split(separator: ".")[0]
                return numbers["\(pair).left"] != numbers["\(pair).right"]
            }
            state.withLock { state in
                state.last = twins
                state.elements += 1
                if isWhole, isTorn { state.torn += 1 }
            }
        }
    }

    private final class LastLeaves: Sendable {
        private let state = Locked<[Leaf]?>(nil)

        var last: [Leaf]? { state.withLock { $0 } }
        func take(_ leaves: [Leaf]) { state.withLock { $0 = leaves } }
    }

    /// What each observer asks. Twins have the same number, so a range of numbers has both or none.
    private struct Question: Sendable {
        var range: Range<Int>
        var limit: Int?

        func sequence(of store: ArchiveStore<Twin>) -> some AsyncSequence<[Twin], VellumError> & Sendable {
            let (low, high) = (range.lowerBound, range.upperBound)
            return store.observe(
                where: #Predicate { $0.number >= low && $0.number < high }, sortedBy: [SortDescriptor(\.number), SortDescriptor(\.name)],
                limit: limit)
        }

        func answer(of store: ArchiveStore<Twin>) throws -> [Twin] {
            let (low, high) = (range.lowerBound, range.upperBound)
            return try store.fetch(
                where: #Predicate { $0.number >= low && $0.number < high }, sortedBy: [SortDescriptor(\.number), SortDescriptor(\.name)],
                limit: limit)
        }
    }

    /// One process writes to its end, and others are killed meanwhile.
    private static func write(in folder: URL, _ seed: UInt64, _ count: Int) throws {
        var random = SeededGenerator(seed: seed &+ 1_000_000)
        let staying = try Spawned(["twins", folder.path, "\(seed)", "\(count)"])
        #expect(staying.line() == "begins")
        for number in 0..<Tally.count(300, sample: 10) {
            let child = try Spawned(["twins", folder.path, "\(seed &+ UInt64(number) &+ 1)", "1000000"])
            #expect(child.line() == "begins")
            child.kill(afterMicroseconds: Int.random(in: 0...60_000, using: &random))
            #expect(child.end().end == .killed(SIGKILL))
        }
        #expect(staying.end().end == .exited(0))
    }

    /// A writer that is killed between announcing a change and ending it is waited for once, and later changes are seen.
    @Test(arguments: ["changeNumbered", "changesWritten", "changesAnnounced", "committed"])
    func aWriterThatIsKilledInACommitHidesNoLaterChange(_ point: String) async throws {
        let folder = try TemporaryDirectory()
        let store: ArchiveStore<Twin> = try ArchivesFactory(directory: folder.url).store(diskLimit: .unlimited)
        var answers = store.observeCount().makeAsyncIterator()
        #expect(try await answers.next() == 0)
        let dying = OnThread {
            Result { try Spawned(["twins", folder.url.path, "7", "1000"], environment: ["VELLUM_CRASH_POINT": "\(point):9"]).end().end }
        }
        #expect(try await BlockingPool.run { try dying.result().get() } == .killed(SIGKILL))
        for number in 0..<3 {
            try store.record(Twin("later \(number)", number))
            let count = try store.count()
            while try await answers.next() != count {}
        }
    }

    @Test func theLastElementIsTheFinalAnswerAndNoneIsTorn() async throws {
        let folder = try TemporaryDirectory()
        let seed = ProcessInfo.processInfo.environment["VELLUM_SEED"].flatMap(UInt64.init) ?? 7
        var random = SeededGenerator(seed: seed)
        let store: ArchiveStore<Twin> = try ArchivesFactory(directory: folder.url).store(diskLimit: .unlimited)
        let questions = (0..<10).map { number in
            let low = number == 0 ? 0 : Int.random(in: 0..<900, using: &random)
            let high = number == 0 ? 1000 : Int.random(in: low + 1...1000, using: &random)
            return Question(range: low..<high, limit: number % 3 == 2 ? Int.random(in: 1...10, using: &random) : nil)
        }
        let watchers = questions.map { _ in Watcher() }
        let tasks = zip(questions, watchers).map { question, watcher in
            Task { for try await twins in question.sequence(of: store) { watcher.take(twins, isWhole: question.limit == nil) } }
        }
        let count = Tally.count(1_000_000, sample: 1500)
        let leaves: ArchiveStore<Leaf> = try ArchivesFactory(directory: folder.url).store(diskLimit: Leaf.limit)
        let (low, seenLeaves) = (Int.random(in: 0..<500, using: &random), LastLeaves())
        let ofLeaves = Task {
            for try await some in leaves.observe(where: #Predicate { $0.number >= low }, sortedBy: [SortDescriptor(\.number)]) {
                seenLeaves.take(some)
            }
        }
        // On a thread of its own: waiting for processes blocks it.
        let writing = OnThread { Result { try Self.write(in: folder.url, seed, count) } }
        try await BlockingPool.run { try writing.result().get() }

        for (question, watcher) in zip(questions, watchers) {
            let final = try question.answer(of: store)
            while watcher.last != final { await Task.yield() }
            #expect(watcher.torn == 0, "seed \(seed), \(question)")
        }
        // Evicted by two processes, and gone at the end of their ages, until none is left that expires.
        while true {
            let final = try leaves.fetch(where: #Predicate { $0.number >= low }, sortedBy: [SortDescriptor(\.number)])
            if seenLeaves.last == final, !final.isEmpty { break }
            await Task.yield()
        }
        ofLeaves.cancel()
        try await ofLeaves.value
        print("FIGURES observed=\(watchers.reduce(0) { $0 + $1.elements }) writes=\(count) seed=\(seed)")
        for task in tasks { task.cancel() }
        for task in tasks { try await task.value }
        try store.close()
    }
}
