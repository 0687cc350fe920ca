import Shallows
import TestThreads
import Testing
import VellumCore
import VellumEngine

/// Failure is not absence (S3).
@Suite(.ownThreads)
struct FallingThroughTests {
    /// What a front may answer, and whether the back is asked then.
    enum FrontAnswer: String, CaseIterable, CustomTestStringConvertible {
        case ownMiss, memoryMiss, typedMiss, unknownError, ownFailure, typedFailure, cancellation

        var error: any Error {
            switch self {
            case .ownMiss: Nothing()
            case .memoryMiss: MemoryStorageError.noValue
            case .typedMiss: ShallowsError.miss(forKey: "a", layer: "front")
            case .unknownError: Outage()
            case .ownFailure: Locked()
            case .typedFailure:
                ShallowsError(.damagedEntry, "A file does not match its checksum.", layer: "front")
            case .cancellation: CancellationError()
            }
        }
        var fallsThrough: Bool {
            [.ownMiss, .memoryMiss, .typedMiss, .unknownError].contains(self)
        }
        var testDescription: String { rawValue }

        /// An error that says of itself that it is no miss.
        struct Locked: StorageMiss {
            var isMiss: Bool { false }
        }
    }

    @Test(arguments: FrontAnswer.allCases)
    func aMissAndAnUnknownErrorFallThroughAndAFailureStops(_ answer: FrontAnswer) async {
        let front = Scripted("front").answering(.retrieve, .failing(answer.error))
        let back = Scripted("back", ["a": 1])
        let answers = front.combined(with: back).answers(forKey: "a")
        #expect(answers.value == (answer.fallsThrough ? 1 : nil))
        #expect(back.asked == (answer.fallsThrough ? ["retrieve a"] : []))
        #expect(
            front.contents == (answer.fallsThrough ? ["a": 1] : [:]),
            "a front that failed is not overwritten"
        )
    }

    @Test(arguments: FrontAnswer.allCases)
    func anUnknownErrorIsReportedAndAMissIsNot(_ answer: FrontAnswer) {
        let reports = Reports()
        let front = Scripted("front").answering(.retrieve, .failing(answer.error))
        _ = front.combined(with: Scripted("back", ["a": 1])).reporting(reports.take).answers(
            forKey: "a"
        )
        #expect(reports.events == (answer == .unknownError ? [.fellThrough] : []))
        #expect(reports.all.first.map(\.layer) ?? "front" == "front")
    }

    @Test(arguments: FrontAnswer.allCases)
    func afterStrictAnUnknownErrorStopsToo(_ answer: FrontAnswer) {
        let front = Scripted("front").answering(.retrieve, .failing(answer.error))
        let back = Scripted("back", ["a": 1])
        let answers = front.strict().combined(with: back).answers(forKey: "a")
        let stops = !answer.fallsThrough || answer == .unknownError
        #expect(answers.value == (stops ? nil : 1))
        if answer == .unknownError { #expect(answers.error as? Outage == Outage()) }
    }

    @Test
    func aMissIsAMissThroughMapsAndCompositions() async throws {
        let memory = MemoryStorage<String, Int>()
        let mapped = memory.mapKeys { (key: Int) in String(key) }.mapValues(
            transformIn: { $0 + 1 },
            transformOut: { $0 - 1 }
        )
        let composed = mapped.combined(with: mapped.renaming(to: "again")).strict()
            .synchronizedCalls()
        let back = MemoryStorage<Int, Int>(storage: [7: 8])
        #expect(try await composed.combined(with: back).retrieve(forKey: 7) == 8)
        await #expect(throws: MemoryStorageError.noValue) { try await composed.retrieve(forKey: 9) }
        #expect(try await composed.retrieveIfPresent(forKey: 9) == nil)
    }

    @Test
    func whatATransformThrowsIsAFailureAndStops() async throws {
        let front = Scripted("front", ["a": 1])
        let undecodable = front.mapValues(
            to: Int.self,
            transformIn: { _ in throw Outage(number: 1) },
            transformOut: { _ in throw Outage(number: 2) }
        )
        let back = Scripted("back", ["a": 1])
        let composed = undecodable.combined(with: back)
        await #expect(throws: Outage(number: 1)) { try await composed.retrieve(forKey: "a") }
        #expect(
            back.asked.isEmpty && front.contents == ["a": 1],
            "what cannot be decoded is not overwritten"
        )
        await #expect(throws: Outage(number: 2)) { try await composed.set(1, forKey: "a") }
        #expect(back.asked.isEmpty)
    }

    @Test
    func aTransformOfAKeyThatThrowsStops() async {
        let back = Scripted("back", ["a": 1])
        let composed = Scripted("front").mapKeys { (_: String) in throw Outage() }.combined(
            with: back
        )
        await #expect(throws: Outage()) { try await composed.retrieve(forKey: "a") }
        #expect(back.asked.isEmpty)
    }

    @Test(arguments: FrontAnswer.allCases)
    func aBackThatIsOnlyReadIsAskedByTheSameRule(_ answer: FrontAnswer) {
        let reports = Reports()
        let front = Scripted("front").answering(.retrieve, .failing(answer.error))
        let answers = front.backed(by: Scripted("back", ["a": 1])).reporting(reports.take).answers(
            forKey: "a"
        )
        #expect(answers.value == (answer.fallsThrough ? 1 : nil))
        #expect(reports.events == (answer == .unknownError ? [.fellThrough] : []))
    }

    @Test(arguments: FrontAnswer.allCases)
    func whatAFallbackThrowsFallsThroughByTheSameRule(_ answer: FrontAnswer) {
        func front() -> Storage<String, Int> {
            MemoryStorage<String, Int>().fallback { _ in throw answer.error }
        }
        let back = Scripted("back", ["a": 1])
        let reports = Reports()
        #expect(
            front().backed(by: back).reporting(reports.take).answers(forKey: "a").value
                == (answer.fallsThrough ? 1 : nil)
        )
        #expect(reports.events == (answer == .unknownError ? [.fellThrough] : []))
        let stops = !answer.fallsThrough || answer == .unknownError
        #expect(front().strict().backed(by: back).answers(forKey: "a").value == (stops ? nil : 1))
    }

    @Test
    func theLastLayerHasTheLastWord() async {
        let composed = Scripted("front").combined(
            with: Scripted("back").always(.retrieve, .failing(Outage(number: 2)))
        )
        await #expect(throws: Outage(number: 2)) { try await composed.retrieve(forKey: "a") }
        let error = await #expect(throws: ShallowsError.self) {
            try await composed.retrieveIfPresent(forKey: "a")
        }
        #expect(error?.layer == "back" && error?.code == .failed)
    }

    @Test
    func anErrorNamesItsLayerAndItsCauseAndNotTheKey() async throws {
        let failing = Scripted("keychain").always(.retrieve, .failing(Outage(number: 77)))
        let error = await #expect(throws: ShallowsError.self) {
            try await MemoryStorage<String, Int>().combined(with: failing).retrieveIfPresent(
                forKey: "secret-key"
            )
        }
        let description = try #require(error?.description)
        #expect(description == "failed in keychain: The storage failed: Outage(number: 77)")
        #expect(
            error?.key as? String == "secret-key" && error?.cause as? Outage == Outage(number: 77)
        )
    }

    @Test
    func aReadOnlyFrontIsNotFilled() async throws {
        let front = Scripted("front")
        let composed = front.asReadOnlyStorage().backed(by: Scripted("back", ["a": 1]))
        #expect(try await composed.retrieve(forKey: "a") == 1)
        #expect(front.asked == ["retrieve a"])
    }
}
