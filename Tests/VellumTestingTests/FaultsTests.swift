import Foundation
import MiniCache
import TestThreads
import Testing
import Vellum
import VellumTesting

/// What goes wrong when a test says so, and is well again afterwards.
@Suite(.ownThreads)
struct FaultsTests {
    let faults = Faults()

    private func notes() throws -> ArchiveStore<Note> {
        try ArchivesFactory.inMemory(faults: faults).store()
    }

    private func cache() -> MiniCache<String, Int> {
        MiniCacheManager.inMemory(faults: faults).cache(
            cacheName: "a",
            cacheVersion: .custom("1"),
            maxAge: .hours(1)
        )
    }

    /// What a fault does to records, and with which error.
    static let faultsOfRecords:
        [(name: String, begin: @Sendable (Faults) -> Void, code: VellumError.Code)] = [
            ("full", { $0.fillDisk() }, .diskFull), ("locked", { $0.lockFile() }, .busy),
            ("broken", { $0.fail() }, .inputOutput),
        ]

    @Test(arguments: 0..<faultsOfRecords.count) func aRecordFailsUntilItIsMended(
        _ number: Int
    ) throws {
        let fault = Self.faultsOfRecords[number]
        let notes = try notes()
        try notes.record(Note(title: "before"))
        fault.begin(faults)
        let error = #expect(throws: VellumError.self) { try notes.record(Note(title: "a")) }
        #expect(error?.code == fault.code, "\(fault.name)")
        #expect(faults.failedCalls > 0)
        faults.heal()
        try notes.record(Note(title: "b"))
        #expect(Set(try notes.keys()) == ["before", "b"])
    }

    /// As on a real disk.
    @Test func onAFullDiskDeletingSucceeds() throws {
        let notes = try notes()
        for number in 0..<300 { try notes.record(Note(title: "\(number)")) }
        faults.fillDisk()
        #expect(try notes.delete(archiveWithKey: "0"))
        #expect(try notes.deleteAll(prefix: "1") == 111)
        #expect(throws: VellumError.self) { try notes.record(Note(title: "a")) }
        #expect(try notes.count() == 188)
        try notes.deleteAll()
        #expect(throws: VellumError.self) { try notes.record(Note(title: "a")) }
        faults.heal()
        try notes.record(Note(title: "a"))
        #expect(try notes.keys() == ["a"])
    }

    @Test(arguments: 0..<faultsOfRecords.count) func aCacheReadsNothingElse(_ number: Int) throws {
        let fault = Self.faultsOfRecords[number]
        let cache = cache()
        try cache.set(1, forKey: "before")
        fault.begin(faults)
        #expect(throws: MiniCacheError.self) { try cache.set(2, forKey: "a") }
        cache["a"] = 3
        faults.heal()
        #expect(cache["before"] == 1)
        #expect(cache["a"] == nil)
    }

    /// An operation with a failure at each of its steps leaves the old object or the new one.
    @Test func eachStepOfARecordMayFail() throws {
        let notes = try notes()
        try notes.record(Note(title: "a", number: 0))
        var (number, isDone) = (1, false)
        for calls in 0..<200 where !isDone {
            let before = faults.failedCalls
            faults.fail(after: calls)
            do {
                try notes.record(Note(title: "a", number: number))
                isDone = faults.failedCalls == before
            } catch is VellumError {}
            faults.heal()
            notes.trimMemory(to: .zero)
            let found = try notes.access(archiveWithKey: "a")?.number
            #expect(found == number || found == number - 1)
            number = (found ?? 0) + 1
        }
        #expect(isDone && faults.failedCalls > 3)
    }

    @Test func aDamagedEntryIsAnErrorAndHidesNoOther() throws {
        let notes = try notes()
        try notes.record(contentsOf: [Note(title: "a"), Note(title: "b")])
        #expect(try notes.damage(archiveWithKey: "a"))
        #expect(try notes.damage(archiveWithKey: "none") == false)
        let error = #expect(throws: VellumError.self) { try notes.access(archiveWithKey: "a") }
        #expect(error?.code == .damagedEntry)
        #expect(try notes.access(archiveWithKey: "b") != nil)
        try notes.record(Note(title: "a"))
        #expect(try notes.access(archiveWithKey: "a") != nil)
        let cache = cache()
        try cache.set(1, forKey: "é")
        #expect(try cache.damage(forKey: "é"))
        #expect(throws: MiniCacheError.self) { try cache.value(forKey: "é") }
        #expect(cache["é"] == nil)
    }

    /// An archive is opened again by the program, a cache by itself.
    @Test func aFileThatVanishesIsNoticed() throws {
        let archives = ArchivesFactory.inMemory(faults: faults)
        let notes: ArchiveStore<Note> = try archives.store()
        try notes.record(Note(title: "a"))
        try faults.removeFiles()
        var noticed = 0
        // Within some milliseconds.
        try blockUntil("three records have found that the file is gone") {
            do {
                try notes.record(Note(title: "b"))
                #expect(noticed == 0)
            } catch let error as VellumError {
                #expect(error.code == .vanished)
                noticed += 1
            }
            return noticed == 3
        }
        let again: ArchiveStore<Note> = try archives.store()
        #expect(try again.count() == 0)
        try again.record(Note(title: "c"))
        let others = Faults()
        let cache: MiniCache<String, Int> = MiniCacheManager.inMemory(faults: others)
            .cache(cacheName: "a", cacheVersion: .custom("1"), maxAge: .hours(1))
        try cache.set(1, forKey: "a")
        try others.removeFiles()
        try cache.set(2, forKey: "b")
        #expect(try cache.value(forKey: "b") == 2)
    }

