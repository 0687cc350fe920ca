import Foundation
import Shallows
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// Whatever the storages at the bottom do, every caller is answered once, and with nothing that was
/// never set.
@Suite(.ownThreads)
struct FaultConcurrencyTests {
    /// A user's storage that does everything that one can do wrong, but for never answering.
    private final class Faulty: StorageProtocol, RemovableStorageProtocol {
        private let contents = Locked<[String: String]>([:])
        private let random: Locked<SeededGenerator>
        /// Asked again from inside, where there is one.
        let whole: Locker<RemovableStorage<String, String>?>

        init(seed: UInt64, _ whole: Locker<RemovableStorage<String, String>?>) {
            random = Locked(SeededGenerator(seed: seed))
            self.whole = whole
        }

        func retrieve(
            forKey key: String,
            completion: @escaping @Sendable (ShallowsResult<String>) -> Void
        ) {
            answer(completion, key) { contents in
                contents[key].map { .success($0) } ?? .failure(Nothing())
            }
        }

        func set(
            _ value: String,
            forKey key: String,
            completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
        ) {
            answer(completion, key) { contents in .success(contents[key] = value) }
        }

        func remove(
            forKey key: String,
            completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
        ) {
            answer(completion, key) { contents in .success(contents[key] = nil) }
        }

        func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
            answer(completion, "a") { contents in .success(contents = [:]) }
        }

        private func answer<Value: Sendable>(
            _ completion: @escaping @Sendable (ShallowsResult<Value>) -> Void,
            _ key: String,
            _ work: @escaping @Sendable (inout [String: String]) -> ShallowsResult<Value>
        ) {
            let perform: @Sendable () -> ShallowsResult<Value> = {
                self.contents.withLock { work(&$0) }
            }
            switch random.withLock({ Int.random(in: 0..<12, using: &$0) }) {
            case 0: completion(.failure(Outage()))
            case 1:
                completion(
                    .failure(ShallowsError(.inputOutput, "The disk failed.", layer: "faulty"))
                )
            case 2: break
            case 3:
                completion(perform())
                completion(.failure(Outage()))
            case 4:
                DispatchQueue.global().async {
                    completion(perform())
                    completion(perform())
                }
            case 5, 6: DispatchQueue.global().async { completion(perform()) }
            case 7: DispatchQueue.global().async {}
            case 8:
                // Another key, so that it ends; and whatever comes of it.
                whole.locked.withLock { $0 }?.retrieve(forKey: key + "'") { _ in
                    completion(perform())
                } ?? completion(perform())
            default: completion(perform())
            }
        }
    }

    @Test(arguments: 0..<UInt64(LongRun.number(40, usually: 12)))
    func everyCallerIsAnsweredOnceAndWithNothingThatWasNeverSet(_ seed: UInt64) async throws {
        let whole = Locker<RemovableStorage<String, String>?>(nil)
        let next = Locker(seed &* 1_000)
        var stack = RandomStack(
            seed: seed,
            bottom: {
                let own = next.locked.withLock { next in
                    next += 1
                    return next
                }
                return Faulty(seed: own, whole).asRemovableStorage()
            }
        )
        let storage = try stack.removable(3)
        let made = stack.made
        // A call that waits for a mutex that its own work holds would wait for itself.
        if !made.contains("synchronized") { whole.locked.withLock { $0 = storage } }
        defer { whole.locked.withLock { $0 = nil } }

        var (retrievals, changes, tasks) = (
            [Answers<String>](), [Answers<Void>](), [Task<String?, Never>]()
        )
        for number in 0..<120 {
            let key = number.isMultiple(of: 3) ? "a" : "b"
            switch Int.random(in: 0..<8, using: &stack.random) {
            case 0..<2: changes.append(storage.setting("\(number)", forKey: key))
            case 2: changes.append(storage.removing(key))
            case 3: changes.append(storage.removingAll())
            case 4..<6: retrievals.append(storage.answers(forKey: key))
            default:
                let task = Task { try? await storage.retrieve(forKey: key) }
                if number.isMultiple(of: 2) { task.cancel() }
                tasks.append(task)
            }
        }
        for task in tasks {
            if let value = await task.value {
                #expect((0..<120).contains(Int(value) ?? -1), "seed \(seed),\(made)")
            }
        }
        for answers in changes { _ = await answers.first() }
        for answers in retrievals {
            if let value = try? await answers.first().get() {
                #expect((0..<120).contains(Int(value) ?? -1), "seed \(seed),\(made)")
            }
        }
        #expect(
            retrievals.allSatisfy { $0.count == 1 } && changes.allSatisfy { $0.count == 1 },
            "seed \(seed),\(made)"
        )
    }
}
