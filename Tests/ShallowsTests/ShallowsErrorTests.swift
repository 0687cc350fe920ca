import Foundation
import Shallows
import TestThreads
import Testing
import VellumCore

/// What errors say: what happened and why, and no key and no value of this module's.
@Suite(.ownThreads)
struct ShallowsErrorTests {
    struct Unreachable: LocalizedError {
        var host = "secret"
        var errorDescription: String? { "The server cannot be reached." }
    }

    /// An error of a user-supplied storage, and what is said of it.
    struct Cause: Sendable, CustomTestStringConvertible {
        let error: any Error
        let reason: String
        var testDescription: String { reason }

        static let all = [
            Cause(error: Outage(number: 77), reason: "Outage(number: 77)"),
            Cause(error: Unreachable(), reason: "The server cannot be reached."),
            Cause(
                error: NSError(
                    domain: "Server",
                    code: 503,
                    userInfo: [NSLocalizedDescriptionKey: "secret"]
                ),
                reason: "it threw Server 503"
            ),
            Cause(
                error: CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: "/secret"]),
                reason: "it threw NSCocoaErrorDomain 260"
            ),
            Cause(
                error: EncodingError.invalidValue(
                    "secret",
                    EncodingError.Context(codingPath: [], debugDescription: "secret")
                ),
                reason: "a value of type String in it is not valid"
            ),
        ]
    }

    private func error(of cause: any Error) async throws -> ShallowsError {
        let storage = Scripted("server").always(.retrieve, .failing(cause))
        let error = await #expect(throws: ShallowsError.self) {
            try await storage.retrieveIfPresent(forKey: "secret")
        }
        return try #require(error)
    }

    @Test(arguments: Cause.all)
    func aFailureOfAUserSuppliedStorageQuotesItsError(_ cause: Cause) async throws {
        let error = try await error(of: cause.error)
        #expect(error.message == "The storage failed: \(cause.reason)")
        #expect("\(error)" == "failed in server: \(error.message)")
        #expect(!"\(error)".contains("secret"))
    }

    @Test(arguments: Cause.all)
    func theLocalizedDescriptionBeginsWithWhatHappened(_ cause: Cause) async throws {
        let error = try await error(of: cause.error)
        #expect(
            error.localizedDescription == "The storage failed: \(cause.reason) (failed in server)"
        )
    }

    @Test func aMessageThatIsReplacedQuotesNothing() async throws {
        var error = try await error(of: Outage())
        error.message = "The server failed."
        #expect("\(error)" == "failed in server: The server failed.")
        error = try await self.error(of: Outage())
        error.cause = nil
        #expect("\(error)" == "failed in server: The storage failed")
    }

    @Test func aPartialSetNamesItsReason() async {
        let failing = Scripted("server").always(.set, .failing(Outage(number: 503)))
        let storage = MemoryStorage<String, Int>().combined(
            with: MemoryStorage<String, Int>().combined(with: failing)
        )
        let error = await #expect(throws: ShallowsError.self) {
            try await storage.set(1, forKey: "secret")
        }
        #expect(error?.code == .partiallySet && error?.succeededLayers.count == 2)
        #expect(
            error?.message == """
                The value was set to some layers and not to all; set it again, or remove it. The \
                reason: The storage failed: Outage(number: 503)
                """
        )
    }

    @Test func aPairQuotesTheErrorsOfItsSides() async {
        let (left, right) = (
            Scripted("left").always(.retrieve, .failing(Outage(number: 1))), Scripted("right")
        )
        let pairs = zip(left, right.always(.retrieve, .failing(Outage(number: 2))))
        let error = await #expect(throws: ShallowsError.self) {
            _ = try await pairs.retrieveIfPresent(forKey: "secret")
        }
        #expect(
            error?.message
                == """
                One side or both of a pair failed: left: Outage(number: 1); right: Outage(number: 2)
                """
        )
    }

    @Test func errorsOfThisModuleSayWhatHappened() {
        let errors: [any Error] = [
            MemoryStorageError.noValue, EmptyCacheError.cacheIsAlwaysEmpty, ValueValidationError(),
            Optional<Int>.UnwrapError(),
            UnsupportedTransformationStorageError.storageIsReadOnly,
            ZippedResultError(left: MemoryStorageError.noValue, right: nil),
        ]
        #expect(
            errors.map { $0.localizedDescription } == [
                "There is no value under the key.", "The storage has no value and takes none.",
                "The value is not valid.",
                "There is nil in the place of a value of type Int.",
                "The storage can be retrieved from, and not set to.",
                "left: There is no value under the key.",
            ]
        )
        #expect("\(MemoryStorageError.noValue)" == "noValue", "The original's document prints it.")
    }
}
