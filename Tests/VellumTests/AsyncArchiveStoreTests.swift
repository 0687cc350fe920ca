import Foundation
import Synchronization
import TestThreads
import Testing
import Vellum
import VellumCore

/// What is awaited does what its namesake does, and blocks no thread that runs tasks (decision 86).
@Suite(.ownThreads)
struct AsyncArchiveStoreTests {
    let temporary = TemporaryArchives()
    let users: ArchiveStore<User>

    init() throws { users = try temporary.factory.store() }

    private static let old = #Predicate<User> { $0.age > 30 }

    @Test func everyMethodDoesWhatItsNamesakeDoes() async throws {
        let async = users.async
        try await async.record(User(name: "ann", age: 31))
        try await async.record(contentsOf: [User(name: "bob", age: 20), User(name: "cid", age: 45)])
        #expect(try await async.recordIfAbsent(User(name: "ann")) == false)
        #expect(
            try await async.update(archiveWithKey: "bob") {
                $0?.age += 1; return 7
            } == 7
        )
        try await async.transaction { try $0.record(User(name: "dan", age: 50), in: users) }

        #expect(try await async.access(archiveWithKey: "bob") == User(name: "bob", age: 21))
        #expect(try await async.access(archiveWithKey: "eve") == nil)
        #expect(
            try await async.access(allKeys: ["ann", "eve"])
                == users.access(allKeys: ["ann", "eve"])
        )
        #expect(try await async.accessAll() == users.accessAll())
        #expect(try await async.contains(archiveWithKey: "ann"))
        #expect(try await async.metadata(forKey: "ann") == users.metadata(forKey: "ann"))
        #expect(try await async.keys() == users.keys())
        #expect(try await async.keys(prefix: "c") == ["cid"])
        #expect(try await async.count() == 4)
        #expect(try await async.encodedData(forKey: "ann") == users.encodedData(forKey: "ann"))
        #expect(try await async.cborValue(forKey: "ann") == users.cborValue(forKey: "ann"))
        #expect(try await async.undecodableKeys() == [])
        #expect(try await async.migrationProgress() == users.migrationProgress())
        #expect(try await async.indexProgress() == users.indexProgress())
        #expect(try await async.statistics().disk == users.statistics().disk)

        #expect(
            try await async.fetch(where: Self.old, sortedBy: [SortDescriptor(\.age)]).map(\.name)
                == ["ann", "cid", "dan"]
        )
        #expect(
            try await async.first(where: Self.old, sortedBy: [SortDescriptor(\.age)])?.name == "ann"
        )
        #expect(try await async.count(where: Self.old) == 3)
        #expect(try await async.exists(where: Self.old))
        #expect(try await async.explain(where: Self.old).results == 3)
        #expect(try await async.sum(of: \.age) == 147)
        #expect(try await async.average(of: \.age) == 36.75)
        #expect(try await async.min(of: \.age) == 21)
        #expect(try await async.max(of: \.name) == "dan")
        #expect(try await async.count(by: \.age) == [31: 1, 21: 1, 45: 1, 50: 1])

        #expect(try await async.delete(archiveWithKey: "eve") == false)
        #expect(try await async.delete(archiveWithKey: "ann"))
        #expect(try await async.delete(allKeys: ["bob", "eve"]) == 1)
        #expect(try await async.deleteAll(prefix: "c") == 1)
        #expect(try await async.deleteAll(where: Self.old) == 1)
        #expect(try await async.deleteAll(lastUsedBefore: .distantPast) == 0)
        #expect(try await async.deleteUndecodable() == 0)
        try await async.record(User(name: "ann"))
        try await async.deleteAll()
        #expect(try users.count() == 0)
        try await async.flush()
        try await async.close()
        let error = await #expect(throws: VellumError.self) {
            try await async.record(User(name: "ann"))
        }
        #expect(error?.code == .closed)
    }

    /// If a call suspended, the other task of the actor would run first.
    @Test @MainActor func aHitInMemoryIsAnsweredInPlace() async throws {
        try users.record(User(name: "ann"))
        var others = 0
        let other = Task { @MainActor in others += 1 }
        #expect(try await users.async.access(archiveWithKey: "ann") != nil)
        #expect(others == 0)
        await other.value
    }

    @Test func anErrorNamesTheArchiveAndTheFile() async throws {
        let parcels: ArchiveStore<Parcel> = try temporary.factory.store()
        let asked = await #expect(throws: VellumError.self) {
            try await parcels.async.record(.refusing("secret"))
        }
        let direct = #expect(throws: VellumError.self) { try parcels.record(.refusing("secret")) }
        #expect("\(asked as Any)" == "\(direct as Any)")
        #expect(asked?.code == .notEncodable)
    }

    @Test func classesThatAreNotSendableAreAwaited() async throws {
        let notes: ArchiveStore<Note> = try temporary.factory.store()
        try await notes.async.record(Note("a", text: "words"))
        #expect(try await notes.async.access(archiveWithKey: "a")?.text == "words")
        #expect(try await notes.async.accessAll().map(\.title) == ["a"])
    }

    // MARK: Task-locals, priority, cancellation

    @TaskLocal private static var request = 0

    @Test(arguments: [TaskPriority.high, .medium, .low, .background])
    func theClosureHasTheTaskLocalValuesAndThePriorityOfItsTask(priority: TaskPriority) async throws
    {
        let users = users
        let seen = try await Task(priority: priority) {
            try await Self.$request.withValue(7) {
                try await users.async.update(archiveWithKey: "ann") { _ in
                    (Self.request, Task.currentPriority)
                }
            }
        }.value
        #expect(seen.0 == 7)
        #expect(seen.1 >= priority)
    }

    @Test func aTaskThatWasCancelledDoesNothing() async throws {
        try users.record(User(name: "ann"))
        let users = users
        let calls: [@Sendable () async throws -> Void] = [
            { try await users.async.record(User(name: "bob")) },
            { try await users.async.delete(archiveWithKey: "ann") },
            { try await users.async.deleteAll() },
            { try await users.async.deleteAll(where: #Predicate { $0.age == 0 }) },
            { try await users.async.update(archiveWithKey: "ann") { $0?.age = 9 } },
            { _ = try await users.async.fetch() },
            { _ = try await users.async.keys() },
        ]
        for call in calls {
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await call()
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(try users.accessAll() == [User(name: "ann")])
        // What must be done all the same runs in `perform`.
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await users.perform { try $0.deleteAll() }
        }
        try await task.value
        #expect(try users.count() == 0)
    }

    @Test(arguments: [false, true])
    func aCancelledQueryStopsAfterOneMoreObject(readsAll: Bool) async throws {
        let store: ArchiveStore<Counted> = try temporary.factory.store()
        try store.record(contentsOf: (0..<500).map { Counted("\($0)") })
        store.trimMemory(to: 0.byte)
        let decoded = Counted.Decodes()
        let task = Task {
            try await Counted.$decodes.withValue(decoded) {
                readsAll
                    ? try await store.async.accessAll().count : try await store.async.fetch().count
            }
        }
        decoded.cancels = { task.cancel() }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(decoded.count <= Counted.Decodes.last + 1)
        // The next caller's query is not interrupted.
        #expect(try await store.async.fetch().count == 500)
    }

    /// One that waits in `perform` for the same store.
    @Test func aClosureThatWaitsForTheSameStoreEnds() async throws {
        let users = users
        try await users.perform { _ in
            let done = DispatchSemaphore(value: 0)
            Task {
                try await users.async.record(User(name: "ann"))
                _ = try await users.async.keys()
                done.signal()
            }
            done.wait()
        }
        #expect(try users.count() == 1)
    }

    @Test func callsThatAreAwaitedOneAfterAnotherTakeEffectInThatOrder() async throws {
        let users = users
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<20 {
                group.addTask {
                    for age in 1...20 {
                        try await users.async.record(User(name: "\(task)", age: age))
                        let found = try users.access(archiveWithKey: "\(task)")
                        #expect(found?.age == age)
                        if age % 5 == 0 { try await users.async.delete(archiveWithKey: "\(task)") }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try users.count() == 0)
    }

    // MARK: Batches

    private static func users(_ count: Int) -> [User] {
        (0..<count).map { User(name: "\($0)", age: $0) }
    }

    @Test(arguments: [(0, 10), (1, 10), (10, 10), (25, 10), (3, 1), (3, 0), (3, -5), (3, .max)])
    func aCollectionIsRecordedInBatches(count: Int, size: Int) async throws {
        let progress = Progress(totalUnitCount: 0)
        let recording = await users.async.record(
            contentsOf: Self.users(count),
            inBatchesOf: size,
            progress: progress
        )
        #expect(try recording.get() == count)
        #expect(progress.completedUnitCount == count)
        #expect(progress.totalUnitCount == count)
        #expect(try users.count() == count)
    }

    @Test func anAsynchronousSequenceIsRecordedInBatches() async throws {
        let stream = AsyncStream { continuation in
            for user in Self.users(25) { continuation.yield(user) }
            continuation.finish()
        }
        let recording = await users.async.record(contentsOf: stream, inBatchesOf: 10)
        #expect(try recording.get() == 25)
        #expect(try users.count() == 25)
    }

    /// All that was read is recorded, and the result says how many these are.
    @Test func anErrorOfTheSequenceEndsTheRecording() async throws {
        let stream = AsyncThrowingStream<User, any Error> { continuation in
            for user in Self.users(15) { continuation.yield(user) }
            continuation.finish(throwing: Refusal(words: "no more"))
        }
        let recording = await users.async.record(contentsOf: stream, inBatchesOf: 10)
        #expect(recording.recorded == 15)
        #expect(recording.failure is Refusal)
        #expect(try users.count() == 15)
    }

    @Test func aBatchThatFailsEndsTheRecording() async throws {
        let parcels: ArchiveStore<Parcel> = try temporary.factory.store()
        let objects = (0..<30).map { $0 == 17 ? Parcel.refusing("\($0)") : Parcel("\($0)") }
        let recording = await parcels.async.record(contentsOf: objects, inBatchesOf: 10)
        #expect(recording.recorded == 10)
        #expect((recording.failure as? VellumError)?.code == .notEncodable)
        #expect(try parcels.count() == 10)
    }

    /// Between two batches: whole batches are recorded.
    @Test(arguments: [false, true])
    func aCancelledRecordingEndsBetweenTwoBatches(byProgress: Bool) async throws {
        let (users, progress) = (users, Progress(totalUnitCount: 0))
        let stream = AsyncStream { continuation in
            for user in Self.users(100) { continuation.yield(user) }
            continuation.finish()
        }
        let task = Task {
            await users.async.record(
                contentsOf: stream.map { user in
                    if user.age == 25 {
                        if byProgress {
                            progress.cancel()
                        } else {
                            withUnsafeCurrentTask { $0?.cancel() }
                        }
                    }
                    return user
                },
                inBatchesOf: 10,
                progress: progress
            )
        }
        let recording = await task.value
        #expect(recording.failure is CancellationError)
        #expect(recording.recorded == 20)
        #expect(try users.count() == 20)
    }
}

/// An object that counts how often it is decoded in a task, and cancels it.
private struct Counted: Archivable {
    final class Decodes: Sendable {
        static let last = 10
        private let state = Mutex((count: 0, cancels: (@Sendable () -> Void)?.none))
        var count: Int { state.withLock { $0.count } }
        var cancels: (@Sendable () -> Void)? {
            get { state.withLock { $0.cancels } }
            set { state.withLock { $0.cancels = newValue } }
        }

        func decode() {
            blockUntil("the test says what cancels the query") { cancels != nil }
            let isLast = state.withLock { state in
                state.count += 1
                return state.count == Self.last
            }
            if isLast { cancels?() }
        }
    }

    static var archiveName: String { "counted decodes" }
    @TaskLocal static var decodes: Decodes?
    var primaryKey: String

    init(_ primaryKey: String) { self.primaryKey = primaryKey }

    func archive() throws -> Data { Data(primaryKey.utf8) }

    static func deArchive(fromData data: Data) throws -> any Archivable {
        decodes?.decode()
        return Counted(String(decoding: data, as: UTF8.self))
    }
}
