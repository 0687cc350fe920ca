import Dispatch
import Foundation
import Synchronization
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

/// Writes of tasks that wait for their turn are committed together, and each fails alone (decision
/// 86).
@Suite(.ownThreads)
struct WriteLaneTests {
    private let setup: Setup
    private let store: Store<Data>
    private let file: DatabaseFile

    init() throws {
        setup = try Setup()
        store = try setup.store()
        file = store.disk.file
    }

    private var commits: UInt64 { file.withWriter { $0.lasting.commits } ?? 0 }

    private static func record(
        _ key: EntryKey,
        _ count: Int = 10,
        in store: Store<Data>
    ) async throws {
        var transaction = StoreTransaction()
        try transaction.record(Data(1, count: count), forKey: key, in: store)
        try await transaction.commitInTurn()
    }

    /// Records in each of the stores, in one call.
    private static func record(
        _ key: EntryKey,
        _ count: Int,
        in stores: [Store<Data>]
    ) async throws {
        var transaction = StoreTransaction()
        for store in stores {
            try transaction.record(Data(1, count: count), forKey: key, in: store)
        }
        try await transaction.commitInTurn()
    }

    /// How many calls wait behind those that the lane has taken; `nil` if it has taken none.
    private static func waiting(_ file: DatabaseFile) -> Int? {
        let waiting = file.writes.waiting
        return waiting.threads == 1 ? waiting.count : nil
    }

    /// Holds the writer until so many calls wait behind the one that the lane has taken, and then
    /// runs `body` with it.
    private func holdingWriter(
        _ calls: [@Sendable () async throws -> Void],
        until isReady: @escaping @Sendable () -> Bool = { true },
        then body: @escaping @Sendable (Writer) throws(SQLiteError) -> Void = { _ in }
    ) async -> [(any Error)?] {
        let (file, isHeld, gate) = (file, Flag(), DispatchSemaphore(value: 0))
        Lane().start {
            file.withWriter { writer in
                isHeld.set()
                gate.wait()
                do throws(SQLiteError) { try body(writer) } catch { Issue.record(error) }
                return true
            }
        }
        await until("the writer is held") { isHeld.isSet }
        var tasks: [Task<(any Error)?, Never>] = []
        for (number, call) in calls.enumerated() {
            tasks.append(
                Task {
                    do {
                        try await call()
                        return nil
                    } catch {
                        return error
                    }
                }
            )
            // In their order, the first alone: the lane has taken it.
            await until("\(number) calls wait behind the first") { Self.waiting(file) == number }
        }
        await until("all calls wait") { isReady() && Self.waiting(file) == calls.count - 1 }
        gate.signal()
        var errors: [(any Error)?] = []
        for task in tasks { errors.append(await task.value) }
        return errors
    }

    @Test(arguments: [(1, 1), (2, 2), (9, 2), (65, 2), (66, 3), (130, 4)])
    func whatWaitsIsCommittedTogether(calls: Int, commits expected: UInt64) async throws {
        let (store, before) = (store, commits)
        let errors = await holdingWriter(
            (0..<calls).map { number in
                { try await Self.record(EntryKey("\(number)"), in: store) }
            }
        )
        #expect(errors.compactMap { $0 }.isEmpty)
        #expect(commits - before == expected)
        for number in 0..<calls {
            #expect(try store.value(forKey: EntryKey("\(number)")) == Data(1, count: 10))
        }
        #expect(try store.count() == calls)
    }

    @Test func aMegabyteIsCommittedAtMost() async throws {
        let (store, before) = (store, commits)
        let errors = await holdingWriter(
            (0..<7).map { number in
                { try await Self.record(EntryKey("\(number)"), 400_000, in: store) }
            }
        )
        #expect(errors.compactMap { $0 }.isEmpty)
        #expect(commits - before == 3)
        #expect(try store.count() == 7)
    }

