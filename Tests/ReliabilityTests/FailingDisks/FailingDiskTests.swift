import Foundation
import ScriptedDisk
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C5: whatever call fails, the caller gets a clear error, and no acknowledged write is lost.
///
/// `VELLUM_FAULTS=all` makes every call fail in every way; a number makes that many calls fail in each way.
@Suite(.ownThreads(.longSuite), .serialized)
struct FailingDiskTests {
    struct Way: CustomTestStringConvertible, Sendable {
        var fault: DiskFault
        var lasting: Bool

        var testDescription: String { "\(fault), \(lasting ? "until healed" : "once")" }

        static let all = DiskFault.allCases.flatMap { [Way(fault: $0, lasting: false), Way(fault: $0, lasting: true)] }
    }

    /// The errors that plain failures of a disk may cause.
    static let clear: Set<VellumError.Code> = [.inputOutput, .diskFull, .cannotOpen]

    private func sweep(_ way: Way, isLong: Bool, _ amount: Amount) throws {
        let whole = try FaultScenario(isLong: isLong)
        whole.run()
        let calls = whole.script.calls(fitting: way.fault)
        whole.checkRecovery()
        try #require(whole.problems.isEmpty && whole.thrown == 0, "Without any fault: \(whole.problems) \(whole.codes)")
        var (injected, thrown, reopened) = (0, 0, 0)
        for number in amount.sample(below: calls) {
            let scenario = try FaultScenario(isLong: isLong)
            scenario.script.fail(way.fault, at: number, lasting: way.lasting)
            scenario.run()
            scenario.checkRecovery()
            let place = "\(way.testDescription), call \(number) of \(calls): \(scenario.script.lastInjected ?? "none")"
            #expect(scenario.problems.isEmpty, "\(place)")
            // A read that failed once looks like damage until the next opening has checked the file.
            // Another process may hold the lock at any time.
            let expected = way.fault == .locked ? Self.clear.union([.busy]) : Self.clear
            let clear = way.fault == .shortRead && !way.lasting ? expected.union([.damagedFile]) : expected
            #expect(scenario.codes.isSubset(of: clear), "\(place): \(scenario.codes)")
            #expect(try scenario.marksOfDamage() == [], "\(place)")
            injected += scenario.script.injected
            thrown += scenario.thrown
            reopened += scenario.neededReopening ? 1 : 0
        }
        Work.faults.count(injected)
        if Amount.isFull("VELLUM_FAULTS") {
            print(
                "FIGURES faults, \(way.testDescription)\(isLong ? ", long log" : ""): \(calls) calls, \(injected) failed,"
                    + " \(thrown) errors thrown, \(reopened) had to open again")
        }
    }

    @Test(arguments: Way.all)
    func aFailingCallIsReportedAndLosesNothing(_ way: Way) throws {
        try sweep(way, isLong: false, Amount("VELLUM_FAULTS", usually: 3))
    }

    @Test(arguments: Way.all)
    func aFailingCallDuringALogRestartIsReportedAndLosesNothing(_ way: Way) throws {
        try sweep(way, isLong: true, Amount("VELLUM_FAULTS_LONG", usually: 2))
    }
}
