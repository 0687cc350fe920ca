import CChecksum
import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@testable import VellumEngine

extension HostileFileTests {
    // MARK: Special files at the paths

    enum Thing: String, CaseIterable {
        case fifo, directory, hardLink, symbolicLink, socket, device

        func put(at path: String, victim: String) throws {
            switch self {
            case .fifo: guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
            case .directory: guard mkdir(path, 0o700) == 0 else { throw POSIXError(.EIO) }
            case .hardLink: guard link(victim, path) == 0 else { throw POSIXError(.EIO) }
            case .symbolicLink: guard symlink(victim, path) == 0 else { throw POSIXError(.EIO) }
            case .socket:
                let descriptor = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
                defer { close(descriptor) }
                var address = sockaddr_un()
                address.sun_family = sa_family_t(AF_UNIX)
                withUnsafeMutableBytes(of: &address.sun_path) {
                    $0.copyBytes(from: Array(path.utf8).prefix(107))
                }
                let bound = withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                    }
                }
                guard bound == 0 else { throw POSIXError(.EIO) }
            case .device:
                guard mknod(path, S_IFCHR | 0o600, 0x0105) == 0 else { throw POSIXError(.EPERM) }
            }
        }
    }

    private static let suffixes = [
        "", "-wal", "-shm", "-journal", "-changes", "-damaged", ".salvaging", ".salvaged",
        "~repaired",
    ]

    @Test(arguments: Thing.allCases)
    func onlyRegularFilesAreOpened(_ thing: Thing) throws {
        // Only root may create devices.
        guard thing != .device || geteuid() == 0 else { return }
        for suffix in Self.suffixes where !(thing == .symbolicLink && suffix.isEmpty) {
            try expectRefusal(of: thing, at: suffix)
        }
    }

    private func expectRefusal(of thing: Thing, at suffix: String) throws {
        let hostile = try HostileFile()
        let victim = hostile.folder.url.appendingPathComponent("precious").path
        let precious = Data("precious ".utf8) + Data(count: 10_000)
        try precious.write(to: URL(fileURLWithPath: victim))
        if suffix.isEmpty { try FileManager.default.removeItem(at: hostile.url) }
        try thing.put(at: hostile.url.path + suffix, victim: victim)
        CaseGuard.begin("\(thing) at \(suffix)", slice: 3)
        let error = #expect(throws: VellumError.self) {
            try DatabaseFile.open(at: hostile.url, clock: SampleStore.clock).close()
        }
        CaseGuard.end(slice: 3)
        #expect(error?.code == .cannotOpen, "\(thing) at \(suffix)")
        #expect(
            error?.message.contains(SampleStore.name + suffix) == true,
            "\(error?.message ?? "")"
        )
        #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == precious)
    }

    /// The change page is mapped again if it was replaced.
    @Test(arguments: [Thing.hardLink, .symbolicLink])
    func aLinkThatReplacesAnOpenChangePageIsNotWritten(_ thing: Thing) throws {
        let hostile = try HostileFile()
        let victim = hostile.folder.url.appendingPathComponent("precious").path
        try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
        let file = try DatabaseFile.open(at: hostile.url, clock: SampleStore.clock)
        let store = try SampleStore.open("plain", in: file)
        unlink(hostile.url.path + "-changes")
        try thing.put(at: hostile.url.path + "-changes", victim: victim)
        // The files are checked every few milliseconds.
        var code: VellumError.Code?
        blockUntil("the other change page is noticed") {
            do throws(VellumError) { _ = try store.metadata(forKey: "key 1") } catch {
                code = error.code
            }
            return code != nil
        }
        #expect(code == .cannotOpen)
        #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data("precious".utf8))
        unlink(hostile.url.path + "-changes")
        try file.close()
    }

    /// The same, if another process changes the file while it is open.
    @Test func codeAddedToAnOpenFileIsNotExecuted() throws {
        let hostile = try HostileFile()
        let file = try DatabaseFile.open(at: hostile.url, clock: SampleStore.clock)
        let store = try SampleStore.open("plain", in: file)
        try store.record(HostileFile.value("plain", 1), forKey: "key 1")
        try RawDatabase(hostile.url).execute(
            """
            CREATE TRIGGER a BEFORE INSERT ON entries BEGIN \(Self.endless); END;
            CREATE TRIGGER b AFTER UPDATE ON archives BEGIN SELECT RAISE(IGNORE); END;
            """
        )
        try store.record(HostileFile.value("plain", 2), forKey: "new")
        store.trimMemory(to: .zero)
        #expect(try store.value(forKey: "new") == HostileFile.value("plain", 2))
        try RawDatabase(hostile.url).execute(
            "ALTER TABLE touches RENAME TO theirs; CREATE VIEW touches AS \(Self.endless)"
        )
        let error = #expect(throws: VellumError.self) { _ = try store.value(forKey: "key 1") }
        #expect(error?.code == .damagedFile)
        do throws(VellumError) { try file.close() } catch { #expect(error.code == .damagedFile) }
        let again = try DatabaseFile.open(at: hostile.url, clock: SampleStore.clock)
        #expect(try SampleStore.open("people", in: again).keys().count == HostileFile.entries)
    }

    /// A file at the path where a repaired file waits to replace a damaged one.
    @Test func garbageInPlaceOfARepairedFileDoesNotReplaceAnIntactOne() throws {
        for garbage in [Data(), Data("garbage".utf8), Data(repeating: 7, count: 10_000)] {
            let hostile = try HostileFile()
            try garbage.write(to: URL(fileURLWithPath: hostile.url.path + ".salvaged"))
            let outcome = hostile.use()
            #expect(outcome.found == HostileFile.entries * SampleStore.archives.count)
            #expect(outcome.setAside == 0 && outcome.wrong == [] && outcome.codes == [])
        }
    }

    /// A process killed between moving a damaged file away and installing the repaired one left the
    /// only copy.
    @Test func aRepairedFileIsNeverRemovedIfItIsTheOnlyCopy() throws {
        let hostile = try HostileFile()
        let salvaged = URL(fileURLWithPath: hostile.url.path + ".salvaged")
        try FileManager.default.moveItem(at: hostile.url, to: salvaged)
        let bytes = try Data(contentsOf: salvaged)
        let error = #expect(throws: VellumError.self) {
            _ = try DatabaseFile.open(at: hostile.url, kind: .caches, clock: SampleStore.clock)
        }
        #expect(error?.code == .wrongKind)
        #expect(try Data(contentsOf: salvaged) == bytes)
        // If it is damaged itself, it is repaired again.
        try RawDatabase(salvaged).execute("CREATE VIEW v AS SELECT 1")
        #expect(hostile.use().found == HostileFile.entries * SampleStore.archives.count)
    }

    /// Copying it would fill the disk.
    @Test func aSparseLogIsNotCopied() throws {
        let hostile = try HostileFile()
        try FileManager.default.removeItem(at: hostile.url)
        let log = hostile.url.path + "-wal"
        try Data().write(to: URL(fileURLWithPath: log))
        #expect(truncate(log, 1 << 40) == 0)
        let error = #expect(throws: VellumError.self) {
            _ = try DatabaseFile.open(at: hostile.url, clock: SampleStore.clock)
        }
        #expect(error?.code == .cannotOpen && error?.message.contains("holes") == true)
    }

    /// One damaged byte of a header must not turn a file of caches into a file of archives.
    @Test func aDamagedHeaderDoesNotChangeTheKindOfAFile() throws {
        let hostile = try HostileFile()
        var bytes = try Data(contentsOf: hostile.url)
        bytes[3] ^= 0xFF
        try bytes.write(to: hostile.url)
        let error = #expect(throws: VellumError.self) {
            _ = try DatabaseFile.open(
                at: hostile.url,
                kind: .caches,
                ifNotADatabase: .setAside,
                clock: SampleStore.clock
            )
        }
        #expect(error?.code == .wrongKind)
        #expect(hostile.use().found == HostileFile.entries * SampleStore.archives.count)
    }

    /// A backup may create a second name of the database while it is open.
    @Test func aSecondNameOfAnOpenDatabaseDoesNotAffectIt() throws {
        let hostile = try HostileFile()
        let file = try DatabaseFile.open(at: hostile.url, clock: SampleStore.clock)
        let store = try SampleStore.open("plain", in: file)
        #expect(link(hostile.url.path, hostile.url.path + ".backup") == 0)
        #expect(try store.value(forKey: "key 1") != nil)
        try store.flush()
        try file.close()
    }

    /// The same while the file is open: readers and the thread that copies the log open new
    /// connections.
    @Test func specialFilesCreatedWhileTheFileIsOpenAreNotOpened() throws {
        let hostile = try HostileFile()
        let file = try DatabaseFile.open(at: hostile.url, clock: SampleStore.clock)
        let store = try SampleStore.open("plain", in: file)
        try Thing.fifo.put(at: hostile.url.path + "-journal", victim: "")
        #expect(throws: VellumError.self) { _ = try store.value(forKey: "key 1") }
        unlink(hostile.url.path + "-journal")
        #expect(try store.value(forKey: "key 1") != nil)
        try file.close()
    }
}
