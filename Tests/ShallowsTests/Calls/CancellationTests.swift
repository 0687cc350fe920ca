import Shallows
import TestThreads
import Testing
import VellumCore
import VellumEngine

/// A call that is cancelled ends early where the layer that is being asked can, and is not asked of
/// the next.
@Suite(.ownThreads)
struct CancellationTests {
    /// Ends when it is cancelled, and not before.
    private final class Endless: AsyncStorageProtocol {
        typealias Key = String
        typealias Value = Int
        let (begun, cancelled) = (Counter(), Counter())

        func retrieve(forKey key: String) async throws -> Int {
            try await endlessly()
            return 0
        }

        func set(_ value: Int, forKey key: String) async throws { try await endlessly() }

        private func endlessly() async throws {
            begun.add()
            for await _ in AsyncStream<Void>.makeStream().stream {}
            cancelled.add()
            throw CancellationError()
        }
    }

    /// Does what it was asked in the end, although it was cancelled: then its caller has been
    /// cancelled, too.
    private final class Stubborn: AsyncStorageProtocol {
        typealias Key = String
        typealias Value = Int
        let storageName = "front"
        let begun = Counter()

        func retrieve(forKey key: String) async throws -> Int {
            await untilCancelled()
            throw Nothing()
        }

        func set(_ value: Int, forKey key: String) async throws { await untilCancelled() }

        private func untilCancelled() async {
            begun.add()
            for await _ in AsyncStream<Void>.makeStream().stream {}
        }
    }

    enum Way: String, CaseIterable, CustomTestStringConvertible {
        case plain, mapped, combinedFront, combinedBack, zipped, synchronized, asyncMapped, strict,
            fallback
        var testDescription: String { rawValue }

        func around(_ storage: Storage<String, Int>) -> Storage<String, Int> {
            let memory = MemoryStorage<String, Int>()
            switch self {
            case .plain: return storage
            case .mapped:
                return storage.mapKeys { $0 }.mapValues(transformIn: { $0 }, transformOut: { $0 })
            case .combinedFront: return storage.combined(with: memory)
            case .combinedBack: return memory.combined(with: storage)
            case .zipped:
                return zip(storage, memory).mapValues(
                    transformIn: { $0.0 },
                    transformOut: { ($0, $0) }
                )
            case .synchronized: return storage.synchronizedCalls()
            case .asyncMapped:
                return storage.asyncMapKeys { key async in key }
                    .asyncMapValues(
                        transformIn: { value async in value },
                        transformOut: { value async in value }
                    )
            case .strict: return storage.strict()
            case .fallback: return storage.fallback { throw $0 }
            }
        }
    }

    @Test(arguments: Way.allCases)
    func cancellingReachesAnAsynchronousFunctionThroughEveryLayer(_ way: Way) async {
        let endless = Endless()
        let storage = way.around(endless.asStorage())
        let reading = Task { try await storage.retrieve(forKey: "a") }
        await until("the retrieval has begun") { endless.begun.value == 1 }
        reading.cancel()
        await #expect(throws: (any Error).self) { try await reading.value }
        await until("the retrieval was cancelled") { endless.cancelled.value == 1 }
        let setting = Task { try await storage.set(1, forKey: "a") }
        await until("the set has begun") { endless.begun.value == 2 }
        setting.cancel()
        await #expect(throws: (any Error).self) { try await setting.value }
        await until("the set was cancelled") { endless.cancelled.value == 2 }
    }

    @Test(arguments: Way.allCases)
    func aTaskThatWasCancelledBeforeDoesNotAskTheLayers(_ way: Way) async {
        let endless = Endless()
        let storage = way.around(endless.asStorage())
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: (any Error).self) { try await storage.retrieve(forKey: "a") }
            await #expect(throws: (any Error).self) { try await storage.set(1, forKey: "a") }
        }.value
        #expect(endless.begun.value == 0)
    }

    @Test
    func whatMemoryHasAtHandIsGivenToACancelledTask() async throws {
        let memory = MemoryStorage<String, Int>(storage: ["a": 1])
        let value = try await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await memory.combined(with: Endless()).retrieve(forKey: "a")
        }.value
        #expect(value == 1)
    }

    @Test
    func anUpdateIsCancelledToo() async {
        let endless = Endless()
        let updating = Task { try await endless.update(forKey: "a") { $0 += 1 } }
        await until("the update has begun") { endless.begun.value == 1 }
        updating.cancel()
        await #expect(throws: CancellationError.self) { try await updating.value }
    }

    @Test
    func aFrontThatWasCancelledIsNotFollowedByItsBack() async {
        let front = Stubborn()
        let back = Scripted("back", ["a": 1])
        let storage = front.combined(with: back)
        let reading = Task { try await storage.retrieve(forKey: "a") }
        await until("the front is asked") { front.begun.value == 1 }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(back.asked.isEmpty)
    }

    @Test
    func aSetThatIsCancelledHalfwaySaysWhomItReached() async {
        let front = Stubborn()
        let back = Scripted("back")
        let storage = front.combined(with: back)
        let setting = Task { try await storage.set(1, forKey: "a") }
        await until("the front is asked") { front.begun.value == 1 }
        setting.cancel()
        let error = await #expect(throws: ShallowsError.self) { try await setting.value }
        #expect(
            error?.succeededLayers == ["front"] && error?.cause is CancellationError
                && back.asked.isEmpty
        )
    }

    @Test
    func aCallWithACompletionIsNotCancelledWithTheTaskThatMadeIt() async throws {
        let own = Scripted("own", ["a": 1]).answering(.retrieve, .held)
        let answers = Answers<Int>()
        let task = Task { own.asStorage().retrieve(forKey: "a", completion: answers.take) }
        task.cancel()
        await task.value
        own.release()
        #expect(answers.value == 1)
    }
}
