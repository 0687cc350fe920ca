import Testing

@testable import VellumTesting

/// What waits for code of the test waits until that has ended, however busy the machine is.
struct Patience: TestTrait, TestScoping {
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await Settling.$patience.withValue(1 << 40) { try await function() }
    }
}

extension Trait where Self == Patience {
    static var patient: Self { Patience() }
}
