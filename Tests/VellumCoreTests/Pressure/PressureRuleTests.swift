import Testing

@testable import VellumCore

/// How short of memory a process is, by what the kernel counts and notifies of.
@Suite(.timeLimit(.minutes(1)))
struct PressureRuleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var before: String?
        var after: String?
        var fired: [PressureRule.Signal] = [.events]
        var share: Double?
        var pressure: MemoryPressure?
    }

    static let quiet = "low 0\nhigh 3\nmax 7\noom 1\noom_kill 1\noom_group_kill 0\n"

    static let cases = [
        Case(testDescription: "nothing happened", before: quiet, after: quiet),
        Case(testDescription: "the group was throttled", before: quiet, after: "high 4\nmax 7\noom 1\n", pressure: .warning),
        Case(testDescription: "at the limit, by files", before: quiet, after: "high 3\nmax 90\noom 1\n", share: 0.2),
        Case(testDescription: "at the limit, without one", before: quiet, after: "high 3\nmax 90\noom 1\n"),
        Case(
            testDescription: "at the limit, by its own memory", before: quiet, after: "high 3\nmax 8\noom 1\n", share: 0.9,
            pressure: .critical),
        Case(testDescription: "no memory was found", before: quiet, after: "high 3\nmax 7\noom 2\n", pressure: .critical),
        Case(testDescription: "throttled, and no memory was found", before: quiet, after: "high 9\nmax 7\noom 2\n", pressure: .critical),
        Case(testDescription: "some wait", before: nil, after: nil, fired: [.someStall], pressure: .warning),
        Case(testDescription: "all wait", before: nil, after: nil, fired: [.someStall, .fullStall], pressure: .critical),
        Case(testDescription: "the file is gone", before: quiet, after: nil),
        Case(testDescription: "the file is not what it was", before: quiet, after: "high x\nmax\n\noom -\n9 9 9\n"),
        Case(testDescription: "the counts are smaller", before: quiet, after: "high 0\nmax 0\noom 0\n"),
    ]

    @Test(arguments: cases)
    func theLevelIsThatOfTheWorstSignal(_ parameters: Case) {
        var rule = PressureRule(parameters.before.map(PressureRule.Events.init))
        let events = parameters.after.map(PressureRule.Events.init)
        #expect(rule.pressure(events, parameters.fired, anonymousShare: parameters.share) == parameters.pressure)
        #expect(rule.pressure(events, [.events], anonymousShare: parameters.share) == nil, "The same counts again are nothing new.")
    }

    #if !canImport(Darwin)
        struct Place: Sendable, CustomTestStringConvertible {
            var testDescription: String
            var group: String
            var mounts: String
            var folder: String?
        }

        static let unified = "24 30 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

        static let places = [
            Place(
                testDescription: "a service", group: "0::/system.slice/app.service\n", mounts: unified,
                folder: "/sys/fs/cgroup/system.slice/app.service"),
            Place(testDescription: "the root of a container", group: "0::/\n", mounts: unified, folder: "/sys/fs/cgroup"),
            Place(
                testDescription: "both versions", group: "4:memory:/a\n0::/b\n",
                mounts:
                    "20 1 0:19 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n21 1 0:20 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n",
                folder: "/sys/fs/cgroup/unified/b"),
            Place(
                testDescription: "a container that sees the names of its host", group: "0::/docker/1/child\n",
                mounts: "24 30 0:22 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n", folder: "/sys/fs/cgroup/child"),
            Place(
                testDescription: "a group outside of the namespace", group: "0::/../other\n", mounts: unified, folder: "/sys/fs/cgroup"),
            Place(
                testDescription: "version 1 alone", group: "4:memory:/a\n", mounts: "20 1 0:19 / /c rw - cgroup cgroup rw\n", folder: nil),
            Place(testDescription: "not mounted", group: "0::/\n", mounts: "", folder: nil),
            Place(testDescription: "other lines", group: "\n0:\n", mounts: "- cgroup2\na b c d e f g -\n", folder: nil),
        ]

        @Test(arguments: places)
        func theGroupIsFound(_ place: Place) {
            #expect(ControlGroup.folder(group: place.group, mounts: place.mounts) == place.folder)
        }
    #endif
}
