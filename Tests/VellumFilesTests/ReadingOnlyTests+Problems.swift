import Foundation
import RawDatabase
import TestThreads
import Testing
import Vellum
import VellumCore
import VellumEngine
import VellumFiles
import VellumTestSupport

extension ReadingOnlyTests {
    // MARK: Files that cannot be read

    /// What may be wrong with a file.
    enum Problem: String, CaseIterable {
        case missing, missingFolder, empty, folder, notADatabase, foreign, noTables, wrongKind,
            newerFormat, damagedHeader, truncated,
            onlyHeader
        case log, logWithoutDatabase, journal, pipe, linkToNothing, link, marked

        /// The code of the error for files that are shipped, and for others; `nil` if the file is
        /// read.
        var codes: (shipped: VellumError.Code?, reading: VellumError.Code?) {
            switch self {
            case .missing, .missingFolder, .folder, .pipe, .linkToNothing, .journal:
                (.cannotOpen, .cannotOpen)
            case .empty, .notADatabase, .onlyHeader: (.notADatabase, .notADatabase)
            case .foreign, .noTables: (.foreignFile, .foreignFile)
            case .wrongKind: (.wrongKind, .wrongKind)
            case .newerFormat: (.newerFormat, .newerFormat)
            case .damagedHeader, .truncated, .logWithoutDatabase: (.damagedFile, .damagedFile)
            case .log: (.cannotOpen, nil)
            case .link, .marked: (nil, nil)
            }
        }
    }

    private func make(_ problem: Problem, at url: URL, _ peaks: PeakFolder) throws {
        let files = FileManager.default
        func change(_ body: (inout Data) -> Void) throws {
            var data = try Data(contentsOf: peaks.url)
            body(&data)
            try data.write(to: url)
        }
        switch problem {
        case .missing, .missingFolder: break
        case .empty: try Data().write(to: url)
        case .folder: try files.createDirectory(at: url, withIntermediateDirectories: false)
        case .notADatabase: try Data(repeating: 7, count: 10_000).write(to: url)
        case .foreign:
            try RawDatabase(url).execute("CREATE TABLE other(x); PRAGMA journal_mode = WAL")
        case .noTables:
            try RawDatabase(url).execute(
                "PRAGMA user_version = 0; PRAGMA journal_mode = WAL; VACUUM"
            )
        case .wrongKind:
            try RawDatabase(peaks.url).execute(
                "PRAGMA application_id = \(FileKind.caches.rawValue)"
            )
        case .newerFormat: try RawDatabase(peaks.url).declareFormat(99)
        case .damagedHeader: try change { $0[21] = 9 }
        case .truncated: try change { $0.removeLast($0.count / 2) }
        case .onlyHeader: try change { $0.removeLast($0.count - 50) }
        case .log, .logWithoutDatabase:
            let source = try TemporaryDirectory()
            let factory = ArchivesFactory(directory: source.url)
            try PeakFolder.fill(factory)
            let path = source.file("Archives.sqlite")
            // As a program that was killed leaves them.
            if problem == .log {
                try FileSystem.copy(path.path, to: url.path)
            } else {
                try Data().write(to: url)
            }
            try FileSystem.copy(source.file("Archives.sqlite-wal").path, to: url.path + "-wal")
            try factory.close()
        case .journal:
            try change { _ in }
            try Data(repeating: 7, count: 1000).write(
                to: URL(fileURLWithPath: url.path + "-journal")
            )
        case .pipe: #expect(mkfifo(url.path, 0o600) == 0)
        case .linkToNothing:
            try files.createSymbolicLink(atPath: url.path, withDestinationPath: "nothing")
        case .link:
            try files.createSymbolicLink(atPath: url.path, withDestinationPath: peaks.url.path)
        case .marked:
            try change { _ in }
            try Data().write(to: URL(fileURLWithPath: url.path + "-damaged"))
        }
        if [.wrongKind, .newerFormat].contains(problem) {
            try files.copyItem(at: peaks.url, to: url)
        }
    }

    @Test(arguments: Problem.allCases, [DatabaseFile.Access.shipped, .reading])
    func aFileThatCannotBeReadIsAnErrorAndStaysAsItIs(
        _ problem: Problem,
        _ access: DatabaseFile.Access
    ) throws {
        for form in [PeakFolder.Form.backup, .closed] {
            let peaks = try PeakFolder(form)
            let folder = try TemporaryDirectory()
            let url =
                problem == .missingFolder
                ? folder.file("none/Peaks.sqlite") : folder.file("Peaks.sqlite")
            try make(problem, at: url, peaks)
            let before = try FolderState(folder.url)
            let expected = access == .shipped ? problem.codes.shipped : problem.codes.reading
            let found = code {
                let file = try DatabaseFile.open(at: url, kind: .archives, access: access)
                let store: Store<Data> = try file.store(named: "Peak", codec: IdentityCodec())
                #expect(try store.count() == PeakFolder.count)
                #expect(try store.values().count == PeakFolder.count)
                try file.close()
            }
            #expect(found == expected)
            var after = try FolderState(folder.url)
            // SQLite reads a log by a wal-index, which it keeps while the log is there.
            if problem == .log {
                after.files["Peaks.sqlite-shm"] = nil
                // Gives the log to the owner of the database, if a user opens it who may.
                after.files["Peaks.sqlite-wal"]?.changed =
                    before.files["Peaks.sqlite-wal"]?.changed ?? 0
            }
            #expect(after == before)
        }
    }

