import Foundation
import ScriptedDisk
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C5: whatever call fails, the caller gets a clear error, and no acknowledged write is lost.
///
/// `VELLUM_FAULTS=all` makes every call fail in every way; a number makes that many calls fail in
/// each way.
@Suite(.ownThreads(.longSuite), .serialized)
struct FailingDiskTests {
    struct Way: CustomTestStringConvertible, Sendable {
        var fault: DiskFault
        var lasting: Bool

        var testDescription: String { "\(fault), \(lasting ? "until healed" : "once")" }

        static let all = DiskFault.allCases.flatMap {
            [Way(fault: $0, lasting: false), Way(fault: $0, lasting: true)]
        }
    }

    /// The errors that plain failures of a disk may cause.
    static let clear: Set<VellumError.Code> = [.inputOutput, .diskFull, .cannotOpen]

    /// A scenario in which no call fails: how many could, and what was wrong nevertheless.
    private typealias Whole = (calls: [DiskFault: Int], problems: [String])

    private static let whole = Result { try run(isLong: false) }
    private static let wholeLong = Result { try run(isLong: true) }

    private static func run(isLong: Bool) throws -> Whole {
        let scenario = try FaultScenario(isLong: isLong)
        scenario.run()
        let calls = DiskFault.allCases.map { ($0, scenario.script.calls(fitting: $0)) }
        scenario.checkRecovery()
        let thrown = scenario.thrown == 0 ? [] : ["\(scenario.codes)"]
        return (Dictionary(uniqueKeysWithValues: calls), scenario.problems + thrown)
    }

    private func sweep(_ way: Way, isLong: Bool, _ amount: Amount) throws {
        let whole = try (isLong ? Self.wholeLong : Self.whole).get()
        try #require(whole.problems.isEmpty, "Without any fault: \(whole.problems)")
        let calls = try #require(whole.calls[way.fault])
        var (injected, thrown, reopened) = (0, 0, 0)
        for number in amount.sample(below: calls) {
            let scenario = try FaultScenario(isLong: isLong)
            scenario.script.fail(way.fault, at: number, lasting: way.lasting)
            scenario.run()
            scenario.checkRecovery()
            let place =
                """
                \(way.testDescription), call \(number) of \(calls): \
                \(scenario.script.lastInjected ?? "none")
                """
            #expect(scenario.problems.isEmpty, "\(place)")
            // A read that failed once looks like damage until the next opening has checked the
            // file. Another process may hold the lock at any time.
            let expected = way.fault == .locked ? Self.clear.union([.busy]) : Self.clear
            let clear =
                way.fault == .shortRead && !way.lasting ? expected.union([.damagedFile]) : expected
            #expect(scenario.codes.isSubset(of: clear), "\(place): \(scenario.codes)")
            #expect(try scenario.marksOfDamage() == [], "\(place)")
            injected += scenario.script.injected
            thrown += scenario.thrown
            reopened += scenario.neededReopening ? 1 : 0
        }
        Work.faults.count(injected)
        if Amount.isFull("VELLUM_FAULTS") {
            print(
                """
                FIGURES faults, \(way.testDescription)\(isLong ? ", long log" : ""): \(calls) \
                calls, \(injected) failed,
                """
                    + " \(thrown) errors thrown, \(reopened) had to open again"
            )
        }
    }

    @Test(arguments: Way.all)
    func aFailingCallIsReportedAndLosesNothing(_ way: Way) throws {
        let amount = Amount("VELLUM_FAULTS", usually: LongRun.number(6, usually: 3))
        try sweep(way, isLong: false, amount)
    }

    @Test(arguments: Way.all)
    func aFailingCallDuringALogRestartIsReportedAndLosesNothing(_ way: Way) throws {
        try sweep(way, isLong: true, Amount("VELLUM_FAULTS_LONG", usually: 2))
    }
}
