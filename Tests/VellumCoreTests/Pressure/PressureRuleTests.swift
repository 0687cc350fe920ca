import TestThreads
import Testing

@testable import VellumCore

/// How short of memory a process is, by what the kernel counts and notifies of.
@Suite(.ownThreads)
struct PressureRuleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var before = PressureRuleTests.quiet
        var after: String
        var share: Double?
        var pressure: MemoryPressure?
    }

    static let quiet = "low 0\nhigh 3\nmax 7\noom 1\noom_kill 1\noom_group_kill 0\n"

    static let cases = [
        Case(testDescription: "nothing happened", after: quiet, share: 1),
        Case(testDescription: "throttled, by files", after: "high 4\nmax 7\noom 1\n", share: 0.3),
        Case(
            testDescription: "throttled, by its own memory",
            after: "high 4\nmax 7\noom 1\n",
            share: 0.8,
            pressure: .warning
        ),
        Case(
            testDescription: "at the limit, by files",
            after: "high 3\nmax 90\noom 1\n",
            share: 0.2
        ),
        Case(testDescription: "at the limit, without one", after: "high 3\nmax 90\noom 1\n"),
        Case(
            testDescription: "at the limit, by its own memory",
            after: "high 3\nmax 8\noom 1\n",
            share: 0.9,
            pressure: .critical
        ),
        Case(
            testDescription: "no memory was found",
            after: "high 3\nmax 7\noom 2\n",
            pressure: .critical
        ),
        Case(
            testDescription: "throttled, and no memory was found",
            after: "high 9\nmax 7\noom 2\n",
            share: 1,
            pressure: .critical
        ),
        Case(
            testDescription: "the file is not what it was",
            after: "high x\nmax\n\noom -\n9 9 9\n",
            share: 1
        ),
        Case(testDescription: "the counts are smaller", after: "high 0\nmax 0\noom 0\n", share: 1),
        Case(testDescription: "the file was empty", before: "", after: "", share: 1),
    ]

    @Test(arguments: cases)
    func theLevelIsThatOfTheWorstEvent(_ parameters: Case) {
        var rule = PressureRule()
        rule.begin([(.events, parameters.before)])
        #expect(
            rule.pressure([(.events, parameters.after)], at: 0) { _ in parameters.share }
                == parameters.pressure
        )
        #expect(
            rule.pressure([(.events, parameters.after)], at: 60_000) { _ in parameters.share }
                == nil,
            "The same counts again are nothing new."
        )
    }

    private static func stalls(_ some: Int, _ full: Int) -> String {
        """
        some avg10=0.12 avg60=0.02 avg300=0.00 total=\(some)\nfull avg10=0.00 avg60=0.00 \
        avg300=0.00 total=\(full)\n
        """
    }

    /// The first signal counts what was before, so that the totals decide.
    @Test func aStallCountsIfTasksWaitedForAsLong() {
        var rule = PressureRule()
        func pressure(
            _ signals: [PressureRule.Signal],
            _ some: Int,
            _ full: Int,
            at now: Int64
        ) -> MemoryPressure? {
            rule.pressure(signals.map { ($0, Self.stalls(some, full)) }, at: now) { _ in nil }
        }
        rule.begin([
            (.someStall, Self.stalls(9_000_000, 7_000_000)),
            (.fullStall, Self.stalls(9_000_000, 7_000_000)),
        ])
        #expect(pressure([.someStall, .fullStall], 9_009_800, 7_000_600, at: 0) == nil)
        #expect(pressure([.someStall], 9_200_000, 7_050_000, at: 1000) == .warning)
        // Memory may fill again before the next warning. That the process may be killed is never
        // late.
        #expect(pressure([.someStall], 9_400_000, 7_060_000, at: 2000) == nil)
        #expect(pressure([.someStall, .fullStall], 9_600_000, 7_110_000, at: 3000) == .critical)
        #expect(pressure([.someStall], 9_900_000, 7_110_000, at: 12_000) == .warning)
        #expect(pressure([.fullStall], 9_900_000, 7_110_000, at: 30_000) == nil)
        #expect(rule.pressure([(.fullStall, "")], at: 40_000) { _ in nil } == nil)
    }

    #if !canImport(Darwin)
        struct Place: Sendable, CustomTestStringConvertible {
            var testDescription: String
            var group: String
            var mounts: String
            var folder: String?
        }

        static let unified =
            "24 30 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

        static let places = [
            Place(
                testDescription: "a service",
                group: "0::/system.slice/app.service\n",
                mounts: unified,
                folder: "/sys/fs/cgroup/system.slice/app.service"
            ),
            Place(
                testDescription: "the root of a container",
                group: "0::/\n",
                mounts: unified,
                folder: "/sys/fs/cgroup"
            ),
            Place(
                testDescription: "both versions",
                group: "4:memory:/a\n0::/b\n",
                mounts:
                    """
                    20 1 0:19 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n21 1 0:20 / \
                    /sys/fs/cgroup/unified rw - cgroup2 none rw\n
                    """,
                folder: "/sys/fs/cgroup/unified/b"
            ),
            Place(
                testDescription: "a container that sees the names of its host",
                group: "0::/docker/1/child\n",
                mounts: "24 30 0:22 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
                folder: "/sys/fs/cgroup/child"
            ),
            Place(
                testDescription: "a group outside of the namespace",
                group: "0::/../other\n",
                mounts: unified,
                folder: "/sys/fs/cgroup"
            ),
            Place(
                testDescription: "version 1 alone",
                group: "4:memory:/a\n",
                mounts: "20 1 0:19 / /c rw - cgroup cgroup rw\n",
                folder: nil
            ),
            Place(testDescription: "not mounted", group: "0::/\n", mounts: "", folder: nil),
            Place(
                testDescription: "other lines",
                group: "\n0:\n",
                mounts: "- cgroup2\na b c d e f g -\n",
                folder: nil
            ),
        ]

        @Test(arguments: places)
        func theGroupIsFound(_ place: Place) {
            #expect(ControlGroup.folder(group: place.group, mounts: place.mounts) == place.folder)
        }
    #endif
}