    /// One of ten is refused when it is carried out, and what it has written before is undone.
    @Test(arguments: [false, true])
    func aCallThatIsRefusedLeavesTheOthersAsTheyAre(isTooLarge: Bool) async throws {
        let other = try setup.store("other", memory: 1.byte, disk: 1000.byte)
        let store = store
        let errors = await holdingWriter(
            (0..<10).map { number in
                {
                    let stores = number == 5 ? [store, other] : [store]
                    try await Self.record(EntryKey("\(number)"), 500, in: stores)
                }
            },
            then: { (writer) throws(SQLiteError) in
                if isTooLarge {
                    // As another process would do it while the call waits.
                    _ = try writer.transaction { (transaction) throws(SQLiteError) in
                        try transaction.edit(of: other.disk.archive).state.totals.limit.bytes = 100
                    }
                } else {
                    other.disk.archive.isListed = false
                }
            }
        )
        other.disk.archive.isListed = true
        for (number, error) in errors.enumerated() {
            #expect(
                (error as? VellumError)?.code
                    == (number == 5 ? isTooLarge ? .tooLarge : .closed : nil)
            )
        }
        #expect(try store.count() == 9)
        #expect(try store.value(forKey: "5") == nil)
        #expect(try store.value(forKey: "9")?.count == 500)
    }

    // MARK: Cancellation

    @Test func aCallThatIsCancelledBeforeItsTurnChangesNothing() async throws {
        let (store, file) = (store, file)
        let isCancelled = Flag()
        let errors = await holdingWriter(
            [
                { try await Self.record("a", in: store) },
                {
                    let cancelled = Task { try await Self.record("b", in: store) }
                    await until("the call waits that is cancelled") {
                        file.writes.waiting.count == 1
                    }
                    cancelled.cancel()
                    await #expect(throws: CancellationError.self) { try await cancelled.value }
                    isCancelled.set()
                    try await Self.record("c", in: store)
                },
            ],
            until: { isCancelled.isSet }
        )
        #expect(errors.compactMap { $0 }.isEmpty)
        #expect(isCancelled.isSet)
        #expect(try store.keys().sorted { $0.normalized < $1.normalized } == ["a", "c"])
    }

    @Test func aCallThatIsCancelledAfterwardsReturnsItsResult() async throws {
        let (store, isCancelled) = (store, Flag())
        try store.record(Data(1, count: 1), forKey: "a")
        let errors = await holdingWriter(
            [
                {
                    let task = Task { () -> [Bool] in
                        var transaction = StoreTransaction()
                        transaction.remove("a", in: store)
                        return try await transaction.commitInTurn()
                    }
                    await until("the lane has taken the call") {
                        Self.waiting(store.disk.file) == 0
                    }
                    task.cancel()
                    isCancelled.set()
                    let removed = try await task.value
                    #expect(removed == [true])
                }
            ],
            until: { isCancelled.isSet }
        )
        #expect(errors[0] == nil)
        #expect(try store.count() == 0)
    }

    /// No call is lost, whenever it is cancelled, and each has done what it says.
    @Test func tenThousandCallsAreCancelledAtRandomMoments() async throws {
        let store = store
        let seed = UInt64.random(in: 0 ... .max)
        // Of each caller.
        let calls = LongRun.number(200, usually: 40)
        let counts = try await withThrowingTaskGroup(of: (done: Int, cancelled: Int).self) {
            group in
            for caller in 0..<50 {
                group.addTask {
                    var (random, counts) = (
                        SeededGenerator(seed: seed &+ UInt64(caller)), (done: 0, cancelled: 0)
                    )
                    for number in 0..<calls {
                        let key = EntryKey("\(caller) \(number)")
                        let task = Task { try await Self.record(key, in: store) }
                        // At once, a little later, or when it has probably begun. Nothing depends
                        // on it.
                        switch Int.random(in: 0..<8, using: &random) {
                        case 0..<3: break
                        case 3..<6: await Task.yield()
                        default: await pause()
                        }
                        if number % 4 > 0 { task.cancel() }
                        let isThere: Bool
                        switch await task.result {
                        case .success:
                            counts.done += 1
                            isThere = true
                        case .failure(let error):
                            #expect(error is CancellationError && number % 4 > 0, "seed \(seed)")
                            counts.cancelled += 1
                            isThere = false
                        }
                        let isFound = try store.contains(key)
                        #expect(isFound == isThere, "seed \(seed)")
                    }
                    return counts
                }
            }
            return try await group.reduce(into: (done: 0, cancelled: 0)) {
                $0 = ($0.done + $1.done, $0.cancelled + $1.cancelled)
            }
        }
        #expect(counts.done + counts.cancelled == 50 * calls)
        #expect(counts.done >= 50 * calls / 4)
        #expect(try store.count() == counts.done)
        #expect(file.writes.waiting.count == 0)
    }

    // MARK: What else happens to a file

    @Test func callsThatWaitWhileTheFileIsSuspendedThrow() async throws {
        let (store, file) = (store, file)
        try file.suspend()
        let error = await #expect(throws: VellumError.self) {
            try await Self.record("a", in: store)
        }
        #expect(error?.code == .suspended)
        try file.resume()
        try await Self.record("a", in: store)
        #expect(try store.count() == 1)
    }

    @Test func relaxedAndSafeWritesOfOneFileWaitTogether() async throws {
        let (store, relaxed) = (store, try setup.store("relaxed", durability: .relaxed))
        let safe = try setup.store("safe", durability: .powerSafe)
        let stores = [store, relaxed, safe]
        let errors = await holdingWriter(
            (0..<12).map { number in
                { try await Self.record(EntryKey("\(number)"), in: stores[number % 3]) }
            }
        )
        #expect(errors.compactMap { $0 }.isEmpty)
        for store in stores { #expect(try store.count() == 4) }
    }

    /// Observers are told of each once, as of a commit of its own.
    @Test func observersAreToldOfEachCall() async throws {
        let store = store
        var events = store.events.events().makeAsyncIterator()
        let errors = await holdingWriter(
            (0..<5).map { number in { try await Self.record(EntryKey("\(number)"), in: store) } }
        )
        #expect(errors.compactMap { $0 }.isEmpty)
        var keys: Set<String> = []
        for _ in 0..<5 { if case .recorded(let key) = await events.next() { keys.insert(key) } }
        #expect(keys == ["0", "1", "2", "3", "4"])
    }
}
