import Foundation
import Shallows
import TestThreads
import Testing
import VellumTestSupport

@Suite(.ownThreads)
struct ExpiringTests {
    private let clock = ManualClock()

    @Test func bytesAreGoneAfterTheirAge() async throws {
        let memory = MemoryStorage<String, Data>()
        let storage = memory.asStorage().expiring(after: .seconds(60), clock: clock.wallClock)
        try await storage.set(Data([1, 2, 3]), forKey: "a")
        clock.advance(by: .seconds(59))
        let value = try await storage.retrieve(forKey: "a")
        #expect(value == Data([1, 2, 3]))
        #expect(value.startIndex == 0)
        #expect(memory.storage["a"]?.count == 15)
        clock.advance(by: .seconds(1))
        #expect(try await storage.retrieveIfPresent(forKey: "a") == nil)
        try await storage.set(Data(), forKey: "a")
        #expect(try await storage.retrieve(forKey: "a") == Data())
    }

    @Test func bytesOfNoKnownAgeAreGone() async throws {
        let memory = MemoryStorage<String, Data>(storage: [
            "short": Data([1]), "long": Data(repeating: 7, count: 100), "empty": Data(),
        ])
        let storage = memory.asStorage().expiring(after: .seconds(60), clock: clock.wallClock)
        for key in memory.storage.keys {
            #expect(try await storage.retrieveIfPresent(forKey: key) == nil)
        }
    }

    /// P19: the clock was moved back.
    @Test func bytesFromTheFutureAreGone() async throws {
        let storage = MemoryStorage<String, Data>().asStorage().expiring(
            after: .seconds(60),
            clock: clock.wallClock
        )
        clock.advance(by: .seconds(3600))
        try await storage.set(Data([1]), forKey: "a")
        clock.advance(by: .seconds(-3600))
        #expect(try await storage.retrieveIfPresent(forKey: "a") == nil)
    }

    @Test func valuesWithDatesOfTheirOwnStorageAreGoneAfterTheirAge() async throws {
        let (values, dates) = (MemoryStorage<String, Int>(), MemoryStorage<String, Date>())
        let storage = values.asRemovableStorage().expiring(
            after: .seconds(60),
            datedBy: dates.asRemovableStorage(),
            clock: clock.wallClock
        )
        try await storage.set(1, forKey: "a")
        try await storage.set(2, forKey: "b")
        #expect(try await storage.retrieve(forKey: "a") == 1)
        try await storage.remove(forKey: "b")
        #expect(dates.storage.keys.sorted() == ["a"])
        clock.advance(by: .seconds(60))
        #expect(try await storage.retrieveIfPresent(forKey: "a") == nil)
        values.storage["c"] = 3
        #expect(try await storage.retrieveIfPresent(forKey: "c") == nil)
    }

    @Test func aValueThatIsGoneIsRetrievedFromTheNextLayerAndTakesItsPlace() async throws {
        let memory = MemoryStorage<String, Int>().expiring(
            after: .seconds(60),
            clock: clock.wallClock
        )
        let back = MemoryStorage<String, Int>(storage: ["a": 1])
        let storage = memory.combined(with: back)
        #expect(try await storage.retrieve(forKey: "a") == 1)
        back.storage["a"] = 2
        #expect(try await storage.retrieve(forKey: "a") == 1)
        clock.advance(by: .seconds(60))
        #expect(try await storage.retrieve(forKey: "a") == 2)
        #expect(try await memory.retrieve(forKey: "a") == 2)
    }

    /// P20: a negative duration, such as that to a date in the past.
    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func withANegativeAgeAValueHasExpiredAtOnce(_ age: Duration) async throws {
        let storage = MemoryStorage<String, Data>().asStorage().expiring(
            after: age,
            clock: clock.wallClock
        )
        try await storage.set(Data(), forKey: "a")
        await #expect { try await storage.retrieve(forKey: "a") } throws: { $0 is any StorageMiss }
        let dated = MemoryStorage<String, Int>().expiring(after: age)
        try await dated.set(1, forKey: "a")
        await #expect { try await dated.retrieve(forKey: "a") } throws: { $0 is any StorageMiss }
    }
}
