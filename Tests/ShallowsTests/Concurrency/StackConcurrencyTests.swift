import Shallows
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// Random stacks, with one writer and many readers: no reader gets what is older than what was
/// written before he asked.
@Suite(.ownThreads)
struct StackConcurrencyTests {
    /// What one key went through: each write has a number, and none is begun before the one before
    /// it has ended.
    private final class History: Sendable {
        private struct State {
            var ended = 0
            var begun = 0
            /// Those of them that were removals.
            var removals: Set<Int> = [0]
        }

        private let state = Locked(State())

        func begin(_ number: Int, isRemoval: Bool) {
            state.withLock { state in
                state.begun = number
                if isRemoval { state.removals.insert(number) }
            }
        }

        func end(_ number: Int) { state.withLock { $0.ended = number } }

        var ended: Int { state.withLock { $0.ended } }

        /// Whether a caller that asked when `ended` had ended may get that.
        func allows(_ value: Int?, since ended: Int) -> Bool {
            state.withLock { state in
                guard let value else {
                    return (ended...state.begun).contains { state.removals.contains($0) }
                }
                return value >= ended && value <= state.begun && !state.removals.contains(value)
            }
        }
    }

    private func check(
        _ storage: RemovableStorage<String, String>,
        _ random: SeededGenerator,
        _ comment: @escaping @Sendable () -> String,
        evicting: @escaping @Sendable () async throws -> Void = {}
    ) async throws {
        let keys = ["a", "b", "c"]
        let writes = LongRun.number(40, usually: 25)
        let histories = keys.map { _ in History() }
        let isOver = Locker(0)
        try await withThrowingTaskGroup { group in
            for (key, history) in zip(keys, histories) {
                var random = random
                group.addTask {
                    for number in 1...writes {
                        let isRemoval = Int.random(in: 0..<5, using: &random) == 0
                        let manner =
                            [Manner.completing, .suspending, .waiting].randomElement(using: &random)
                            ?? .suspending
                        history.begin(number, isRemoval: isRemoval)
                        if isRemoval {
                            try await manner.remove(storage, key)
                        } else {
                            try await manner.set(storage, "\(number)", key)
                        }
                        history.end(number)
                    }
                    isOver.locked.withLock { $0 += 1 }
                }
                for manner in [Manner.completing, .suspending, .waiting] {
                    group.addTask {
                        repeat {
                            // Storages that answer synchronously leave the others no thread.
                            await pause()
                            for _ in 0..<10 {
                                let ended = history.ended
                                let value = try await manner.retrieve(storage, key)
                                #expect(
                                    history.allows(value.flatMap { Int($0) }, since: ended),
                                    "\(manner):\(comment()) at \(ended)"
                                )
                            }
                        } while isOver.locked.withLock { $0 } < keys.count
                    }
                }
            }
            group.addTask {
                repeat {
                    for _ in 0..<10 { try await evicting() }
                    await pause()
                } while isOver.locked.withLock { $0 } < keys.count
            }
            try await group.waitForAll()
        }
        for (key, history) in zip(keys, histories) {
            let value = try await Manner.suspending.retrieve(storage, key)
            let number = value.flatMap { Int($0) }
            #expect(history.allows(number, since: writes), "\(comment()) at the end")
        }
    }

    @Test(arguments: 0..<UInt64(LongRun.number(24, usually: 6)))
    func noCallerGetsAValueOlderThanTheLastWriteBeforeItsCall(_ seed: UInt64) async throws {
        var stack = RandomStack(seed: seed)
        let storage = try stack.removable(Int.random(in: 1...4, using: &stack.random))
        let made = stack.made
        try await check(storage, stack.random, { "seed \(seed),\(made)" })
    }

    /// Fronts that lose everything, over and over: every retrieval may come from the back, and
    /// fill.
    @Test(arguments: 0..<UInt64(LongRun.number(12, usually: 4)))
    func norWhileTheFrontsAreCleared(_ seed: UInt64) async throws {
        let random = SeededGenerator(seed: seed)
        let layers: [RemovableStorage<String, String>] = [
            MemoryStorage().asRemovableStorage(), queueStorage(), Scripted.late.removable.ofDigits,
        ]
        let storage =
            seed.isMultiple(of: 2)
            ? layers[0].combined(with: layers[1]).combined(with: layers[2])
            : layers[0].combined(with: layers[1].combined(with: layers[2]))
        try await check(storage, random, { "seed \(seed)" }) {
            try await storage.layers[0].removeAll()
            try await storage.layers[1].removeAll()
        }
    }

    @Test(arguments: UInt64(0)..<8)
    func aPairIsNeverMadeOfTwo(_ seed: UInt64) async throws {
        // The stack stops at a pair that was never set, with an error that is no miss.
        let (left, right) = (Scripted.late.removable, Scripted().removable)
        let pairs = zip(left, right)
        let isOver = Locker(false)
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    while !isOver.locked.withLock({ $0 }) {
                        await pause()
                        for _ in 0..<10 {
                            let found = try await pairs.retrieveIfPresent(forKey: "a")
                            guard let pair = found else { continue }
                            #expect(pair.0 == pair.1, "seed \(seed)")
                        }
                    }
                }
            }
            try await withThrowingTaskGroup { writers in
                for writer in 0..<3 {
                    writers.addTask {
                        for number in 0..<60 {
                            try await pairs.set(
                                (writer * 100 + number, writer * 100 + number),
                                forKey: "a"
                            )
                        }
                    }
                }
                try await writers.waitForAll()
            }
            isOver.locked.withLock { $0 = true }
            try await group.waitForAll()
        }
    }
}
