import CBORCoding
import Foundation
import TestThreads
import Testing

/// Makes container calls in any order; the decoded result must match a model of plain objects.
@Suite("Container calls compared with a model", .ownThreads)
struct ContainerModelTests {
    /// Stops at the first seed that fails.
    private func check(_ seeds: Range<UInt64>, _ options: ContainerScript.Options) {
        for seed in seeds {
            var encoder = CBOREncoder()
            encoder.isDeterministic = seed.isMultiple(of: 3)
            encoder.isSelfDescribed = seed.isMultiple(of: 5)
            if seed.isMultiple(of: 4) {
                encoder.keyEncodingStrategy = .custom { $0.last ?? TextKey(stringValue: "") }
            }
            let script = ContainerScript(seed: seed, options)
            do {
                let data = try encoder.encode(script)
                let tree = try CBORDecoder().decode(Tree.self, from: data)
                guard tree == script.root.tree else {
                    Issue.record(
                        "seed \(seed): \(data.hex) is \(tree), and not \(script.root.tree)"
                    )
                    return
                }
            } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
        }
        #expect(!seeds.isEmpty)
    }

    @Test func callsInAnyOrderMatchTheModel() {
        check(0..<UInt64(LongRun.number(1000, usually: 200)), .init())
    }

    @Test func shortScriptsMatchTheModel() {
        check(0..<UInt64(LongRun.number(2000, usually: 400)), .init(steps: 12))
    }

    @Test func longScriptsMatchTheModel() {
        check(0..<UInt64(LongRun.number(30, usually: 6)), .init(steps: 1500))
    }

    @Test func failingValuesLeaveNoTrace() {
        check(
            0..<UInt64(LongRun.number(1000, usually: 200)),
            .init(hasFailures: true, writesAround: false)
        )
    }

    @Test func failingValuesKeepSurroundingValues() {
        check(
            0..<UInt64(LongRun.number(1000, usually: 200)),
            .init(hasFailures: true, writesAround: true, steps: 20)
        )
    }
}