    @Test func thoseOfOneFactoryAreNotThoseOfAnother() throws {
        let (notes, others) = (
            try notes(), try ArchivesFactory.inMemory(faults: Faults()).store(for: Note.self)
        )
        faults.fillDisk()
        try others.record(Note(title: "a"))
        #expect(throws: VellumError.self) { try notes.record(Note(title: "a")) }
    }
}

/// Loaders that wait for the test, and objects as old programs recorded them.
@Suite(.ownThreads)
struct LoaderGateTests {
    let cache: MiniCache<String, Int> = MiniCacheManager.inMemory()
        .cache(cacheName: "a", cacheVersion: .custom("1"), maxAge: .hours(1))
    let gate = LoaderGate<Int>()

    @Test func manyCallersWaitForOneLoad() async throws {
        async let sum = withThrowingTaskGroup(of: Int.self) { group in
            let options = LoadOptions(loadTimeout: nil)
            for _ in 0..<50 {
                group.addTask {
                    try await cache.value(forKey: "a", options: options) {
                        try await gate.load("a")
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        try await cache.waitForCallers(50)
        await gate.waitForCalls()
        #expect(gate.calls == ["a"] && gate.waiting == ["a"])
        gate.release(with: 2)
        #expect(try await sum == 100)
        #expect(gate.waiting.isEmpty)
    }

    @Test func callsAreAnsweredByNameInOrderAndInAdvance() async throws {
        gate.release(with: 1)
        #expect(try await gate.load() == 1)
        gate.fail(with: Slow())
        await #expect(throws: Slow.self) { try await gate.load() }
        let (a, b) = (Task { try await gate.load("a") }, Task { try await gate.load("b") })
        await gate.waitForCalls(4)
        gate.release("b", with: 3)
        gate.fail("a", with: Slow())
        #expect(try await b.value == 3)
        await #expect(throws: Slow.self) { try await a.value }
        #expect(Set(gate.calls) == ["", "a", "b"])
    }

    /// Whoever has been counted can be answered.
    @Test func anAnswerByNameReachesEveryCallThatWasCounted() async throws {
        for round in 1...1000 {
            let call = Task { try await gate.load("\(round)") }
            await gate.waitForCalls(round)
            if round.isMultiple(of: 3) {
                gate.fail("\(round)", with: Slow())
            } else {
                gate.release("\(round)", with: round)
            }
            if round.isMultiple(of: 3) {
                await #expect(throws: Slow.self) { try await call.value }
            } else {
                #expect(try await call.value == round)
            }
        }
    }

    @Test func aTaskThatWasCancelledBeforeTakesNoAnswer() async throws {
        gate.release(with: 3)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await gate.load()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await gate.load() == 3)
    }

    @Test func aCancelledCallIsOver() async throws {
        let task = Task { try await gate.load() }
        await gate.waitForCalls()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(gate.waiting.isEmpty)
    }

    @Test func anObjectOfAnOldProgramIsMigrated() throws {
        let invoices: ArchiveStore<Invoice> = try ArchivesFactory.inMemory().store()
        try invoices.record(
            StoredObject(version: 0, key: "7", value: ["number": "7", "customer": "Ann"])
        )
        #expect(try invoices.access(archiveWithKey: "7") == Invoice(number: "7", client: "Ann"))
        #expect(try invoices.fetch(where: #Predicate { $0.client == "Ann" }).count == 1)
        // A program that is newer than this one.
        try invoices.record(StoredObject(version: 2, key: "8", value: ["number": "8"]))
        let error = #expect(throws: VellumError.self) { try invoices.access(archiveWithKey: "8") }
        #expect(error?.code == .newerVersion)
    }

    @Test func aValueOfAnOldProgramIsMigrated() throws {
        let invoices: MiniCache<Int, Invoice> = MiniCacheManager.inMemory()
            .cache(cacheName: "a", cacheVersion: .custom("1"), maxAge: .hours(1))
        try invoices.set(Invoice(number: "7", client: "Bob"), forKey: 7)
        try invoices.set(
            StoredObject(version: 0, key: "", value: ["number": "7", "customer": "Ann"]),
            forKey: 7
        )
        #expect(try invoices.value(forKey: 7) == Invoice(number: "7", client: "Ann"))
    }

    @Test(.patient) func noAnswerIsExpectedWhereNothingChanges() async throws {
        let notes: ArchiveStore<Note> = try ArchivesFactory.inMemory().store()
        try await notes.expectNoAnswer(from: notes.observe(archiveWithKey: "a")) {
            for number in 0..<50 { try notes.record(Note(title: "b", number: number)) }
        }
        await #expect(throws: UnexpectedAnswer.self) {
            try await notes.expectNoAnswer(from: notes.observe(archiveWithKey: "a")) {
                try notes.record(Note(title: "a"))
            }
        }
        try await cache.expectNoAnswer(from: cache.observe(forKey: "a")) {
            try cache.set(1, forKey: "b")
        }
        await #expect(throws: UnexpectedAnswer.self) {
            try await cache.expectNoAnswer(from: cache.observe(forKey: "a")) {
                try cache.set(1, forKey: "a")
            }
        }
        await #expect(throws: Slow.self) {
            try await notes.expectNoAnswer(from: notes.observeCount()) { throw Slow() }
        }
        await #expect(throws: UnexpectedAnswer.self) {
            try await notes.expectNoAnswer(from: AsyncStream<Int> { $0.finish() }) {}
        }
    }
}
