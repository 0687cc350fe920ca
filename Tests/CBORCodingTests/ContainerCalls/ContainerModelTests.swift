import CBORCoding
import Foundation
import Testing

/// Containers are told things in any order, and what is read must be what a model of plain objects was told.
@Suite("Container calls and their model", .timeLimit(.minutes(60)))
struct ContainerModelTests {
    /// Ends with the first seed that fails.
    private func check(_ seeds: Range<UInt64>, _ options: ContainerScript.Options) {
        for seed in seeds {
            var encoder = CBOREncoder()
            encoder.isDeterministic = seed.isMultiple(of: 3)
            encoder.isSelfDescribed = seed.isMultiple(of: 5)
            if seed.isMultiple(of: 4) { encoder.keyEncodingStrategy = .custom { $0.last! } }
            let script = ContainerScript(seed: seed, options)
            do {
                let data = try encoder.encode(script)
                let tree = try CBORDecoder().decode(Tree.self, from: data)
                guard tree == script.root.tree else {
                    Issue.record("seed \(seed): \(data.hex) is \(tree), and not \(script.root.tree)")
                    return
                }
            } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
        }
        #expect(!seeds.isEmpty)
    }

    @Test func callsInAnyOrderMakeWhatTheModelSays() {
        check(0..<1000, .init())
    }

    @Test func shortScriptsMakeWhatTheModelSays() {
        check(0..<2000, .init(steps: 12))
    }

    @Test func longScriptsMakeWhatTheModelSays() {
        check(0..<30, .init(steps: 1500))
    }

    @Test func valuesThatFailLeaveNoTrace() {
        check(0..<1000, .init(hasFailures: true, writesAround: false))
    }

    @Test func valuesThatFailTakeNothingWithThemThatStandsAround() {
        check(0..<1000, .init(hasFailures: true, writesAround: true, steps: 20))
    }
}
