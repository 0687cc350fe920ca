import CrashScript
import Foundation
import TestThreads
import Testing
import Vellum
import VellumCore
import VellumEngine
import VellumTestSupport

/// Observers of what two other processes change, one of which is killed again and again.
@Suite(.ownThreads(.longSuite))
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

        func sequence(
            of store: ArchiveStore<Twin>
        ) -> some AsyncSequence<[Twin], VellumError>
            & Sendable
        {
            let (low, high) = (range.lowerBound, range.upperBound)
            return store.observe(
                where: #Predicate { $0.number >= low && $0.number < high },
                sortedBy: [SortDescriptor(\.number), SortDescriptor(\.name)],
                limit: limit
            )
        }

        func answer(of store: ArchiveStore<Twin>) throws -> [Twin] {
            let (low, high) = (range.lowerBound, range.upperBound)
            return try store.fetch(
                where: #Predicate { $0.number >= low && $0.number < high },
                sortedBy: [SortDescriptor(\.number), SortDescriptor(\.name)],
                limit: limit
            )
        }
    }

    /// One process writes to its end, and others are killed meanwhile.
    private static func write(in folder: URL, _ seed: UInt64, _ count: Int) throws {
        var random = SeededGenerator(seed: seed &+ 1_000_000)
        let staying = try Spawned(["twins", folder.path, "\(seed)", "\(count)"])
        #expect(staying.line() == "begins")
        for number in 0..<Tally.count(300, sample: 4) {
            let child = try Spawned([
                "twins", folder.path, "\(seed &+ UInt64(number) &+ 1)", "1000000",
            ])
            #expect(child.line() == "begins")
            child.kill(afterMicroseconds: Int.random(in: 0...60_000, using: &random))
            #expect(child.end().end == .killed(SIGKILL))
        }
        #expect(staying.end().end == .exited(0))
    }

    /// A writer that is killed between announcing a change and ending it is waited for once, and
    /// later changes are seen.
    @Test(arguments: ["changeNumbered", "changesWritten", "changesAnnounced", "committed"])
    func aWriterThatIsKilledInACommitHidesNoLaterChange(_ point: String) async throws {
        let folder = try TemporaryDirectory()
        let store: ArchiveStore<Twin> = try ArchivesFactory(directory: folder.url).store(
            diskLimit: .unlimited
        )
        var answers = store.observeCount().makeAsyncIterator()
        #expect(try await answers.next() == 0)
        let dying = OnThread {
            Result {
                try Spawned(
                    ["twins", folder.url.path, "7", "1000"],
                    environment: ["VELLUM_CRASH_POINT": "\(point):9"]
                ).end().end
            }
        }
        #expect(try await Lane.visits.run { try dying.result().get() } == .killed(SIGKILL))
        for number in 0..<3 {
            try store.record(Twin("later \(number)", number))
            let count = try store.count()
            while try await answers.next() != count {}
        }
    }

    /// The steps of a commit; `nil`: nobody writes.
    private static let steps: [CrashPoint?] = [
        nil, .begun, .writeApplied, .totalsStored, .changeNumbered, .changesWritten,
        .changesAnnounced, .committed, .changesFinished,
        .memoryUpdated,
    ]

    /// Each step, both ways or in turns.
    private static let stillAndKilled: [(CrashPoint?, Bool)] = {
        let isWhole = LongRun.number(1, usually: 0) == 1
        var cases: [(CrashPoint?, Bool)] = []
        for (number, step) in steps.enumerated() {
            for isFirst in [false, true] where isWhole || isFirst == (number % 2 == 1) {
                cases.append((step, isFirst))
            }
        }
        return cases
    }()

    /// A consumer of the value of a key, or of the number of values, until it is at least 1 or 2.
    private static func observer(
        _ number: Int,
        in store: Store<CrashScript.Item>,
        _ keys: [String]
    ) async -> Task<Bool, any Error> {
        if number % 4 == 3 {
            let count = ObservedQuestion(store.observer(), in: store) {
                (isCancelled) throws(VellumError) in
                try store.observedCount(
                    QueryDescription(),
                    undecodable: .fail,
                    isCancelled: isCancelled
                )
            }
            _ = await count.next()
            return Task {
                while let answer = await count.next() { if try answer.get() >= 2 { return true } }
                return false
            }
        }
        let key = EntryKey(keys[number % 4])
        let value = ObservedQuestion(store.observer(of: key), in: store) { _ throws(VellumError) in
            try store.observed(key)
        }
        _ = await value.next()
        return Task {
            while let answer = await value.next() {
                if try answer.get()?.version == 1 { return true }
            }
            return false
        }
    }

    private static func haveHeard(_ observers: [Task<Bool, any Error>]) async throws -> Bool {
        try await withTaskCancellationHandler {
            for observer in observers where try await !observer.value { return false }
            return true
        } onCancel: {
            for observer in observers { observer.cancel() }
        }
    }

    /// Three processes write. One has acknowledged its write, one is killed when it has committed
    /// and stays a zombie, and one stands still in a commit: what the first two have written is
    /// heard meanwhile, by 34 observers, and what the third writes when it goes on.
    ///
    /// - Parameter isKilledFirst: Whether the first one writes after the second was killed, and so
    ///   ends its announcement.
    @Test(arguments: stillAndKilled)
    func aWriterThatStandsStillOrIsAZombieHidesNothing(
        _ step: CrashPoint?,
        isKilledFirst: Bool
    ) async throws {
        let folder = try TemporaryDirectory()
        let archives = try SharedArchives(in: folder.url.path)
        let store = try archives.store(.safe)
        let writers = try (0..<3).map { _ in try Spawned(["obey", folder.url.path]) }
        defer { for writer in writers { _ = writer.kill() } }
        // They have opened the file.
        for writer in writers { #expect(writer.ask("read safe nothing") == "-1") }
        let keys = ["acknowledged", "killed", "still"]
        var observers: [Task<Bool, any Error>] = []
        for number in 0..<34 { observers.append(await Self.observer(number, in: store, keys)) }

        #expect(writers[1].ask("stop committed") == "done")
        if !isKilledFirst { #expect(writers[0].ask("put safe acknowledged 1") == "done") }
        #expect(writers[1].send("put safe killed 1"))
        writers[1].waitUntilStopped()
        writers[1].killUnreaped()
        if isKilledFirst { #expect(writers[0].ask("put safe acknowledged 1") == "done") }
        if let step {
            #expect(writers[2].ask("stop \(step.rawValue)") == "done")
            #expect(writers[2].send("put safe still 1"))
            writers[2].waitUntilStopped()
        }
        #expect(
            try await Self.haveHeard(observers.indices.filter { $0 % 4 != 2 }.map { observers[$0] })
        )
        if step == nil {
            #expect(writers[2].send("put safe still 1"))
        } else {
            writers[2].proceed()
        }
        #expect(writers[2].line() == "done")
        #expect(try await Self.haveHeard(observers))
        try archives.file.close()
    }

    @Test func theLastElementIsTheFinalAnswerAndNoneIsTorn() async throws {
        let folder = try TemporaryDirectory()
        let seed = ProcessInfo.processInfo.environment["VELLUM_SEED"].flatMap(UInt64.init) ?? 7
        var random = SeededGenerator(seed: seed)
        let store: ArchiveStore<Twin> = try ArchivesFactory(directory: folder.url).store(
            diskLimit: .unlimited
        )
        let questions = (0..<10).map { number in
            let low = number == 0 ? 0 : Int.random(in: 0..<900, using: &random)
            let high = number == 0 ? 1000 : Int.random(in: low + 1...1000, using: &random)
            return Question(
                range: low..<high,
                limit: number % 3 == 2 ? Int.random(in: 1...10, using: &random) : nil
            )
        }
        let watchers = questions.map { _ in Watcher() }
        let tasks = zip(questions, watchers).map { question, watcher in
            Task {
                for try await twins in question.sequence(of: store) {
                    watcher.take(twins, isWhole: question.limit == nil)
                }
            }
        }
        let count = Tally.count(1_000_000, sample: 600)
        let leaves: ArchiveStore<Leaf> = try ArchivesFactory(directory: folder.url).store(
            diskLimit: Leaf.limit
        )
        let (low, seenLeaves) = (Int.random(in: 0..<500, using: &random), LastLeaves())
        let ofLeaves = Task {
            for try await some in leaves.observe(
                where: #Predicate { $0.number >= low },
                sortedBy: [SortDescriptor(\.number)]
            ) {
                seenLeaves.take(some)
            }
        }
        // On a thread of its own: waiting for processes blocks it.
        let writing = OnThread { Result { try Self.write(in: folder.url, seed, count) } }
        try await Lane.visits.run { try writing.result().get() }

        for (question, watcher) in zip(questions, watchers) {
            let final = try question.answer(of: store)
            await until("the observer has the final answer") { watcher.last == final }
            #expect(watcher.torn == 0, "seed \(seed), \(question)")
        }
        // Evicted by two processes, and gone at the end of their ages, until none is left that
        // expires.
        try await until("the observer has the leaves that are left") {
            let final = try leaves.fetch(
                where: #Predicate { $0.number >= low },
                sortedBy: [SortDescriptor(\.number)]
            )
            return seenLeaves.last == final && !final.isEmpty
        }
        ofLeaves.cancel()
        try await ofLeaves.value
        print(
            """
            FIGURES observed=\(watchers.reduce(0) { $0 + $1.elements }) writes=\(count) seed=\(seed)
            """
        )
        for task in tasks { task.cancel() }
        for task in tasks { try await task.value }
        try store.close()
    }
}
