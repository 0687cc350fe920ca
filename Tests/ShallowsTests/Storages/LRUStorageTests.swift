import Foundation
import Shallows
import TestThreads
import Testing
import VellumTestSupport

@Suite(.ownThreads)
struct LRUStorageTests {
    @Test(arguments: [
        (nil, MemoryPressure.warning, 50), (nil, .critical, 12), (0.25, .warning, 25),
        (0, .critical, 0), (9, .critical, 100),
        (-.nan, .warning, 50),
    ])
    func memoryIsGivenBackUnderPressure(
        _ fraction: Double?,
        _ pressure: MemoryPressure,
        _ left: Int
    ) async throws {
        let storage = try LRUStorage<Int, Int>(maxCount: 1000)
        if let fraction { storage.trimsUnderMemoryPressure(toFraction: fraction) }
        for key in 0..<100 { try await storage.set(key, forKey: key) }
        storage.release(under: pressure)
        #expect(storage.totals.entries == left)
        #expect(try await storage.retrieveIfPresent(forKey: 99) == (left == 0 ? nil : 99))
    }

    @Test func theLeastRecentlyUsedLeaves() async throws {
        let storage = try LRUStorage<Int, String>(maxCount: 2)
        for key in 1...2 { try await storage.set("\(key)", forKey: key) }
        _ = try await storage.retrieve(forKey: 1)
        try await storage.set("3", forKey: 3)
        #expect(try await storage.retrieveIfPresent(forKey: 2) == nil)
        #expect(try await storage.retrieve(forKey: 1) == "1")
        #expect(storage.totals == StorageUsage(entries: 2, bytes: 0))
    }

    @Test func bytesAreCountedAndOverwritesAdjustThem() async throws {
        let storage = try LRUStorage<String, Data>(maxBytes: 10)
        try await storage.set(Data(count: 6), forKey: "a")
        try await storage.set(Data(count: 2), forKey: "a")
        try await storage.set(Data(count: 8), forKey: "b")
        #expect(storage.totals == StorageUsage(entries: 2, bytes: 10))
        try await storage.set(Data(count: 1), forKey: "c")
        #expect(storage.totals == StorageUsage(entries: 2, bytes: 9))
    }

    @Test func replacingAValueEvictsNoOtherForTheOldOne() async throws {
        let storage = try LRUStorage<String, Data>(maxBytes: 10)
        try await storage.set(Data(count: 3), forKey: "a")
        try await storage.set(Data(count: 6), forKey: "b")
        try await storage.set(Data(count: 7), forKey: "b")
        #expect(try await storage.retrieve(forKey: "a").count == 3)
        #expect(storage.totals == StorageUsage(entries: 2, bytes: 10))
    }

    @Test func sizesThatExceedEveryMemoryDoNotOverflow() async throws {
        let storage = LRUStorage<Int, Int>(capacity: .unlimited) { _ in .max }
        for key in 0..<100 { try await storage.set(key, forKey: key) }
        #expect(storage.totals.entries == 1)
        #expect(try await storage.retrieve(forKey: 99) == 99)
    }

    @Test func aValueThatIsTooLargeEvictsNothingAndLeavesNoOldOne() async throws {
        let storage = try LRUStorage<String, Data>(maxBytes: 10)
        try await storage.set(Data(count: 4), forKey: "a")
        try await storage.set(Data(count: 4), forKey: "b")
        try await storage.set(Data(count: 11), forKey: "a")
        #expect(try await storage.retrieveIfPresent(forKey: "a") == nil)
        #expect(try await storage.retrieve(forKey: "b").count == 4)
    }

    @Test func aLimitThatHoldsNothingIsRefused() {
        let errors = [
            #expect(throws: ShallowsError.self) { try LRUStorage<String, Data>(maxCount: 0) },
            #expect(throws: ShallowsError.self) { try LRUStorage<String, Data>(maxBytes: -1) },
            #expect(throws: ShallowsError.self) {
                try LRUStorage<String, Data>(maxBytes: 0) { _ in 1 }
            },
        ]
        for error in errors {
            #expect(error?.code == .invalidLimit && error?.layer == "lru-storage-String:Data")
            #expect((error?.cause as? VellumError)?.code == .invalidLimit)
        }
    }

    @Test func valuesExpire() async throws {
        let clock = ManualClock()
        let storage = try LRUStorage<String, Int>(
            maxCount: 9,
            expiration: .after(.seconds(60)),
            clock: clock.wallClock
        )
        try await storage.set(1, forKey: "a")
        clock.advance(by: .seconds(59))
        #expect(try await storage.retrieve(forKey: "a") == 1)
        clock.advance(by: .seconds(1))
        #expect(try await storage.retrieveIfPresent(forKey: "a") == nil)
        #expect(storage.totals.entries == 0)
    }

    @Test func trimmingKeepsTheMostRecentlyUsed() async throws {
        let storage = try LRUStorage<Int, Data>(maxBytes: 100)
        for key in 1...10 { try await storage.set(Data(count: 10), forKey: key) }
        storage.trim(toBytes: 35)
        #expect(storage.totals == StorageUsage(entries: 3, bytes: 30))
        storage.trim(toCount: 1)
        #expect(try await storage.retrieve(forKey: 10).count == 10)
        storage.capacity = try Capacity(5)
        #expect(storage.totals.entries == 0)
    }

    @Test func aValueIsReleasedOutsideTheLock() async throws {
        let storage = try LRUStorage<Int, Nosy>(maxCount: 1)
        for key in 1...3 { try await storage.set(Nosy(storage), forKey: key) }
        #expect(storage.totals.entries == 1)
    }

    @Test func aKeyIsReleasedOutsideTheLock() async throws {
        let storage = try LRUStorage<NosyKey, Int>(maxCount: 2)
        for number in 1...3 { try await storage.set(number, forKey: NosyKey(number, storage)) }
        try await storage.set(4, forKey: NosyKey(3, storage))
        try await storage.remove(forKey: NosyKey(3, storage))
        #expect(storage.totals.entries == 1)
        try await storage.removeAll()
        #expect(storage.totals.entries == 0)
    }

    private final class NosyKey: Hashable, Sendable {
        private let number: Int
        private let look: @Sendable () -> Void

        init(_ number: Int, _ storage: LRUStorage<NosyKey, Int>) {
            self.number = number
            look = { [weak storage] in _ = storage?.totals }
        }

        deinit { look() }

        static func == (left: NosyKey, right: NosyKey) -> Bool { left.number == right.number }
        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    /// Looks at the storage when it goes.
    private final class Nosy: Sendable {
        private let look: @Sendable () -> Void

        init(_ storage: LRUStorage<Int, Nosy>) {
            look = { [weak storage] in _ = storage?.totals }
        }

        deinit { look() }
    }
}
