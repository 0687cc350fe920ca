import Foundation
import Testing

@testable import Shallows

@Suite(.timeLimit(.minutes(60)))
struct SweepTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func files(_ processes: ProcessTable = .system) -> FolderFiles {
        FolderFiles(folder: scratch.folder, processes: processes)
    }

    /// Process 1 was started at 10, 2 is not there, and of 3 nothing is known.
    private static let table = ProcessTable(machine: "here", process: 1) { process in
        switch process {
        case 1: .at(10)
        case 2: .none
        default: .unknown
        }
    }

    private func temporary(_ machine: String, _ process: Int32, _ start: UInt64) -> String {
        TemporaryName(machine: machine, process: process, start: start, number: 5).text
    }

    @Test func aTemporaryNameIsReadBack() throws {
        let name = TemporaryName(machine: "ab12", process: 42, start: 7, number: .max)
        #expect(TemporaryName(name.text) == name)
        #expect(TemporaryName(TemporaryName.next()) != nil)
        for text in ["", "~sh-t-", "~sh-t-a-b-c-d", "~sh-t-a-1-2", "~sh-t-a-1-2-3-4", "~sh-p-a-1-2-3"] {
            #expect(TemporaryName(text) == nil)
        }
    }

    @Test func noTwoTemporaryNamesAreTheSame() {
        #expect(Set((0..<1000).map { _ in TemporaryName.next() }).count == 1000)
    }

    @Test func thisProcessIsAlive() throws {
        let own = try #require(TemporaryName(TemporaryName.next()))
        #expect(ProcessTable.system.isAlive(own) == true)
        #expect(own.process == getpid())
        let later = TemporaryName(machine: own.machine, process: own.process, start: own.start + 1, number: 1)
        #expect(ProcessTable.system.isAlive(later) == false)
        let missing = TemporaryName(machine: own.machine, process: .max, start: 1, number: 1)
        #expect(ProcessTable.system.isAlive(missing) == false)
        let elsewhere = TemporaryName(machine: "elsewhere", process: .max, start: 1, number: 1)
        #expect(ProcessTable.system.isAlive(elsewhere) == nil)
    }

    @Test(
        arguments: [
            ("here", 1, 10, false),  // It lives.
            ("here", 1, 9, true),  // Another process has its number.
            ("here", 2, 10, true),  // It is gone.
            ("here", 3, 10, false),  // Nothing is known: the file is young.
            ("there", 2, 10, false),  // On another machine: the file is young.
        ] as [(String, Int32, UInt64, Bool)])
    func whatAProcessLeftIsRemovedOnlyIfItIsGone(machine: String, process: Int32, start: UInt64, isRemoved: Bool) throws {
        try scratch.plant("partial", at: temporary(machine, process, start))
        #expect(try files(Self.table).sweep() == (isRemoved ? 1 : 0))
        #expect(try scratch.files().isEmpty == isRemoved)
    }

    @Test(arguments: [("there", 2), ("here", 3), ("~", 0)] as [(String, Int32)])
    func whatCannotBeKnownIsRemovedAfterADay(machine: String, process: Int32) throws {
        try scratch.plant("partial", at: machine == "~" ? "~sh-t-something else" : temporary(machine, process, 10))
        let folder = FolderPath(scratch.folder.path)
        let files = TemporaryFiles(folder: folder, calls: .system, processes: Self.table)
        #expect(try files.sweep(at: Date(timeIntervalSinceNow: 23 * 3600)) == 0)
        #expect(try files.sweep(at: Date(timeIntervalSinceNow: 25 * 3600)) == 1)
        #expect(try scratch.files().isEmpty)
    }

    @Test func aMachineThatIsNotKnownIsNobodys() throws {
        let unknown = ProcessTable(machine: ProcessTable.unknownMachine, process: 1) { _ in .none }
        try scratch.plant("partial", at: temporary(ProcessTable.unknownMachine, 2, 0))
        #expect(try files(unknown).sweep() == 0)
    }

    /// P31.
    @Test func theFirstWriteSweeps() throws {
        let left = temporary("here", 2, 10)
        try scratch.plant("partial", at: left)
        let files = files(Self.table)
        #expect(try files.read("key") == nil)
        #expect(try scratch.files() == [left])
        try files.write("value", for: "key")
        #expect(try scratch.files() == [files.fileName(for: "key")])
        try scratch.plant("partial", at: left)
        try files.write("value", for: "key")
        #expect(try scratch.files().count == 2)
    }

    @Test func aFileThatIsBeingWrittenIsNotSwept() throws {
        let folder = scratch.folder
        let calls = FileSystemCalls(rename: { path, target in
            #expect(throws: Never.self) { try #require(try FolderFiles(folder: folder).sweep() == 0) }
            return SystemCalls.rename(path, target)
        })
        try FolderFiles(folder: folder, calls: calls).write("value", for: "key")
        #expect(try files().string("key") == "value")
    }

    @Test func nothingElseIsSwept() throws {
        let names = ["Zm9v", "~sh-p-a", "~sh-h-0-0", ".dat.nosync", "folder/~sh-t-x"]
        for name in names { try scratch.plant("value", at: name) }
        #expect(
            try TemporaryFiles(folder: FolderPath(scratch.folder.path), calls: .system, processes: .system).sweep(at: .distantFuture) == 0)
        #expect(try scratch.files() == names.sorted())
    }

    @Test func aSweepThatFailsDoesNotStopAWrite() throws {
        let files = FolderFiles(folder: scratch.folder, calls: FileSystemCalls(list: { _ in .failure(-EACCES) }))
        try files.write("value", for: "key")
        #expect(try files.string("key") == "value")
        #expect(throws: FileFailure.self) { try files.sweep() }
    }

    @Test func aMissingFolderHasNothingToSweep() throws {
        #expect(try files().sweep() == 0)
    }
}
