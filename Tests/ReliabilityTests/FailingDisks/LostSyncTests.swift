import Foundation
import ScriptedDisk
import Testing
import VellumCore
import VellumEngine

/// C6: a system tells of a failed write-back once, and the next sync may succeed over a hole. So none is believed after one failed.
@Suite(.timeLimit(.minutes(60)))
struct LostSyncTests {
    private let folder: FastFolder
    private let script: DiskScript

    init() throws {
        folder = try FastFolder()
        script = DiskScript(folder: folder.url)
    }

    private func open() throws -> Store<Data> {
        try DatabaseFile.open(at: folder.file("Archives.sqlite"))
            .store(named: "data", codec: IdentityCodec(), memory: Capacity(1.byte), disk: .unlimited)
    }

    @Test func afterASyncThatFailedNoneIsBelievedUntilTheFileIsOpenedAgain() throws {
        var store: Store<Data>? = try open()
        try store?.record(Data([1]), forKey: "a")
        try store?.flush()
        try store?.record(Data([2]), forKey: "b")
        script.fail(.failure, at: 0, lasting: true)
        #expect(throws: VellumError.self) { try store?.flush() }
        script.heal()
        let error = #expect(throws: VellumError.self) { try store?.flush() }
        #expect(error?.code == .inputOutput)
        // It can be closed all the same, and the next one is believed.
        #expect(throws: VellumError.self) { try store?.close() }
        #expect(throws: VellumError.self) { try store?.count() }
        store = nil
        try DatabaseFile.open(at: folder.file("Archives.sqlite")).close()
        let again = try open()
        #expect(try again.value(forKey: "a") == Data([1]))
        #expect(try again.value(forKey: "b") == Data([2]))
        try again.record(Data([3]), forKey: "c")
        try again.flush()
        try again.close()
    }
}
