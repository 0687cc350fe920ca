import Foundation
import Testing
import Tiers
import TiersSQLite

/// P7: the system, or another program, takes the file away while it is open. What is recorded from then on would be gone with it.
@Suite(.timeLimit(.minutes(1)))
struct VanishedFileTests {
    enum Loss: CaseIterable {
        case folder, file
    }

    private func open(_ folder: URL) throws -> TieredStore<Data> {
        try SQLiteFile.open(at: folder.appendingPathComponent("Archives.sqlite"))
            .store(named: "data", codec: IdentityCodec(), memory: Capacity(1.byte), disk: .unlimited)
    }

    @Test(arguments: Loss.allCases)
    func nothingIsAcknowledgedIntoAFileThatIsGone(_ loss: Loss) throws {
        let scratch = try FastFolder()
        let folder = scratch.file("archives")
        var store: TieredStore<Data>? = try open(folder)
        try store?.record(Data([1]), forKey: "old")
        switch loss {
        case .folder: try FileManager.default.removeItem(at: folder)
        case .file: try FileManager.default.removeItem(at: folder.appendingPathComponent("Archives.sqlite"))
        }
        let error = #expect(throws: StoreError.self) { try store?.record(Data([2]), forKey: "new") }
        #expect(error?.code.description == "vanished")
        store = nil
        // Opened again, it is made anew.
        let again = try open(folder)
        try again.record(Data([3]), forKey: "again")
        #expect(try again.value(forKey: "again").value == Data([3]))
        #expect(try again.value(forKey: "new") == .miss(.absent))
        try again.close()
        #expect(try open(folder).value(forKey: "again").value == Data([3]))
    }
}
