import Foundation
import Observation
import TestThreads
import Testing
import VellumTestSupport

@testable import Vellum
@testable import VellumEngine

/// The contract of observing, line by line: what an observer gets, and when.
@Suite(.ownThreads)
struct ObservingTests {
    struct Item: ArchiveCodable, Equatable, Sendable {
        var primaryKey: String { name }
        var name: String
        var number: Int
    }

    /// Without `Equatable`.
    struct Opaque: ArchiveCodable, Sendable {
        var primaryKey: String { name }
        var name: String
        var number: Int
    }

    let clock = ManualClock()
    let folder: TemporaryDirectory
    let factory: ArchivesFactory
    let items: ArchiveStore<Item>

    init() throws {
        folder = try TemporaryDirectory()
        factory = ArchivesFactory(directory: folder.url, clock: clock.wallClock)
        items = try factory.store()
    }

    // MARK: First, and each change

    @Test func theFirstElementIsWhatIsThere() async throws {
        try items.record(Item(name: "a", number: 1))
        var key = items.observe(archiveWithKey: "a").makeAsyncIterator()
        #expect(try await key.next() == Item(name: "a", number: 1))
        var all = items.observe().makeAsyncIterator()
        #expect(try await all.next() == [Item(name: "a", number: 1)])
        var count = items.observeCount().makeAsyncIterator()
        #expect(try await count.next() == 1)
        var none = items.observe(archiveWithKey: "b").makeAsyncIterator()
        #expect(try await none.next() == .some(nil))
    }