    @Test func anErrorSaysWhatToDo() throws {
        let folder = try TemporaryDirectory()
        let peaks = try PeakFolder()
        try make(.log, at: folder.file("Peaks.sqlite"), peaks)
        let error = #expect(throws: VellumError.self) {
            try ArchivesFactory(readingOnly: folder.file("Peaks.sqlite")).store(for: Peak.self)
        }
        #expect(error?.message.contains("try factory.close()") ?? false)
        #expect(error?.message.contains("backup(to:)") ?? false)
        let missing = #expect(throws: VellumError.self) {
            try ArchivesFactory(readingOnly: folder.file("None.sqlite")).store(for: Peak.self)
        }
        #expect(missing?.message.contains("no file") ?? false)
        #expect(missing?.path == folder.file("None.sqlite").path)
        #expect(throws: VellumError.self) {
            try ArchivesFactory(readingOnly: folder.file("None.sqlite")).archives()
        }
        let remote = try #require(URL(string: "https://example.com/Peaks.sqlite"))
        #expect(
            code { _ = try ArchivesFactory(readingOnly: remote).store(for: Peak.self) }
                == .cannotOpen
        )
    }

    @Test func damageIsFoundAndNotMarked() throws {
        let peaks = try PeakFolder()
        var data = try Data(contentsOf: peaks.url)
        // A page in the middle.
        for offset in data.count / 2 / 4096 * 4096..<data.count / 2 / 4096 * 4096 + 4096 {
            data[offset] = 0xFF
        }
        try data.write(to: peaks.url)
        let before = try peaks.state
        let file = try DatabaseFile.open(at: peaks.url, kind: .archives, access: .reading)
        #expect(try !file.verify().isIntact)
        try file.close()
        #expect(try peaks.state == before)
    }

    // MARK: Beside a program that writes

    @Test func whatAWriterCommitsIsReadAtOnce() throws {
        let folder = try TemporaryDirectory()
        let writing = ArchivesFactory(directory: folder.url)
        let huts = try writing.store(for: Hut.self)
        try huts.record(Hut(primaryKey: "hut", beds: 1))
        let file = try DatabaseFile.open(
            at: folder.file("Archives.sqlite"),
            kind: .archives,
            access: .reading
        )
        let read: Store<Hut> = try file.store(named: "Hut", codec: CodableCodec(), caching: .values)
        for beds in 1..<50 {
            try huts.record(Hut(primaryKey: "hut", beds: beds))
            #expect(try read.value(forKey: "hut")?.beds == beds)
        }
        try huts.deleteAll()
        #expect(try read.value(forKey: "hut") == nil)
        #expect(code { try read.record(Hut(primaryKey: "hut"), forKey: "hut") } == .readOnly)
        // The writer's locks are still there.
        try file.close()
        try huts.record(Hut(primaryKey: "hut", beds: 3))
        #expect(try writing.openFile().verify().isIntact)
        try writing.close()
    }

    @Test func aBackupThatIsOpenedForWritingHasALogAgain() throws {
        let peaks = try PeakFolder()
        try FileManager.default.moveItem(at: peaks.url, to: peaks.folder.file("Archives.sqlite"))
        #expect(
            try Array(Data(contentsOf: peaks.folder.file("Archives.sqlite"))[18..<20]) == [1, 1]
        )
        // While one reads it as it was.
        let reading = ArchivesFactory(readingOnly: peaks.folder.file("Archives.sqlite"))
        #expect(try reading.store(for: Peak.self).access(archiveWithKey: "peak 3") == Peak(3))
        let writing = ArchivesFactory(directory: peaks.folder.url)
        let store = try writing.store(for: Peak.self)
        try store.record(Peak(1000))
        #expect(try store.count() == PeakFolder.count + 1)
        #expect(try reading.store(for: Peak.self).access(archiveWithKey: "peak 4") == Peak(4))
        try writing.close()
        try reading.close()
        #expect(
            try Array(Data(contentsOf: peaks.folder.file("Archives.sqlite"))[18..<20]) == [2, 2]
        )
        #expect(try writing.openFile().verify().isIntact)
        try writing.close()
    }
}
