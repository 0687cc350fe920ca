import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// A check finds what keeps callers from reading or writing, and changes nothing.
@Suite(.ownThreads)
struct HealthTests {
    private let setup: Setup
    private let store: Store<Data>
    private let file: DatabaseFile

    init() throws {
        setup = try Setup()
        store = try setup.store(durability: .relaxed)
        file = store.disk.file
        try store.record(Data("one".utf8), forKey: "a")
        try file.commitBatch()
    }

    /// - Parameter milliseconds: How long it waits for others that write. Whoever works in the
    ///   background may need some time.
    private func check(_ milliseconds: Int = 60_000) throws -> FileHealth {
        try FileHealth(of: file, timeout: .milliseconds(milliseconds))
    }

    /// What a commit, a change in memory and a use would change.
    private func marks() throws -> [Int] {
        [
            Int(file.withWriter { $0.lasting.commits } ?? 0), Int(store.disk.archive.present ?? 0),
            file.withWriter { $0.connection.logFrames } ?? 0,
            Int(file.location.changesFile.page.now.finished),
            try RawDatabase(setup.url).int("SELECT count(*) + ifnull(max(stamp), 0) FROM recency"),
        ]
    }

    @Test func aSoundFileIsHealthy() throws {
        let health = try check()
        #expect(
            health.isHealthy && health.writeFailure == nil && health.writeTime != nil
                && health.lastFailure == nil
        )
        #expect(
            health.fileSize > .zero && health.logSize > .zero && health.freeSpace ?? .zero > .zero
        )
        #expect(
            health.description.hasPrefix("healthy, read in")
                && health.description.hasSuffix("no failure")
        )
    }

    @Test func nothingChangesAndTheLogDoesNotGrow() throws {
        file.waitForMaintenance()
        try file.withoutMaintenance {
            let first = try check()
            let marks = try marks()
            for _ in 0..<200 { #expect(try check().isHealthy) }
            let last = try check()
            #expect(last.logSize == first.logSize && last.fileSize == first.fileSize)
            #expect(try self.marks() == marks)
        }
        #expect(try store.value(forKey: "a") == Data("one".utf8))
        #expect(try file.verify().isIntact)
    }

    /// The log begins anew with the first page that is written to it, also if that is undone.
    @Test(arguments: [false, true]) func aLogThatWasCopiedStaysSound(truncated: Bool) throws {
        for round in 0..<5 {
            if truncated { try file.log.emptyLog() } else { _ = try file.log.copy() }
            for _ in 0..<3 { #expect(try check().isHealthy) }
            try store.record(Data(round, count: 5000), forKey: EntryKey("\(round)"))
            #expect(try check().isHealthy)
        }
        #expect(try store.count() == 6)
        #expect(try file.verify().isIntact)
        try setup.close()
        #expect(try setup.store().count() == 6)
    }

    @Test func openRelaxedWritesAreCommittedAndNothingIsLost() throws {
        try store.record(Data("two".utf8), forKey: "b")
        #expect(try check().isHealthy)
        #expect(file.withWriter { $0.batch == nil } ?? false)
        #expect(try RawDatabase(setup.url).int("SELECT count(*) FROM entries") == 2)
        try store.record(Data("three".utf8), forKey: "c")
        #expect(try store.count() == 3)
    }

    /// What a check meets: `nil` of `thrown` is a report.
    struct Meeting: CustomStringConvertible, Sendable {
        let description: String
        var thrown: VellumError.Code?
        var write: VellumError.Code?
        var isHealthyAfterwards = true
        /// How long a check waits for others that write, in milliseconds.
        var patience = 60_000
        let begin: @Sendable (HealthTests) throws -> RawDatabase?
        var end: @Sendable (HealthTests) throws -> Void = { _ in }
    }

    static let meetings: [Meeting] = [
        Meeting(description: "another process writes", write: .busy, patience: 50) { test in
            let other = try RawDatabase(test.setup.url)
            try other.execute("BEGIN IMMEDIATE")
            return other
        },
        failing("no room", full, .diskFull),
        failing("a device that does not write", inputOutput, .inputOutput),
        failing("features of a later version", SQLiteError.unknownFeatures.code, .readOnly),
        Meeting(
            description: "suspended",
            thrown: .suspended,
            begin: { test in
                try test.file.suspend()
                return nil
            },
            end: { try $0.file.resume() }
        ),
        Meeting(description: "closed", thrown: .closed, isHealthyAfterwards: false) { test in
            try test.file.close()
            return nil
        },
        Meeting(description: "removed", thrown: .vanished, isHealthyAfterwards: false) { test in
            try FileManager.default.removeItem(at: test.setup.url)
            return nil
        },
        Meeting(description: "replaced", thrown: .vanished, isHealthyAfterwards: false) { test in
            try FileManager.default.moveItem(
                at: test.setup.url,
                to: test.setup.folder.file("elsewhere")
            )
            try Data().write(to: test.setup.url)
            return nil
        },
        Meeting(
            description: "a list of archives that cannot be read",
            thrown: .damagedFile,
            isHealthyAfterwards: false
        ) { test in
            try RawDatabase(test.setup.url).execute("ALTER TABLE archives RENAME TO others")
            return nil
        },
    ]

    private static func failing(
        _ description: String,
        _ code: Int32,
        _ expected: VellumError.Code
    ) -> Meeting {
        Meeting(
            description: description,
            write: expected,
            begin: { test in
                test.file.failWrites(code)
                return nil
            },
            end: { $0.file.failWrites(nil) }
        )
    }

    @Test(arguments: 0..<meetings.count) func aCheckTellsWhatItMeets(_ number: Int) throws {
        let meeting = Self.meetings[number]
        let met = try meeting.begin(self)
        let thrown = code {
            let health = try check(meeting.patience)
            #expect(health.writeFailure?.code == meeting.write, "\(meeting)")
            #expect(!health.isHealthy && health.description.hasPrefix("unhealthy"), "\(meeting)")
        }
        #expect(thrown == meeting.thrown, "\(meeting)")
        try met?.execute("ROLLBACK")
        try meeting.end(self)
        guard meeting.isHealthyAfterwards else { return }
        #expect(try check().isHealthy, "\(meeting)")
        #expect(try store.value(forKey: "a") == Data("one".utf8))
        try store.record(Data("two".utf8), forKey: "b")
        #expect(try store.count() == 2)
    }

    @Test func anotherThreadThatHoldsTheLockIsWaitedForAndThenReported() throws {
        let (held, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let holder = OnThread { [file] in
            file.withWriter { _ -> Bool? in
                held.signal()
                release.wait()
                return true
            } ?? false
        }
        held.wait()
        for limit in [0, 20] { #expect(try check(limit).writeFailure?.code == .busy) }
        release.signal()
        #expect(holder.result())
        #expect(try check().isHealthy)
    }

    // MARK: The last failure

    @Test func theLastFailureOfACallIsKeptWithItsDateAndWithoutItsKey() throws {
        #expect(try store.value(forKey: "missing") == nil)
        #expect(try check().lastFailure == nil)
        file.failWrites(full)
        #expect(code { try store.removeAll() } == .diskFull)
        file.failWrites(nil)
        let failure = try #require(try check().lastFailure)
        #expect(failure.error.code == .diskFull && failure.date == file.clock.now().date)
        #expect(failure.error.description.contains(file.path))
        #expect(try check().isHealthy)
    }

    /// What concerns one call is no failure of the file.
    @Test func aRefusedCallIsNoFailureOfTheFile() throws {
        let small = try setup.store("small", memory: 10, disk: 10)
        #expect(code { try small.record(Data(1, count: 1000), forKey: "a") } == .tooLarge)
        try small.close()
        #expect(code { _ = try small.value(forKey: "b") } == .closed)
        try file.suspend()
        #expect(code { _ = try store.value(forKey: "b") } == .suspended)
        try file.resume()
        #expect(try check().lastFailure == nil)
    }

    @Test func damageThatACallHasMetStaysUntilTheFileIsOpenedAgain() throws {
        _ = code {
            try file.mappingErrors { () throws(SQLiteError) in throw .corrupt("A test says so.") }
        }
        file.failWrites(full)
        #expect(code { try store.removeAll() } == .diskFull)
        file.failWrites(nil)
        let health = try check()
        #expect(
            !health.isHealthy && health.writeFailure == nil
                && health.lastFailure?.error.code == .damagedFile
        )
        try setup.close()
        let again = try setup.store()
        #expect(try FileHealth(of: again.disk.file, timeout: .zero).isHealthy)
        #expect(try again.value(forKey: "a") == Data("one".utf8))
    }
}
