// The tests of the guide "Testing and previews", as a program has them.

import Foundation
import MiniCache
import Observation
import Testing
import Vellum
import VellumTesting

struct Item: ArchiveCodable, Sendable {
    var primaryKey: String { title }
    var title: String
    var isDone = false
}

/// What is tested. It gets its archive from outside.
struct Notebook: Sendable {
    let items: ArchiveStore<Item>

    init(_ factory: ArchivesFactory) throws {
        items = try factory.store(diskLimit: .unlimited)
    }

    func add(_ title: String) throws {
        try items.record(Item(title: title))
    }
}

@Test func anItemIsThere() throws {
    let notebook = try Notebook(.inMemory())
    try notebook.add("Water the plants")
    #expect(try notebook.items.count() == 1)
}

@MainActor @Observable final class ToDo {
    private let open: ArchiveResults<Item>
    var titles: [String] { open.value.map(\.title) }

    init(_ items: ArchiveStore<Item>) {
        open = ArchiveResults(
            items,
            where: #Predicate { !$0.isDone },
            sortedBy: [SortDescriptor(\.title)]
        )
    }
}

@MainActor @Test func theListHasWhatIsNotDone() async throws {
    let notebook = try Notebook(.inMemory())
    let list = ToDo(notebook.items)
    try notebook.add("Water the plants")
    try notebook.add("Buy milk")
    await notebook.items.observersSettled()
    #expect(list.titles == ["Buy milk", "Water the plants"])

    try notebook.items.record(Item(title: "Buy milk", isDone: true))
    await notebook.items.observersSettled()
    #expect(list.titles == ["Water the plants"])
}

typealias Rates = MiniCache<String, Double>

func rates(_ clock: TestClock) -> Rates {
    MiniCacheManager.inMemory(clock: clock.wallClock).cache(
        cacheName: "rates",
        cacheVersion: .custom("1"),
        maxAge: .minutes(10),
        keepExpiredFor: .seconds(86_400)
    )
}

@Test func aRateIsOldAfterTenMinutes() async throws {
    let clock = TestClock()
    let rates = rates(clock)
    try rates.set(1.08, forKey: "USD")
    await clock.advance(by: .seconds(599))
    #expect(try rates.value(forKey: "USD") == 1.08)
    await clock.advance(by: .seconds(1))
    #expect(try rates.value(forKey: "USD") == nil)
}

@Test func tenCallersAreOneLoad() async throws {
    let (rates, gate) = (rates(TestClock()), LoaderGate<Double>())
    let callers = (1...10).map { _ in
        Task {
            try await rates.value(forKey: "USD") { try await gate.load() }
        }
    }
    try await rates.waitForCallers(10)
    await gate.waitForCalls(1)
    gate.release(with: 1.08)
    for caller in callers { #expect(try await caller.value == 1.08) }
    #expect(gate.calls.count == 1)
}

@Test func anOldRateIsShownWhenTheBankIsSlow() async throws {
    let (clock, gate) = (TestClock(), LoaderGate<Double>())
    let rates = rates(clock)
    try rates.set(1.08, forKey: "USD")
    await clock.advance(by: .seconds(3600))
    let soon = LoadOptions(softTimeout: .milliseconds(200))
    async let rate = rates.load(
        "USD",
        staleIfError: .seconds(86_400),
        options: soon
    ) {
        try await gate.load()
    }
    await gate.waitForCalls()
    await clock.advance(by: .milliseconds(200))
    #expect(try await rate.source == .staleIfSlow)

    gate.release(with: 1.09)
    await clock.advance(by: .zero)
    #expect(try rates.value(forKey: "USD") == 1.09)
}

struct Offline: Error {}

@Test func anOldRateIsShownWhenTheBankIsDown() async throws {
    let clock = TestClock()
    let rates = rates(clock)
    try rates.set(1.08, forKey: "USD")
    await clock.advance(by: .seconds(3600))
    let day = Duration.seconds(86_400)
    let rate = try await rates.load("USD", staleIfError: day) {
        throw Offline()
    }
    #expect(rate.value == 1.08)
    #expect(rate.source == .staleIfError)
}

struct Bill: ArchiveCodable, VersionedArchive, Equatable, Sendable {
    var primaryKey: String { number }
    var number: String
    var client: String  // "customer" in version 0

    static var archiveVersion: Int { 1 }

    static func migrate(_ old: StoredObject) throws -> Migrated<Bill> {
        var value = try old.value()
        value["client"] = value.removeValue(forKey: "customer")
        return .object(try value.decode(Bill.self))
    }
}

@Test func aBillOfTheFirstVersionIsMigrated() throws {
    let bills: ArchiveStore<Bill> = try ArchivesFactory.inMemory().store()
    try bills.record(
        StoredObject(
            version: 0,
            key: "7",
            value: ["number": "7", "customer": "Ann"]
        )
    )
    let bill = try bills.access(archiveWithKey: "7")
    #expect(bill == Bill(number: "7", client: "Ann"))
}

@Test func aFullDiskKeepsWhatIsThere() throws {
    let faults = Faults()
    let notebook = try Notebook(.inMemory(faults: faults))
    try notebook.add("Water the plants")
    faults.fillDisk()
    let error = #expect(throws: VellumError.self) {
        try notebook.add("Buy milk")
    }
    #expect(error?.code == .diskFull)
    #expect(try notebook.items.count() == 1)
    faults.heal()
    try notebook.add("Buy milk")
}

@Test func anotherItemTellsNobody() async throws {
    let items = try Notebook(.inMemory()).items
    let milk = items.observe(archiveWithKey: "Buy milk")
    try await items.expectNoAnswer(from: milk) {
        try items.record(Item(title: "Water the plants"))
    }
}
