import Foundation
import Shallows
import TestThreads
import Testing

private enum KeychainError: Error, StorageMiss {
    case itemNotFound, locked

    var isMiss: Bool { self == .itemNotFound }
}

/// What a composition makes of errors: the table of the article "Memory, disk and server".
@Suite(.ownThreads)
struct ShallowsRuleTests {
    private let server = MemoryStorage<String, Int>(storage: ["a": 1])
    private let reports = Answers<StorageReport>()

    private func failing(_ error: any Error & Sendable) -> Storage<String, Int> {
        Storage(
            storageName: "front",
            retrieve: { _, completion in completion(.failure(error)) },
            set: { _, _, completion in completion(.failure(error)) }
        )
    }

    private func composed(_ front: Storage<String, Int>) -> Storage<String, Int> {
        let reports = reports
        return front.combined(with: server).reporting { reports.give($0) }
    }

    @Test func afterAMissTheNextLayerIsAsked() async throws {
        #expect(
            try await MemoryStorage<String, Int>().backed(by: server).retrieve(forKey: "a") == 1
        )
        #expect(
            try await failing(KeychainError.itemNotFound).backed(by: server).retrieve(forKey: "a")
                == 1
        )
        #expect(
            try await failing(KeychainError.itemNotFound).strict().backed(by: server).retrieve(
                forKey: "a"
            ) == 1
        )
        #expect(
            try await MemoryStorage<String, Int>().mapKeys { $0 + "?" }.backed(by: server).retrieve(
                forKey: "a"
            ) == 1
        )
    }

    @Test func anErrorOfAStorageOfYoursIsReportedAndTheNextLayerAsked() async throws {
        #expect(try await composed(failing(Broken())).retrieve(forKey: "a") == 1)
        let report = try #require(await reports.first)
        #expect(report.event == .fellThrough)
        #expect(report.layer == "front")
        #expect(report.error?.cause as? Broken == Broken())
    }

    @Test func anErrorThatSaysItIsNoMissStops() async throws {
        await #expect(throws: KeychainError.locked) {
            try await failing(KeychainError.locked).backed(by: server).retrieve(forKey: "a")
        }
        await #expect(throws: Broken()) {
            try await failing(Broken()).strict().backed(by: server).retrieve(forKey: "a")
        }
    }

    @Test func whatATransformThrowsStops() async throws {
        let front = MemoryStorage<String, String>(storage: ["a": "no number"])
            .mapValues(
                transformIn: { try Int($0).unwrap(orThrow: Broken()) },
                transformOut: { "\($0)" }
            )
        await #expect(throws: Broken()) {
            try await front.combined(with: server).retrieve(forKey: "a")
        }
        await #expect(throws: Broken()) {
            try await MemoryStorage<String, Int>().mapKeys { (_: String) -> String in
                throw Broken()
            }.backed(by: server).retrieve(
                forKey: "a"
            )
        }
        await #expect(throws: ShallowsError.self) {
            try await MemoryStorage<String, Data>(storage: ["a": Data()]).mapJSONObject(Int.self)
                .backed(by: server).retrieve(forKey: "a")
        }
    }

    @Test func aFillThatFailsIsReportedAndChangesNothing() async throws {
        let front = Storage(
            read: MemoryStorage<String, Int>().asReadOnlyStorage(),
            write: failing(Broken()).asWriteOnlyStorage()
        )
        #expect(try await composed(front).retrieve(forKey: "a") == 1)
        #expect(await reports.first?.event == .fillFailed)
    }

    @Test func anErrorOfTheLastLayerIsThrownAsItWasMade() async throws {
        await #expect(throws: Broken()) {
            try await MemoryStorage<String, Int>().backed(by: failing(Broken())).retrieve(
                forKey: "a"
            )
        }
        let error = await #expect(throws: ShallowsError.self) {
            try await MemoryStorage<String, Int>().backed(by: failing(Broken())).retrieveIfPresent(
                forKey: "a"
            )
        }
        #expect(error?.cause as? Broken == Broken())
        #expect(error?.layer == "front")
        #expect(error?.key as? String == "a")
        #expect(error.map { !"\($0)".contains("\"a\"") } == true)
    }

    /// A storage of a user's own that cannot remove, in front of one that can.
    private struct Stuck: RemovableStorageProtocol, StorageProtocol {
        let contents = MemoryStorage<String, Int>()

        func retrieve(
            forKey key: String,
            completion: @escaping @Sendable (ShallowsResult<Int>) -> Void
        ) {
            contents.retrieve(forKey: key, completion: completion)
        }
        func set(
            _ value: Int,
            forKey key: String,
            completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
        ) {
            contents.set(value, forKey: key, completion: completion)
        }
        func remove(
            forKey key: String,
            completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
        ) { completion(.failure(Broken())) }
        func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
            completion(.failure(Broken()))
        }
    }

    @Test func removingGoesOnWhereALayerFails() async throws {
        let (memory, stuck) = (MemoryStorage<String, Int>(storage: ["a": 1]), Stuck())
        let cache = memory.asRemovableStorage().renaming(to: "memory").combined(with: stuck)
            .combined(with: server)
        let error = try await #require(throws: ShallowsError.self) {
            try await cache.remove(forKey: "a")
        }
        #expect(error.code == .partiallyRemoved)
        #expect(error.cause as? Broken == Broken())
        #expect(error.succeededLayers.contains("memory"))
        #expect(memory.storage == [:])
        #expect(server.storage == [:])
        await #expect(throws: ShallowsError.self) { try await cache.removeAll() }
    }

    @Test func whatALayerDidNotTakeStaysInTheOneBefore() async throws {
        let memory = MemoryStorage<String, Int>(storage: ["a": 1])
        let refusing = Storage<String, Int>(
            storageName: "refusing",
            retrieve: { _ in throw MemoryStorageError.noValue },
            set: { _, _ in throw Broken() }
        )
        let plain = memory.asRemovableStorage().pushing(to: refusing)
        await #expect(throws: ShallowsError.self) { try await plain.set(2, forKey: "a") }
        #expect(memory.storage == ["a": 2])
    }

    /// A completion that is dropped, or called twice, tells its caller once.
    @Test func aCallerIsToldOnce() async throws {
        let dropping = ReadOnlyStorage<String, Int>(storageName: "dropping", retrieve: { _, _ in })
        let error = await #expect(throws: ShallowsError.self) {
            try await dropping.retrieve(forKey: "a")
        }
        #expect(error?.code == .unanswered)
        let reports = reports
        let twice = ReadOnlyStorage<String, Int>(
            storageName: "twice",
            retrieve: { _, completion in
                completion(.success(1))
                completion(.success(2))
            }
        ).reporting { reports.give($0) }
        #expect(try await twice.retrieve(forKey: "a") == 1)
        #expect(await reports.first?.event == .answeredTwice)
    }
}
