import Foundation
import TestThreads
import Testing
import Vellum

/// `Scripts/read_archives.py`: it reads, and changes and creates nothing.
@Suite(
    .ownThreads,
    .enabled(
        if: ["/usr/bin", "/usr/local/bin"].contains {
            FileManager.default.fileExists(atPath: $0 + "/python3")
        }
    )
)
struct ReaderScriptTests {
    private let temporary = TemporaryArchives()
    private var folder: URL { temporary.factory.directory }

    /// Returns how the script ends, and what the script says: its output, or its error.
    private func read(_ path: String) throws -> (end: Child.End, text: String) {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Scripts/read_archives.py")
        let (end, text) = try Child.run(
            "python3",
            [script.standardizedFileURL.path, path],
            errors: .withOutput
        )
        return (end, text)
    }

    private func files() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try names.reduce(into: [:]) { files, name in
            var isFolder: ObjCBool = false
            let path = folder.appendingPathComponent(name).path
            _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            files[name] =
                isFolder.boolValue ? Data() : try Data(contentsOf: URL(fileURLWithPath: path))
        }
    }

    @Test(arguments: [false, true]) func itReadsAFileThatIsClosedOrOpen(isOpen: Bool) throws {
        let store = try temporary.factory.store(for: User.self)
        try store.record(User(name: "ann"))
        if !isOpen { try temporary.factory.close() }
        let before = try files().filter { !$0.key.hasSuffix("-shm") }
        let (end, text) = try read(temporary.file.path)
        #expect(end == .exited(0))
        #expect(text.contains("ann"))
        #expect(try files().filter { !$0.key.hasSuffix("-shm") } == before)
    }

    @Test(arguments: 0..<3)
    func aFeatureOfALaterVersionIsTreatedAsItSays(word: Int) throws {
        let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Fixtures/Format1")
        let (end, text) = try read(
            fixtures.appendingPathComponent("Features\(word).sqlite").standardizedFileURL.path
        )
        #expect(end == .exited(word < 2 ? 0 : 2))
        #expect(text.contains(word < 2 ? "folder/b" : "features of a newer version"))
    }

    /// FN8: a path that was mistyped created an empty database, which the library took over.
    @Test(arguments: [
        "missing", "missing/below", "folder", "text", "empty", "foreign", "link", "a?mode=rwc",
        "a#b", "file:missing?mode=rwc",
    ])
    func whatCannotBeReadIsAnErrorAndNothingIsCreated(_ name: String) throws {
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("folder"),
            withIntermediateDirectories: true
        )
        try Data(repeating: 0x41, count: 8192).write(to: folder.appendingPathComponent("text"))
        try Data().write(to: folder.appendingPathComponent("empty"))
        // The header of a database of another program, without a page.
        try Data("SQLite format 3\0".utf8).write(to: folder.appendingPathComponent("foreign"))
        try FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent("link"),
            withDestinationURL: folder.appendingPathComponent("nowhere")
        )
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let (end, text) = try read(folder.path + "/" + name)
        #expect(end == .exited(2))
        #expect(text.contains(name))
        #expect(!text.contains("Traceback"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
    }

    /// As root, every file can be read.
    @Test(.enabled(if: getuid() != 0)) func aFileThatMayNotBeReadIsAnError() throws {
        try temporary.put(Data())
        try FileManager.default.setAttributes(
            [.posixPermissions: 0],
            ofItemAtPath: temporary.file.path
        )
        #expect(try read(temporary.file.path).end == .exited(2))
    }
}