    @Test func eachKindOfChangeIsSeen() async throws {
        var answers = items.observe(sortedBy: [SortDescriptor(\.name)]).makeAsyncIterator()
        #expect(try await answers.next() == [])
        try items.record(Item(name: "a", number: 1))
        #expect(try await answers.next() == [Item(name: "a", number: 1)])
        try items.record(Item(name: "a", number: 2))
        #expect(try await answers.next() == [Item(name: "a", number: 2)])
        try items.record(contentsOf: [Item(name: "b", number: 1), Item(name: "c", number: 1)])
        #expect(try await answers.next()?.count == 3)
        try items.delete(archiveWithKey: "b")
        #expect(try await answers.next()?.map(\.name) == ["a", "c"])
        try items.deleteAll(where: #Predicate { $0.number == 1 })
        #expect(try await answers.next()?.map(\.name) == ["a"])
        try items.deleteAll()
        #expect(try await answers.next() == [])
    }

    @Test func anObjectWithAnotherKeyWakesNoObserverOfAKey() async throws {
        var answers = items.observe(archiveWithKey: "a").makeAsyncIterator()
        #expect(try await answers.next() == .some(nil))
        try items.record(Item(name: "b", number: 1))
        try items.record(Item(name: "a", number: 1))
        #expect(try await answers.next() == Item(name: "a", number: 1))
    }

    @Test func onlyTheLastStateIsPromised() async throws {
        var answers = items.observe(archiveWithKey: "a").makeAsyncIterator()
        _ = try await answers.next()
        for number in 1...500 { try items.record(Item(name: "a", number: number)) }
        var last = try await answers.next()
        while last??.number != 500 { last = try await answers.next() }
    }

    /// Equal if the names are.
    struct Named: ArchiveCodable, Equatable, Sendable {
        var primaryKey: String { name }
        var name: String
        var number: Double

        static func == (one: Named, other: Named) -> Bool { one.name == other.name }
    }

    @MainActor @Test func aChangeThatEqualityDoesNotSeeIsSeen() async throws {
        let store: ArchiveStore<Named> = try factory.store()
        var key = store.observe(archiveWithKey: "a").makeAsyncIterator()
        var all = store.observe().makeAsyncIterator()
        let (result, results) = (ArchiveResult(store, archiveWithKey: "a"), ArchiveResults(store))
        _ = (try await key.next(), try await all.next())
        for number in [1.0, 2, 3] {
            try store.record(Named(name: "a", number: number))
            #expect(try await key.next()??.number == number)
            #expect(try await all.next()?.map(\.number) == [number])
            await until("both models show the change") {
                result.value?.number == number && results.value.map(\.number) == [number]
            }
        }
    }

    /// No object with NaN is equal to itself.
    @Test(arguments: [1, Double.nan]) func anObjectThatWasNotWrittenIsNoOtherAnswer(
        _ number: Double
    ) throws {
        let store: ArchiveStore<Named> = try factory.store()
        func origins() throws -> [[EntryOrigin]] {
            let query = QueryDescription<Named>([.limit(1)])
            return [
                try store.store.observed("a").origins,
                try store.store.observed(query, undecodable: .fail) { false }.origins,
            ]
        }
        try store.record(Named(name: "a", number: number))
        let before = try origins()
        try store.record(Named(name: "b", number: number))
        #expect(try origins() == before)
        try store.record(Named(name: "a", number: number))
        #expect(try origins() == before)
        try store.record(Named(name: "a", number: 2))
        #expect(try zip(origins(), before).allSatisfy { $0 != $1 })
    }

    /// The same answer is not returned twice, also where objects cannot be compared.
    @Test func anEqualAnswerIsNotRepeated() async throws {
        var answers = items.observe(where: #Predicate { $0.number > 5 }).makeAsyncIterator()
        #expect(try await answers.next() == [])
        try items.record(Item(name: "a", number: 1))
        try items.record(Item(name: "b", number: 7))
        #expect(try await answers.next()?.map(\.name) == ["b"])
        let opaque: ArchiveStore<Opaque> = try factory.store()
        var others = opaque.observe(where: #Predicate { $0.number > 5 }).makeAsyncIterator()
        #expect(try await others.next()?.count == 0)
        try opaque.record(Opaque(name: "a", number: 1))
        try opaque.record(Opaque(name: "b", number: 7))
        #expect(try await others.next()?.map(\.name) == ["b"])
        try opaque.record(Opaque(name: "b", number: 8))
        #expect(try await others.next()?.map(\.number) == [8])
    }

    @Test func aTransactionIsSeenWhole() async throws {
        let opaque: ArchiveStore<Opaque> = try factory.store()
        var answers = items.observeCount().makeAsyncIterator()
        #expect(try await answers.next() == 0)
        try factory.transaction { transaction in
            for number in 0..<100 {
                try transaction.record(Item(name: "\(number)", number: number), in: items)
            }
            try transaction.record(Opaque(name: "a", number: 1), in: opaque)
        }
        #expect(try await answers.next() == 100)
        #expect(try opaque.count() == 1)
    }

    @Test func relaxedWritesOfThisProcessCountAtOnce() async throws {
        let relaxed: ArchiveStore<Item> = try ArchivesFactory(
            directory: folder.url.appending(path: "relaxed"),
            durability: .relaxed
        )
        .store()
        var answers = relaxed.observe(archiveWithKey: "a").makeAsyncIterator()
        #expect(try await answers.next() == .some(nil))
        try relaxed.record(Item(name: "a", number: 1))
        #expect(try await answers.next() == Item(name: "a", number: 1))
    }

    // MARK: Ages

    @Test func theEndOfAnAgeIsAChange() async throws {
        try items.record(Item(name: "a", number: 1), expiration: .after(.seconds(10)))
        let begin = clock.now
        var key = items.observe(archiveWithKey: "a").makeAsyncIterator()
        var all = items.observe().makeAsyncIterator()
        var count = items.observeCount().makeAsyncIterator()
        #expect(try await key.next() == Item(name: "a", number: 1))
        #expect(try await all.next()?.count == 1)
        #expect(try await count.next() == 1)
        await clock.waitForSleeper(until: begin.advanced(byMilliseconds: 10_000))
        clock.advance(by: .seconds(10))
        #expect(try await key.next() == .some(nil))
        clock.advance(by: .seconds(1))
        #expect(try await all.next() == [])
        #expect(try await count.next() == 0)
    }

    /// Too large for the disk, so only memory has it.
    @Test func theEndOfAnAgeOfAnObjectInMemoryIsAChange() async throws {
        let small: ArchiveStore<Item> = try ArchivesFactory(
            directory: folder.url.appending(path: "small"),
            clock: clock.wallClock
        )
        .store(memoryLimit: 1.megaByte, diskLimit: 1.kiloByte)
        try small.record(
            Item(name: String(repeating: "a", count: 4000), number: 1),
            expiration: .after(.seconds(10))
        )
        let begin = clock.now
        var all = small.observe().makeAsyncIterator()
        var count = small.observeCount().makeAsyncIterator()
        #expect(try await all.next()?.count == 1)
        #expect(try await count.next() == 1)
        let end = begin.advanced(byMilliseconds: 10_000)
        await until("both observers wait for the end of the age") {
            clock.sleeperCount >= 2 && clock.hasSleeper(until: end)
        }
        clock.advance(by: .seconds(10))
        #expect(try await all.next() == [])
        #expect(try await count.next() == 0)
    }

    @Test func observingIsNoUse() async throws {
        try items.record(Item(name: "a", number: 1), expiration: .unused(for: .seconds(10)))
        clock.advance(by: .seconds(9))
        var key = items.observe(archiveWithKey: "a").makeAsyncIterator()
        #expect(try await key.next() == Item(name: "a", number: 1))
        clock.advance(by: .seconds(2))
        #expect(try items.access(archiveWithKey: "a") == nil)
    }

    @Test func withoutAnAgeThereIsNoTimer() async throws {
        try items.record(Item(name: "a", number: 1))
        var all = items.observe().makeAsyncIterator()
        #expect(try await all.next()?.count == 1)
        try items.record(Item(name: "b", number: 1), expiration: .after(.seconds(10)))
        try items.delete(archiveWithKey: "b")
        try items.record(Item(name: "c", number: 1))
        while try await all.next()?.map(\.name) != ["a", "c"] {}
        #expect(clock.sleeperCount == 0)
    }

    // MARK: Where it runs, and what it holds

    /// Notes the threads on which it is decoded, and waits at a gate.
    struct Watched: ArchiveCodable, Sendable {
        static let decoding = Decoding()
        var primaryKey: String { name }
        var name: String

        init(name: String) { self.name = name }

        init(from decoder: any Decoder) throws {
            name = try decoder.container(keyedBy: CodingKeys.self).decode(
                String.self,
                forKey: .name
            )
            Self.decoding.note()
        }

        enum CodingKeys: CodingKey { case name }
    }

    final class Decoding: Sendable {
        private let state = Locked((count: 0, onOthers: 0, isOpen: true))

        var count: Int { state.withLock { $0.count } }
        var onOthers: Int { state.withLock { $0.onOthers } }

        func reset(isOpen: Bool) { state.withLock { $0 = (0, 0, isOpen) } }
        func open() { state.withLock { $0.isOpen = true } }

        func note() {
            let isPool = Lane.isCurrent
            state.withLock { state in
                state.count += 1
                if !isPool { state.onOthers += 1 }
            }
            blockUntil("the test lets objects be decoded") { state.withLock { $0.isOpen } }
        }
    }

    @Test func decodingRunsOnItsOwnThreadsAndEndsWithTheTask() async throws {
        let watched: ArchiveStore<Watched> = try factory.store(memoryLimit: 1.byte)
        for number in 0..<50 { try watched.record(Watched(name: "\(number)")) }
        Watched.decoding.reset(isOpen: true)
        var answers = watched.observe().makeAsyncIterator()
        #expect(try await answers.next()?.count == 50)
        #expect(Watched.decoding.count == 50)
        #expect(Watched.decoding.onOthers == 0)

        Watched.decoding.reset(isOpen: false)
        let task = Task { for try await _ in watched.observe() {} }
        await until("an object is being decoded") { Watched.decoding.count > 0 }
        task.cancel()
        Watched.decoding.open()
        try await task.value
        #expect(Watched.decoding.count <= 2)
    }

    @Test func anIteratorHoldsTheArchiveOpenAndASequenceNothing() async throws {
        try items.record(Item(name: "a", number: 1))
        let sequence = items.observe()
        #expect(items.store.observerCount == 0)
        var answers = sequence.makeAsyncIterator()
        #expect(try await answers.next()?.count == 1)
        #expect(items.store.observerCount == 1)
        let other = try factory.store(for: Item.self)
        try other.close()
        try items.record(Item(name: "b", number: 1))
        #expect(try await answers.next()?.count == 2)
    }

    /// More objects than one snapshot has.
    @Test func aLargeAnswerIsComplete() async throws {
        try items.record(contentsOf: (0..<5000).map { Item(name: "\($0)", number: 0) })
        var answers = items.observe().makeAsyncIterator()
        #expect(try await answers.next()?.count == 5000)
        try items.record(contentsOf: (0..<5000).map { Item(name: "\($0)", number: 1) })
        var last = try await answers.next() ?? []
        while last.contains(where: { $0.number == 0 }) { last = try await answers.next() ?? [] }
        #expect(last.count == 5000)
    }

    /// What only memory had is gone when memory evicts it.
    @Test func anEvictionFromTheLastPlaceIsAChange() async throws {
        let store: ArchiveStore<Item> = try ArchivesFactory(
            directory: folder.url.appending(path: "small")
        )
        .store(memoryLimit: 10.kiloByte, diskLimit: 2.kiloByte)
        for number in 0..<20 { try store.record(Item(name: "\(number)", number: number)) }
        var answers = store.observe(archiveWithKey: "0").makeAsyncIterator()
        #expect(try await answers.next() == Item(name: "0", number: 0))
        for number in 20..<2000 { try store.record(Item(name: "\(number)", number: number)) }
        #expect(try await answers.next() == .some(nil))
    }

    // MARK: The end

    @Test func closingEndsTheSequence() async throws {
        let items = items
        let asking = Task {
            var answers = items.observe().makeAsyncIterator()
            #expect(try await answers.next() == [])
            #expect(try await answers.next() == nil)
            // Whoever asks after it was closed.
            return try await answers.next()
        }
        await until("the task waits for the next answer") { observers.contains(where: \.isSettled) }
        try factory.close()
        #expect(try await asking.value == nil)
    }

    @Test func cancellingEndsTheSequence() async throws {
        let items = items
        let task = Task {
            var count = 0
            for try await _ in items.observe() { count += 1 }
            return count
        }
        await until("the loop waits for the second answer") {
            observers.contains(where: \.isSettled)
        }
        task.cancel()
        #expect(try await task.value == 1)
    }

    /// Those of the file.
    private var observers: [ChangeObserver] { items.fileAndArchive.file.observers() }

    @Test func aSuspendedFileIsWaitedFor() async throws {
        var answers = items.observe(archiveWithKey: "a").makeAsyncIterator()
        #expect(try await answers.next() == .some(nil))
        try factory.suspend()
        let next = Task { [answers] in
            var answers = answers
            return try await answers.next()
        }
        await until("the task asks for the next answer") { observers.contains(where: \.isAsking) }
        try factory.resume()
        try items.record(Item(name: "a", number: 1))
        #expect(try await next.value == Item(name: "a", number: 1))
    }

    /// A file that is deleted, or set aside, has no further answer; the archive that is opened in
    /// its place has.
    @Test(arguments: [false, true]) func aFileThatIsGoneEndsTheSequenceWithItsError(
        _ isSetAside: Bool
    ) async throws {
        try items.record(Item(name: "a", number: 1))
        var answers = items.observe().makeAsyncIterator()
        #expect(try await answers.next()?.count == 1)
        if isSetAside {
            try ChangesFile.retire(besides: folder.file("Archives.sqlite").path)
        } else {
            try FileManager.default.removeItem(at: folder.url)
        }
        var (end, number) = (VellumError?.none, 2)
        while end == nil {
            do {
                // Within 20 ms a file is not looked for again, so a record may still succeed.
                try items.record(Item(name: "a", number: number))
            } catch let error as VellumError {
                #expect(error.code == .vanished)
            }
            do {
                guard try await answers.next() != nil else { break }
            } catch let error as VellumError {
                end = error
            }
            number += 1
        }
        #expect(end?.code == .vanished)
        #expect(try await answers.next() == nil)
        let again: ArchiveStore<Item> = try ArchivesFactory(
            directory: folder.url,
            clock: clock.wallClock
        ).store()
        var others = again.observe(archiveWithKey: "c").makeAsyncIterator()
        #expect(try await others.next() == .some(nil))
        try again.record(Item(name: "c", number: 3))
        #expect(try await others.next() == Item(name: "c", number: 3))
    }

    /// Nobody in this process looks for the file, and whoever deleted it wakes nobody. The waiting
    /// thread looks when it wakes.
    @Test func aDeletedFileIsNoticedByTheWaitingThread() async throws {
        var answers = items.observe().makeAsyncIterator()
        #expect(try await answers.next() == [])
        try FileManager.default.removeItem(at: folder.url)
        let page = items.store.disk.file.location.changesFile.page
        // Until the thread has waited.
        let waking = Task {
            await until("the observer was told") {
                _ = page.beginWaiting()
                page.wakeWaiters()
                return Task.isCancelled
            }
        }
        do {
            _ = try await answers.next()
            Issue.record("There was an answer.")
        } catch let error as VellumError {
            #expect(error.code == .vanished)
        }
        waking.cancel()
        await waking.value
    }

    @Test func writingInTheLoopCannotDeadlock() async throws {
        var number = 0
        for try await item in items.observe(archiveWithKey: "a") {
            number = item?.number ?? 0
            if number == 5 { break }
            try items.record(Item(name: "a", number: number + 1))
        }
        #expect(number == 5)
    }

    /// Of the last handle on an archive as of any other, while the file stays open.
    @Test func aLoopOfAClosedArchiveEnds() async throws {
        let other = try factory.store(for: Opaque.self)
        let loop = Task { for try await _ in items.observeCount() {} }
        await until("the loop observes") { items.store.observerCount > 0 }
        try items.record(Item(name: "a", number: 1))
        try items.close()
        try await loop.value
        #expect(try other.count() == 0)
    }

    @Test func observersThatComeAndGoLeaveNothing() async throws {
        for _ in 0..<2000 {
            var answers = items.observe(archiveWithKey: "a").makeAsyncIterator()
            _ = try await answers.next()
        }
        #expect(items.store.observerCount == 0)
    }
}
