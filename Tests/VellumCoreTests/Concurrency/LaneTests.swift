import Testing
import VellumCore

/// Work runs on a thread of the lane, whoever asks.
@Suite(.timeLimit(.minutes(1)))
struct LaneTests {
    private func expectToLeaveAndReturn() async throws {
        #expect(!Lane.isCurrent)
        #expect(try await Lane.visits.run { Lane.isCurrent })
        #expect(!Lane.isCurrent)
    }

    @Test func workOfATaskRunsInThePool() async throws { try await expectToLeaveAndReturn() }

    @Test @MainActor func workOfTheMainActorRunsInThePool() async throws {
        #expect(try await Lane.visits.run { Lane.isCurrent })
        #expect(!Lane.isCurrent)
        MainActor.assertIsolated()
    }

    private actor Caller {
        func call() async throws -> Bool { try await Lane.visits.run { Lane.isCurrent } }
    }

    /// An actor may go on with the thread, which may block all the same.
    @Test func workOfAnActorRunsInThePool() async throws { #expect(try await Caller().call()) }

    private struct Refusal: Error {}

    @Test func theErrorOfTheWorkIsThrown() async {
        await #expect(throws: Refusal.self) { try await Lane.visits.run { throw Refusal() } }
    }
}
