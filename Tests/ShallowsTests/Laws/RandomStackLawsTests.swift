import Shallows
import TestThreads
import Testing
import VellumTestSupport

/// The laws, of stacks at random.
@Suite(.ownThreads)
struct RandomStackLawsTests {
    @Test(arguments: 0..<UInt64(LongRun.number(60, usually: 20)))
    func aStackHoldsWhatWasSetToIt(_ seed: UInt64) async throws {
        for manner in [Manner.completing, .suspending, .waiting] {
            var stack = RandomStack(seed: seed)
            let storage = try stack.storage(Int.random(in: 1...5, using: &stack.random))
            let made = Subject.Made(storage: storage, removable: nil)
            try await StorageLaws.agreesWithADictionary(
                made,
                manner,
                seed: seed,
                steps: 20,
                "\(manner):\(stack.made)"
            )
        }
    }

    @Test(arguments: 1_000..<UInt64(LongRun.number(1_060, usually: 1_020)))
    func aStackLosesWhatWasRemovedFromIt(_ seed: UInt64) async throws {
        for manner in [Manner.completing, .suspending, .waiting] {
            var stack = RandomStack(seed: seed)
            let storage = try stack.removable(Int.random(in: 1...5, using: &stack.random))
            let made = Subject.Made(storage: storage.asStorage(), removable: storage)
            try await StorageLaws.agreesWithADictionary(
                made,
                manner,
                seed: seed,
                steps: 20,
                "\(manner):\(stack.made)"
            )
        }
    }

    @Test(arguments: UInt64(2_000)..<2_100)
    func aStackOfOursAnswersInsideATask(_ seed: UInt64) async throws {
        var stack = RandomStack(seed: seed, bottom: { queueStorage() })
        let storage = try stack.removable(4)
        guard !stack.made.contains("async") else { return }
        let made = Subject.Made(storage: storage.asStorage(), removable: storage)
        // Calls that no one waits for are under way when those come that wait.
        for _ in 0..<10 { _ = made.storage.answers(forKey: "other") }
        try await StorageLaws.agreesWithADictionary(
            made,
            .waitingInATask,
            seed: seed,
            steps: 20,
            stack.made
        )
    }

    @Test(arguments: 3_000..<UInt64(LongRun.number(3_060, usually: 3_020)))
    func mappingByTheIdentityChangesNothing(_ seed: UInt64) async throws {
        var (stack, same) = (RandomStack(seed: seed), RandomStack(seed: seed))
        let (plain, mapped) = (
            try stack.storage(4),
            try same.storage(4).mapKeys { $0 }.mapValues(transformIn: { $0 }, transformOut: { $0 })
        )
        try await StorageLaws.agree([plain, mapped], .suspending, seed: seed, stack.made)
        #expect(
            plain.layers.count == mapped.layers.count && plain.storageName == mapped.storageName
        )
    }

    @Test(arguments: UInt64(4_000)..<4_060)
    func readOnlyReadsTheSame(_ seed: UInt64) async throws {
        var stack = RandomStack(seed: seed)
        let storage = try stack.storage(4)
        for key in StorageLaws.keys.dropFirst() {
            try await storage.set(key.count.description, forKey: key)
        }
        for key in StorageLaws.keys {
            let value = try await Manner.suspending.retrieve(storage, key)
            #expect(
                value == (key == "a" ? nil : key.count.description),
                "seed \(seed):\(stack.made)"
            )
            #expect(
                try await Manner.suspending.retrieve(storage.asReadOnlyStorage(), key) == value,
                "seed \(seed):\(stack.made)"
            )
        }
    }

    @Test(arguments: 5_000..<UInt64(LongRun.number(5_030, usually: 5_010)))
    func stacksAreAssociativeInWhatTheyReturn(_ seed: UInt64) async throws {
        func three() throws -> (parts: [Storage<String, String>], made: String) {
            var stack = RandomStack(seed: seed)
            let parts = try (0..<3).map { _ in try stack.storage(2) }
            return (parts, stack.made)
        }
        let (left, right) = (try three(), try three())
        let nested = [
            left.parts[0].combined(with: left.parts[1]).combined(with: left.parts[2]),
            right.parts[0].combined(with: right.parts[1].combined(with: right.parts[2])),
        ]
        try await StorageLaws.agree(nested, .suspending, seed: seed, left.made) { random in
            // Someone sets to one of the layers alone.
            guard Int.random(in: 0..<4, using: &random) == 0 else { return }
            let (layer, number) = (
                Int.random(in: 0..<3, using: &random), Int.random(in: 0..<1_000, using: &random)
            )
            for parts in [left.parts, right.parts] {
                try await parts[layer].set("\(number)", forKey: "b")
            }
        }
    }
}
