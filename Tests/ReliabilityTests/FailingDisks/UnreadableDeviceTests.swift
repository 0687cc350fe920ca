import Foundation
import ScriptedDisk
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C5: SQLite reports a failed read of the device as damage (SQLITE_IOERR_CORRUPTFS becomes
/// SQLITE_CORRUPT), but the file is not damaged.
@Suite(.ownThreads)
struct UnreadableDeviceTests {
    private let folder: FastFolder
    private let script: DiskScript

    init() throws {
        folder = try FastFolder()
        script = DiskScript(folder: folder.url)
    }

    private func open() throws -> Store<Data> {
        try DatabaseFile.open(at: folder.file("Archives.sqlite"))
            .store(
                named: "data",
                codec: IdentityCodec(),
                memory: Capacity(1.byte),
                disk: .unlimited
            )
    }

    /// So that the read that fails is the test's, and none in the background.
    private func waitForMaintenance() throws {
        try DatabaseFile.open(at: folder.file("Archives.sqlite")).waitForMaintenance()
    }

    private func fill() throws {
        let store = try open()
        for number in 0..<300 {
            try store.record(
                Data(repeating: UInt8(number & 0xFF), count: 200),
                forKey: EntryKey("\(number)")
            )
        }
        // Maintenance may keep it open for a moment longer.
        try DatabaseFile.open(at: folder.file("Archives.sqlite")).close()
    }

    @Test func aFileThatCannotBeReadDuringOpeningIsNotChanged() throws {
        try fill()
        script.fail(.shortRead, at: 0, lasting: true)
        for _ in 0..<2 {
            let error = #expect(throws: VellumError.self) { try open() }
            #expect(error?.code == .inputOutput)
        }
        script.heal()
        #expect(try folder.names().filter { !$0.hasSuffix("-changes") } == ["Archives.sqlite"])
        #expect(try open().count() == 300)
    }

    @Test func failedReadsOfAnOpenFileAreNotRecordedAsDamage() throws {
        try fill()
        let store = try open()
        try waitForMaintenance()
        script.fail(.shortRead, at: 0, lasting: true)
        let error = #expect(throws: VellumError.self) { try store.value(forKey: "77") }
        #expect(error?.code == .inputOutput)
        #expect(try !folder.names().contains { $0.contains("damaged") })
        script.heal()
        #expect(try store.value(forKey: "77") == Data(repeating: 77, count: 200))
    }

    /// A single failed read looks like damage, even if everything can be read a moment later.
    @Test func temporaryDamageIsCheckedByTheNextOpening() throws {
        try fill()
        do {
            let store = try open()
            #expect(try store.value(forKey: "2") != nil)
            // Otherwise the use is written down half a second later, which reads, too.
            try store.flush()
            try waitForMaintenance()
            script.fail(.shortRead, at: 0)
            let error = #expect(throws: VellumError.self) { try store.value(forKey: "277") }
            #expect(error?.code == .damagedFile)
            #expect(try folder.names().contains("Archives.sqlite-damaged"))
            try DatabaseFile.open(at: folder.file("Archives.sqlite")).close()
        }
        #expect(try open().count() == 300)
        #expect(try !folder.names().contains { $0.contains("damaged") })
    }
}
