import Testing
import VellumCore

/// Work runs on a thread of the pool, whoever asks.
@Suite(.timeLimit(.minutes(1)))
struct BlockingPoolTests {
    private func expectToLeaveAndReturn() async throws {
        #expect(!BlockingPool.isCurrent)
        #expect(try await BlockingPool.run { BlockingPool.isCurrent })
        #expect(!BlockingPool.isCurrent)
    }

    @Test func workOfATaskRunsInThePool() async throws { try await expectToLeaveAndReturn() }

    @Test @MainActor func workOfTheMainActorRunsInThePool() async throws {
        #expect(try await BlockingPool.run { BlockingPool.isCurrent })
        #expect(!BlockingPool.isCurrent)
        MainActor.assertIsolated()
    }

    private actor Caller {
        func call() async throws -> Bool { try await BlockingPool.run { BlockingPool.isCurrent } }
    }

    /// An actor may go on with the thread, which may block all the same.
    @Test func workOfAnActorRunsInThePool() async throws { #expect(try await Caller().call()) }

    private struct Refusal: Error {}

    @Test func theErrorOfTheWorkIsThrown() async {
        await #expect(throws: Refusal.self) { try await BlockingPool.run { throw Refusal() } }
    }
}
