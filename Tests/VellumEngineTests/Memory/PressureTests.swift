import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// What an archive gives back when the system is short of memory.
@Suite(.ownThreads)
struct PressureTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var disk: DataSize
        var pressure: MemoryPressure
        /// What memory has then of a hundred objects of a hundred bytes.
        var left: Int
    }

    @Test(arguments: [
        Case(testDescription: "a warning", disk: 1.megaByte, pressure: .warning, left: 50),
        Case(testDescription: "critical", disk: 1.megaByte, pressure: .critical, left: 0),
        // The disk has twenty of them.
        Case(
            testDescription: "a warning, most in memory alone",
            disk: 2000.bytes,
            pressure: .warning,
            left: 80
        ),
        Case(
            testDescription: "critical, most in memory alone",
            disk: 2000.bytes,
            pressure: .critical,
            left: 80
        ),
    ])
    func memoryKeepsTheNewestAndWhatNothingElseHas(_ parameters: Case) throws {
        let store = try setup.store(disk: parameters.disk)
        for number in 0..<100 {
            setup.clock.advance(by: .seconds(1))
            try store.record(Data(number, count: 100), forKey: EntryKey("\(number)"))
        }
        store.release(under: parameters.pressure)
        #expect(store.memory.totals().entries == parameters.left)
        if parameters.disk == 1.megaByte {
            #expect(
                store.memory.newest().map(\.key)
                    == (100 - parameters.left..<100).reversed().map { EntryKey("\($0)") }
            )
        }
        store.memory.checkInvariants()
        // Nothing is lost, and memory fills again.
        for number in 0..<100 {
            #expect(try store.value(forKey: EntryKey("\(number)")) == Data(number, count: 100))
        }
        #expect(store.memory.totals().entries == 100)
    }

    @Test func usesBeforeItAreWrittenToTheDisk() throws {
        let store = try setup.store()
        for number in 0..<10 {
            try store.record(Data(number, count: 100), forKey: EntryKey("\(number)"))
        }
        setup.clock.advance(by: .seconds(10))
        _ = try store.value(forKey: "0")
        store.release(under: .critical)
        #expect(try store.keys(limit: 1) == ["0"])
    }
}
