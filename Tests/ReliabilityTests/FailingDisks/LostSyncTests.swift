import Foundation
import ScriptedDisk
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C6: a system reports a failed write-back once, and the next sync may succeed although data is
/// missing. So no sync is trusted after a failed one.
@Suite(.ownThreads)
struct LostSyncTests {
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

    @Test func afterAFailedSyncNoSyncIsTrustedUntilTheFileIsReopened() throws {
        var store: Store<Data>? = try open()
        try store?.record(Data([1]), forKey: "a")
        try store?.flush()
        try store?.record(Data([2]), forKey: "b")
        script.fail(.failure, at: 0, lasting: true)
        #expect(throws: VellumError.self) { try store?.flush() }
        script.heal()
        let error = #expect(throws: VellumError.self) { try store?.flush() }
        #expect(error?.code == .inputOutput)
        // The file can still be closed, and after reopening syncs are trusted again.
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
