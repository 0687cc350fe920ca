import Shallows
import TestThreads
import Testing
import VellumTestSupport

/// Three layers answer the same however they are nested.
@Suite(.ownThreads)
struct AssociativityTests {
    /// Three layers, and what two nestings of them are called.
    private struct Stack {
        let layers = (0..<3).map { Scripted("\($0)") }
        let storage: Storage<String, Int>

        init(leftFirst: Bool) {
            let (a, b, c) = (layers[0], layers[1], layers[2])
            storage =
                leftFirst
                ? a.combined(with: b).combined(with: c) : a.combined(with: b.combined(with: c))
        }
    }

    @Test
    func theNameIsTheSameHoweverTheyAreNested() {
        let names = [true, false].map { Stack(leftFirst: $0).storage.storageName }
        #expect(names == ["0<->1<->2", "0<->1<->2"])
        #expect(
            [true, false].allSatisfy {
                Stack(leftFirst: $0).storage.layers.map(\.storageName) == ["0", "1", "2"]
            }
        )
    }

    /// Each layer is changed by others, loses what it had, and fails to read, in both nestings
    /// alike.
    @Test(arguments: 0..<UInt64(LongRun.number(200, usually: 40)))
    func whatIsRetrievedIsTheSameHoweverTheyAreNested(_ seed: UInt64) {
        let stacks = [true, false].map(Stack.init)
        var random = SeededGenerator(seed: seed)
        let answers: [Scripted.Answer] = [
            .normal, .normal, .normal, .normal, .failing(Nothing()), .failing(Outage()),
            .failing(ShallowsError(.inputOutput, "The disk failed.", layer: "disk")), .dropped,
            .twice,
        ]
        for step in 0..<60 {
            let key = ["a", "b"].randomElement(using: &random) ?? "a"
            let change = Int.random(in: 0..<8, using: &random)
            let layer = Int.random(in: 0..<3, using: &random)
            let reading = (0..<3).map { _ in answers.randomElement(using: &random) ?? .normal }
            let results = stacks.map { stack -> String in
                switch change {
                case 0: stack.layers[layer].contents[key] = step
                case 1: stack.layers[layer].contents[key] = nil
                case 2: stack.layers[layer].contents = [:]
                case 3, 4: _ = stack.storage.setting(step, forKey: key)
                default: break
                }
                for (layer, answer) in zip(stack.layers, reading) {
                    layer.always(.retrieve, answer)
                }
                let answers = stack.storage.answers(forKey: key)
                #expect(answers.count == 1)
                return answers.value.map { "\($0)" } ?? answers.error.map { "\($0)" } ?? "none"
            }
            #expect(results[0] == results[1], "seed \(seed), step \(step)")
            #expect(
                stacks[0].layers.map(\.contents) == stacks[1].layers.map(\.contents),
                "seed \(seed), step \(step)"
            )
        }
    }

    /// Sets that fail somewhere say the same, and leave the same.
    @Test(arguments: 0..<UInt64(LongRun.number(100, usually: 25)))
    func aSetThatFailsSaysTheSameHoweverTheyAreNested(_ seed: UInt64) {
        let stacks = [true, false].map(Stack.init)
        var random = SeededGenerator(seed: seed)
        for step in 0..<30 {
            let failing = (0..<3).map { _ in Int.random(in: 0..<3, using: &random) == 0 }
            let results = stacks.map { stack -> String in
                for (layer, fails) in zip(stack.layers, failing) {
                    layer.always(.set, fails ? .failing(Outage()) : .normal)
                }
                let error = stack.storage.setting(step, forKey: "a").error
                return
                    """
                    \(String(describing: error)) \((error as? ShallowsError)?.succeededLayers ?? [])
                    """
            }
            #expect(results[0] == results[1], "seed \(seed), step \(step)")
            #expect(
                stacks[0].layers.map(\.contents) == stacks[1].layers.map(\.contents),
                "seed \(seed), step \(step)"
            )
        }
    }
}
