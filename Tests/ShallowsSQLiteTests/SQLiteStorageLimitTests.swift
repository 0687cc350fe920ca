import Foundation
import ShallowsSQLite
import TestThreads
import Testing
import VellumTestSupport

/// Limits and ages.
@Suite(.ownThreads)
struct SQLiteStorageLimitTests {
    let temporary: TemporaryStorages

    init() throws { temporary = try TemporaryStorages() }

    @Test func limitsHoldAfterEveryCall() async throws {
        let storage = temporary.storage(of: Data.self, memoryLimit: 250, diskLimit: 1000)
        for number in 0..<50 {
            try await storage.set(
                Data(count: 100 + number % 7),
                forKey: Filename(rawValue: "\(number)")
            )
            let statistics = try await storage.statistics()
            #expect(statistics.memory.bytes <= 250 && statistics.disk.bytes <= 1000)
        }
        #expect(try await storage.keys().count == 9)
    }

    @Test func theLeastRecentlyUsedLeavesFirst() async throws {
        let storage = temporary.storage(of: Data.self, memoryLimit: 1, diskLimit: 300)
        for key: Filename in ["a", "b", "c"] {
            try await storage.set(Data(count: 100), forKey: key)
        }
        _ = try await storage.retrieve(forKey: "a")
        try await storage.set(Data(count: 100), forKey: "d")
        #expect(try await storage.retrieveIfPresent(forKey: "b") == nil)
        #expect(try await storage.retrieveIfPresent(forKey: "a") != nil)
    }

    @Test func aValueLargerThanEveryLimitIsRefusedAndTheOldOneStays() async throws {
        let storage = temporary.storage(of: Data.self, memoryLimit: 100, diskLimit: 200)
        try await storage.set(data("old"), forKey: "key")
        try await storage.set(data("other"), forKey: "other")
        let error = await #expect(throws: ShallowsError.self) {
            try await storage.set(Data(count: 201), forKey: "key")
        }
        #expect(error?.code == .tooLarge && (error?.cause as? VellumError)?.code == .tooLarge)
        #expect(try await storage.retrieve(forKey: "key") == data("old"))
        #expect(try await storage.retrieve(forKey: "other") == data("other"))
    }

    @Test func withoutADiskLimitNothingIsEvictedFromTheFile() async throws {
        let storage = temporary.storage(of: Data.self)
        for number in 0..<40 {
            try await storage.set(Data(count: 1 << 20), forKey: Filename(rawValue: "\(number)"))
        }
        #expect(try await storage.statistics().disk.entries == 40)
    }

    @Test func aLowerLimitHoldsWhenTheFileIsOpened() async throws {
        let storage = temporary.storage(of: Data.self)
        for number in 0..<10 {
            try await storage.set(Data(count: 100), forKey: Filename(rawValue: "\(number)"))
        }
        try await storage.close()
        let smaller = temporary.storage(of: Data.self, diskLimit: 300)
        #expect(try await smaller.keys() == ["9", "8", "7"])
    }

    // MARK: Ages

    @Test(arguments: [1, 1_000_000])
    func anExpiredValueIsAMiss(memoryLimit: Int) async throws {
        let age = Expiration.after(.seconds(60))
        let storage = temporary.storage(
            of: Int.self,
            memoryLimit: DataSize(bytes: memoryLimit),
            expiration: age
        )
        try await storage.set(1, forKey: "number")
        temporary.clock.advance(by: .seconds(59))
        #expect(try await storage.retrieve(forKey: "number") == 1)
        temporary.clock.advance(by: .seconds(1))
        #expect(try await storage.retrieveIfPresent(forKey: "number") == nil)
        #expect(try await storage.keys().isEmpty)
        try await storage.set(2, forKey: "number")
        #expect(try await storage.retrieve(forKey: "number") == 2)
    }

    @Test func anAgeOutlivesTheProcess() async throws {
        let storage = temporary.storage(of: Int.self, expiration: .after(.seconds(60)))
        try await storage.set(1, forKey: "number")
        try await storage.close()
        temporary.clock.advance(by: .seconds(61))
        #expect(
            try await temporary.storage(of: Int.self).retrieveIfPresent(forKey: "number") == nil
        )
    }

    @Test func aSlidingAgeBeginsAnewWithEveryUse() async throws {
        let storage = temporary.storage(of: Int.self, expiration: .unused(for: .seconds(60)))
        try await storage.set(1, forKey: "number")
        for _ in 0..<5 {
            temporary.clock.advance(by: .seconds(50))
            #expect(try await storage.retrieve(forKey: "number") == 1)
        }
        temporary.clock.advance(by: .seconds(61))
        #expect(try await storage.retrieveIfPresent(forKey: "number") == nil)
    }

    @Test func withoutAnAgeValuesAreValidForEver() async throws {
        let storage = temporary.storage(of: Int.self)
        try await storage.set(1, forKey: "number")
        temporary.clock.advance(by: .seconds(100 * 365 * 24 * 3600))
        #expect(try await storage.retrieve(forKey: "number") == 1)
    }

    @Test func anExpiredValueIsLoadedAnewFromTheLayerBehind() async throws {
        let source = MemoryStorage<Filename, Int>(storage: ["number": 1])
        let cached = temporary.storage(of: Int.self, expiration: .after(.seconds(60))).backed(
            by: source
        )
        #expect(try await cached.retrieve(forKey: "number") == 1)
        source.storage["number"] = 2
        #expect(try await cached.retrieve(forKey: "number") == 1)
        temporary.clock.advance(by: .seconds(60))
        #expect(try await cached.retrieve(forKey: "number") == 2)
    }
}
