import Foundation
import Synchronization
import TestThreads
import Testing
import Vellum
import VellumTesting
import VellumEngine

/// An object that counts, with archivable properties and a version.
private struct Counter: ArchiveCodable, Equatable {
    static var archiveName: String { "Counter" }
    var primaryKey: String { id }
    var id: String
    var count = 0
}

private struct Order: ArchiveCodable {
    static var archiveName: String { "Order" }
    static var archivePropertyBehavior: ArchivePropertyBehavior { .replaceExisting }
    var primaryKey: String { id }
    var id: String
    var counter: Counter
}

@Suite(.ownThreads)
struct ArchiveStoreUpdatingTests {
    private let temporary = TemporaryArchives()
    private let counters: ArchiveStore<Counter>
    private let notes: ArchiveStore<Note>

    init() throws {
        counters = try temporary.factory.store()
        notes = try temporary.factory.store()
    }

    @discardableResult
    private func countUp(_ key: String, in store: ArchiveStore<Counter>? = nil) throws -> Int {
        try (store ?? counters).update(archiveWithKey: key) { counter in
            let next = (counter?.count ?? 0) + 1
            counter = Counter(id: key, count: next)
            return next
        }
    }

    private func code(_ body: () throws -> Void) -> VellumError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? VellumError)?.code
        }
    }

    // MARK: One caller

    @Test func anUpdateMakesChangesAndDeletes() throws {
        #expect(try countUp("a") == 1)
        #expect(try countUp("a") == 2)
        #expect(try counters.access(archiveWithKey: "a") == Counter(id: "a", count: 2))

        let old = try counters.update(archiveWithKey: "a") { counter in
            defer { counter = nil }
            return counter?.count
        }

        #expect(old == 2)
        #expect(try counters.count() == 0)
        try counters.update(archiveWithKey: "a") { #expect($0 == nil) }
        #expect(try counters.count() == 0)
    }

    @Test func anErrorOfTheClosureChangesNothing() throws {
        try countUp("a")
        #expect(throws: Refusal.self) {
            try counters.update(archiveWithKey: "a") { counter in
                counter?.count = 100
                throw Refusal(words: "never mind")
            }
        }
        #expect(try counters.access(archiveWithKey: "a")?.count == 1)
        // The turn is over.
        #expect(try countUp("a") == 2)
    }

    @Test func anObjectThatDidNotChangeIsNotWritten() throws {
        try countUp("a")
        let written = try counters.metadata(forKey: "a")?.written
        temporary.clock.advance(bySeconds: 10)
        try counters.update(archiveWithKey: "a") { $0?.count += 0 }
        #expect(try counters.metadata(forKey: "a")?.written == written)

        try counters.update(archiveWithKey: "a", expiration: .after(.seconds(60))) { _ in }
        #expect(
            try counters.metadata(forKey: "a")?.expires
                == temporary.clock.now.addingTimeInterval(60)
        )
    }

    @Test func anObjectOfAClassIsFreshAndEncodedAgain() throws {
        let note = Note("title", text: "old")
        try notes.record(note)
        try notes.update(archiveWithKey: "title") { present in
            #expect(present !== note)
            present?.text = "new"
        }
        #expect(note.text == "old")
        #expect(try notes.access(archiveWithKey: "title")?.text == "new")
        #expect(
            try temporary.anotherFactory().store(for: Note.self).access(archiveWithKey: "title")?
                .text == "new"
        )
    }

    @Test func anObjectWithAnotherKeyIsAnError() throws {
        try countUp("a")
        #expect(
            code { try counters.update(archiveWithKey: "a") { $0 = Counter(id: "b") } } == .otherKey
        )
        #expect(try counters.keys() == ["a"])
    }

    @Test func theAgeIsKeptUnlessOneIsGiven() throws {
        try counters.record(Counter(id: "a"), expiration: .after(.seconds(60)))
        temporary.clock.advance(bySeconds: 50)
        try countUp("a")
        #expect(
            try counters.metadata(forKey: "a")?.expires
                == temporary.clock.now.addingTimeInterval(10)
        )
        temporary.clock.advance(bySeconds: 10)
        // Expired is absent.
        #expect(try countUp("a") == 1)
        #expect(try counters.metadata(forKey: "a")?.expires == nil)
        try counters.update(archiveWithKey: "a", expiration: .after(.seconds(5))) { $0?.count = 7 }
        temporary.clock.advance(bySeconds: 5)
        #expect(try counters.access(archiveWithKey: "a") == nil)
    }

    @Test func aNewObjectHasTheAgeOfItsHandle() throws {
        let handle = try temporary.factory.store(
            for: Counter.self,
            expiration: .after(.seconds(60))
        )
        try countUp("a", in: handle)
        #expect(
            try counters.metadata(forKey: "a")?.expires
                == temporary.clock.now.addingTimeInterval(60)
        )
    }

    @Test func aSlidingAgeIsKept() throws {
        try counters.record(Counter(id: "a"), expiration: .unused(for: .seconds(60)))
        for count in 1...5 {
            temporary.clock.advance(bySeconds: 50)
            #expect(try countUp("a") == count)
        }
        temporary.clock.advance(bySeconds: 60)
        #expect(try counters.access(archiveWithKey: "a") == nil)
    }

    @Test func whatCannotBeDecodedIsNotOverwritten() throws {
        let parcels: ArchiveStore<Parcel> = try temporary.factory.store()
        try parcels.record(Parcel("a"))
        try parcels.close()
        let users: ArchiveStore<Stranger> = try temporary.factory.store()
        #expect(
            code { try users.update(archiveWithKey: "a") { $0 = Stranger(name: "a") } }
                == .notDecodable
        )
        #expect(code { try users.recordIfAbsent(Stranger(name: "a")) } == .notDecodable)
        try users.close()
        #expect(
            try temporary.factory.store(for: Parcel.self).access(archiveWithKey: "a") == Parcel("a")
        )
    }

    @Test func anUpdateThroughAClosedHandleIsAnError() throws {
        try counters.close()
        #expect(code { try countUp("a") } == .closed)
    }

    @Test(arguments: [true, false])
    func anUpdateWhoseClosureClosesTheHandleChangesNothing(isDeletion: Bool) throws {
        let other = try temporary.factory.store(for: Counter.self)
        try countUp("a")
        let result = code {
            try counters.update(archiveWithKey: "a") { counter in
                try counters.close()
                counter = isDeletion ? nil : Counter(id: "a", count: 7)
            }
        }
        #expect(result == .closed)
        #expect(try other.access(archiveWithKey: "a")?.count == 1)
    }

    @Test func anObjectOfAnOlderVersionIsMigratedUpdatedAndIndexed() throws {
        let old = try temporary.factory.store(for: Program0.Invoice.self)
        try old.record(Program0.Invoice(number: "1", customer: "ann", total: 5))
        try old.close()
        let invoices = try temporary.factory.store(for: Program1.Invoice.self)
        try invoices.update(archiveWithKey: "1") { invoice in
            invoice?.total += 1
            invoice?.client = "bob"
        }
        let expected = Program1.Invoice(number: "1", client: "bob", total: 6, currency: "CHF")
        #expect(try invoices.access(archiveWithKey: "1") == expected)
        #expect(try invoices.fetch(where: #Predicate { $0.client == "bob" }) == [expected])
        #expect(try invoices.fetch(where: #Predicate { $0.client == "ann" }) == [])
        // One that did not change is written in its new version, too.
        #expect(try temporary.factory.archives().map(\.version) == [1])
    }

    @Test func archivablePropertiesAreRecordedWithTheirObject() throws {
        let orders = try temporary.factory.store(for: Order.self)
        try orders.update(archiveWithKey: "1") {
            $0 = Order(id: "1", counter: Counter(id: "a", count: 3))
        }
        #expect(try counters.access(archiveWithKey: "a")?.count == 3)
        try orders.update(archiveWithKey: "1") { $0?.counter.count = 4 }
        #expect(try counters.access(archiveWithKey: "a")?.count == 4)
        // It stays as it is if the object does, and is not recorded if the object is not.
        #expect(
            try orders.recordIfAbsent(Order(id: "1", counter: Counter(id: "a", count: 9))) == false
        )
        #expect(try counters.access(archiveWithKey: "a")?.count == 4)
    }

    // MARK: Calls inside the closure

    @Test func aClosureThatWritesItsOwnKeyGetsAnError() throws {
        for call in [
            { try self.counters.record(Counter(id: "a")) },
            { try self.counters.delete(archiveWithKey: "a") },
            { try self.countUp("a") },
            {
                try self.temporary.factory.transaction {
                    try $0.record(Counter(id: "a"), in: self.counters)
                }
            },
        ] as [() throws -> Void] {
            #expect(
                code { try counters.update(archiveWithKey: "a") { _ in try call() } }
                    == .recursiveUpdate
            )
        }
        #expect(try counters.count() == 0)
        #expect(try countUp("a") == 1)
    }

    @Test func anErrorOfTheClosureIsPassedOnAsItIs() throws {
        let other = TemporaryArchives()
        let closed: ArchiveStore<Counter> = try other.factory.store()
        try closed.close()
        let error = #expect(throws: VellumError.self) {
            try counters.update(archiveWithKey: "a") { _ in try closed.delete(archiveWithKey: "a") }
        }
        #expect(error.map { "\($0)" }?.contains(other.factory.directory.path) == true)
        let own = #expect(throws: VellumError.self) {
            try counters.update(archiveWithKey: "a") { _ in
                throw VellumError(.cancelled, "Never mind.")
            }
        }
        #expect(own.map { "\($0)" }?.contains("Counter") == false)
    }

    @Test func aTransactionInsideMayReadTheKey() throws {
        try countUp("a")
        try counters.update(archiveWithKey: "a") { counter in
            try temporary.factory.transaction { transaction in
                let count = try transaction.access(archiveWithKey: "a", in: counters)?.count ?? 0
                try transaction.record(Counter(id: "b", count: count), in: counters)
            }
            counter?.count += 1
        }
        #expect(try counters.access(archiveWithKey: "b")?.count == 1)
    }

    @Test func aClosureMayReadItsKeyAndUpdateOthers() throws {
        let sum = try counters.update(archiveWithKey: "a") { counter in
            #expect(try counters.access(archiveWithKey: "a") == nil)
            counter = Counter(id: "a", count: try countUp("b"))
            try notes.record(Note("a"))
            return counter?.count
        }
        #expect(sum == 1)
        #expect(try counters.count() == 2)
    }

    @Test func aClosureThatIsOvertakenRunsAgainWithTheNewObject() throws {
        try countUp("a")
        let writer = try temporary.factory.store(for: Counter.self)
        var seen: [Int?] = []
        try counters.update(archiveWithKey: "a") { counter in
            seen.append(counter?.count)
            if seen.count == 1 {
                OnAnotherThread { try? writer.record(Counter(id: "a", count: 10)) }.wait()
            }
            if seen.count == 2 {
                OnAnotherThread { _ = try? writer.delete(archiveWithKey: "a") }.wait()
            }
            counter = Counter(id: "a", count: (counter?.count ?? 0) + 1)
        }
        #expect(seen == [1, 10, nil])
        #expect(try counters.access(archiveWithKey: "a")?.count == 1)
    }

    @Test func anUpdateThatIsOvertakenAgainAndAgainIsBusy() throws {
        var runs = 0
        let result = code {
            try counters.update(archiveWithKey: "a") { counter in
                runs += 1
                OnAnotherThread { [counters, runs] in
                    try? counters.record(Counter(id: "a", count: runs * 10))
                }.wait()
                counter = Counter(id: "a")
            }
        }
        #expect(result == .busy)
        #expect(runs == 64)
        #expect(try counters.access(archiveWithKey: "a")?.count == 640)
    }

    // MARK: Several callers

    @Test(arguments: [Durability.crashSafe, .relaxed])
    func noUpdateIsLostAmongThreads(durability: Durability) async throws {
        let temporary = TemporaryArchives()
        let times = LongRun.number(200, usually: 60)
        let stores = try (0..<3).map { _ in
            try temporary.anotherFactory(durability: durability).store(for: Counter.self)
        }
        let runs = Runs()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    // As long as a busy machine takes.
                    try await UpdateTurn.$patience.withValue(.never) {
                        try await stores[task % 3].perform { store in
                            try Self.countUp(times, in: store, runs)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let counts = try (0..<3).map { try stores[0].access(archiveWithKey: "\($0)")?.count ?? 0 }
        #expect(counts.reduce(0, +) == 8 * times)
        // They took turns, so that none lost a race to another of its key. One that memory answered
        // may have lost one of another key, once: relaxed ones, too, when their transaction was
        // committed between two of them.
        #expect((8 * times...16 * times).contains(runs.count))
    }

    private static func countUp(_ times: Int, in store: ArchiveStore<Counter>, _ runs: Runs) throws
    {
        for round in 0..<times {
            try store.update(archiveWithKey: "\(round % 3)") { counter in
                runs.add()
                counter = Counter(id: "\(round % 3)", count: (counter?.count ?? 0) + 1)
            }
        }
    }

    @Test func twoThatUpdateEachInsideTheOtherDoNotWaitForEachOther() async throws {
        let counters = counters
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (outer, inner) in [("a", "b"), ("b", "a")] {
                group.addTask {
                    try await counters.perform { store in
                        for _ in 0..<100 {
                            try store.update(archiveWithKey: outer) { counter in
                                try store.update(archiveWithKey: inner) {
                                    $0 = Counter(id: inner, count: ($0?.count ?? 0) + 1)
                                }
                                counter = Counter(id: outer, count: (counter?.count ?? 0))
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        // A closure that ran again counted again.
        #expect(
            try ["a", "b"].map { try counters.access(archiveWithKey: $0)?.count ?? 0 }.reduce(0, +)
                >= 200
        )
    }

    @Test func oneOfManyRecordsWhatIsAbsent() async throws {
        let counters = counters
        let recorded = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask {
                    try await counters.perform {
                        try $0.recordIfAbsent(Counter(id: "a", count: number))
                    }
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(recorded == 1)
        #expect(try counters.recordIfAbsent(Counter(id: "a")) == false)
    }

    @Test func anObjectThatIsOnlyInMemoryIsUpdated() throws {
        let store = try temporary.factory.store(
            for: Parcel.self,
            memoryLimit: 1.megaByte,
            diskLimit: DataSize(bytes: 100)
        )
        try store.record(Parcel("a", size: 1000))
        try store.update(archiveWithKey: "a") { parcel in
            #expect(parcel?.size == 1000)
            parcel?.size = 500
        }
        #expect(try store.access(archiveWithKey: "a")?.size == 500)
        try store.update(archiveWithKey: "a") { $0?.size = 50 }
        #expect(try store.access(archiveWithKey: "a")?.size == 50)
        #expect(
            try temporary.anotherFactory().store(for: Parcel.self).access(archiveWithKey: "a")?.size
                == 50
        )
    }
}

/// What another type takes for its own: an archive of the same name.
private struct Stranger: ArchiveCodable, Equatable {
    static var archiveName: String { Parcel.archiveName }
    var primaryKey: String { name }
    var name: String
}

/// Runs a closure on a thread of its own, which nothing else waits for.
private final class OnAnotherThread: Sendable {
    private let finished = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread { [finished] in
            body()
            finished.signal()
        }
    }

    func wait() { finished.wait() }
}

private final class Runs: Sendable {
    private let number = Atomic(0)
    var count: Int { number.load(ordering: .relaxed) }
    func add() { number.add(1, ordering: .relaxed) }
}
