import Hummingbird
import MiniCache
import Testing

/// The adapter of the guide, with Hummingbird itself.
@Suite(.timeLimit(.minutes(10)))
struct PersistDriverTests {
    private let driver: any PersistDriver = CachePersistDriver(
        cache: MiniCacheManager.inMemory().cache(
            cacheName: "sessions",
            cacheVersion: .custom("1"),
            maxAge: .days(30)
        )
    )

    @Test func whatIsCreatedIsFoundAndIsNotCreatedAgain() async throws {
        try await driver.create(key: "a", value: 1, expires: .seconds(60))
        #expect(try await driver.get(key: "a", as: Int.self) == 1)
        await #expect(throws: PersistError.duplicate) {
            try await driver.create(key: "a", value: 2)
        }
        try await driver.set(key: "a", value: 3)
        #expect(try await driver.get(key: "a", as: Int.self) == 3)
        await #expect(throws: PersistError.invalidConversion) {
            try await driver.get(key: "a", as: String.self)
        }
        try await driver.remove(key: "a")
        #expect(try await driver.get(key: "a", as: Int.self) == nil)
    }

    @Test func whatHasExpiredIsCreatedAgain() async throws {
        try await driver.create(key: "a", value: 1, expires: .zero)
        #expect(try await driver.get(key: "a", as: Int.self) == nil)
        try await driver.create(key: "a", value: 2)
        #expect(try await driver.get(key: "a", as: Int.self) == 2)
    }
}
