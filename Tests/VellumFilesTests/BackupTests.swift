import Foundation
import MiniCache
import RawDatabase
import TestThreads
import Testing
import Vellum
import VellumCore
import VellumEngine
import VellumTestSupport

@testable import VellumFiles

/// Copies of files that are in use.
@Suite(.ownThreads)
struct BackupTests {
    let source: TemporaryDirectory
    let target: TemporaryDirectory
    let factory: ArchivesFactory
    var copy: URL { target.file("Archives.sqlite") }

    init() throws {
        (source, target) = (try TemporaryDirectory(), try TemporaryDirectory())
        factory = ArchivesFactory(directory: source.url)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: target.url.path).sorted() }
    }

    // MARK: What is in it

    @Test func aCopyHasEverythingAndCanBeUsedInPlace() throws {
        try PeakFolder.fill(factory)
        try factory.store(for: Hut.self).record(
            Hut(primaryKey: "aged"),
            expiration: .after(.seconds(3600))
        )
        let peaks = try factory.store(for: Peak.self)
        let (order, metadata) = (
            try peaks.keys(), try factory.store(for: Hut.self).metadata(forKey: "aged")
        )
        try factory.backup(to: copy)
        #expect(try names == ["Archives.sqlite"])
        try factory.close()

        let reading = ArchivesFactory(readingOnly: copy)
        #expect(try reading.store(for: Peak.self).keys() == order)
        try reading.close()
        let other = ArchivesFactory(directory: target.url)
        let copied = try other.store(for: Peak.self)
        #expect(try copied.keys() == order)
        #expect(copied.limits.disk == 1.megaByte)
        #expect(try copied.fetch().count == PeakFolder.count)
        #expect(try copied.explain(where: #Predicate { $0.country == "CH" }).usesIndex)
        #expect(try other.store(for: Hut.self).metadata(forKey: "aged") == metadata)
        try copied.record(Peak(1000))
        #expect(try other.openFile().verify().isIntact)
        try other.close()
    }

    @Test func usesThatAreOnlyInMemoryAreInACopy() throws {
        let huts = try factory.store(for: Hut.self)
        for key in ["a", "b", "c"] { try huts.record(Hut(primaryKey: key)) }
        _ = try huts.access(archiveWithKey: "a")
        try factory.backup(to: copy)
        let reading = ArchivesFactory(readingOnly: copy)
        #expect(try reading.store(for: Hut.self).keys() == ["a", "c", "b"])
        try reading.close()
        try factory.close()
    }

    @Test func relaxedWritesAreInACopy() throws {
        let relaxed = ArchivesFactory(directory: source.url, durability: .relaxed)
        let huts = try relaxed.store(for: Hut.self)
        for number in 0..<100 { try huts.record(Hut(primaryKey: "\(number)")) }
        try relaxed.backup(to: copy)
        let reading = ArchivesFactory(readingOnly: copy)
        #expect(try reading.store(for: Hut.self).count() == 100)
        try reading.close()
        try relaxed.close()
    }

    @Test func aCopyOfCachesHoldsTheirVersions() throws {
        let manager = MiniCacheManager(name: "Caches", directory: source.url)
        let cache: MiniCache<String, Int> = manager.cache(
            cacheName: "Counter",
            cacheVersion: .custom("2"),
            maxAge: .days(7)
        )
        cache["a"] = 7
        try manager.backup(to: target.file("Copy.sqlite"))
        try manager.close()
        let other = MiniCacheManager(name: "Copy", directory: target.url)
        let copied: MiniCache<String, Int> = other.cache(
            cacheName: "Counter",
            cacheVersion: .custom("2"),
            maxAge: .days(7)
        )
        #expect(copied["a"] == 7)
        try other.close()
    }

    @Test func aFileThatIsOnlyReadCanBeCopied() throws {
        for form in PeakFolder.Form.allCases {
            let peaks = try PeakFolder(form)
            let before = try peaks.state
            let reading = ArchivesFactory(readingOnly: peaks.url)
            try reading.backup(to: target.file("\(form).sqlite"))
            try reading.close()
            #expect(try peaks.state == before)
            let copied = ArchivesFactory(readingOnly: target.file("\(form).sqlite"))
            #expect(try copied.store(for: Peak.self).count() == PeakFolder.count)
            try copied.close()
            try peaks.seal(false)
        }
    }

    @Test func onlyItsOwnerCanReadACopy() throws {
        try PeakFolder.fill(factory)
        try factory.backup(to: copy)
        let state = try FolderState(target.url)
        #expect(state.files["Archives.sqlite"].map { $0.mode & 0o7777 } == 0o600)
        try factory.close()
    }

    // MARK: One moment

    /// Two archives, in which transactions write the same number.
    @Test func aCopyIsOfOneMomentWhileThreadsWrite() throws {
        let (huts, peaks) = (
            try factory.store(for: Hut.self),
            try factory.store(for: Peak.self, diskLimit: .unlimited)
        )
        try peaks.record(contentsOf: (0..<5000).map(Peak.init))
        let isOver = Flag()
        defer { isOver.set() }
        let written = Numbers(2)
        let factory = factory
        let writers = (0..<2).map { writer in
            onThread { [factory, huts, peaks, isOver, written] () throws -> Int in
                var number = 0
                while !isOver.isSet {
                    number += 1
                    let next = number
                    try factory.transaction {
                        try $0.record(Hut(primaryKey: "\(writer)", beds: next), in: huts)
                        var peak = Peak(0)
                        (peak.name, peak.height) = ("pair \(writer)", next)
                        try $0.record(peak, in: peaks)
                    }
                    written[writer] = next
                }
                return number
            }
        }
        var seen = [0, 0]
        for round in 0..<LongRun.number(10, usually: 4) {
            blockUntil("both have written what the last copy does not have") {
                (0..<2).allSatisfy { written[$0] > seen[$0] }
            }
            try factory.backup(to: target.file("\(round).sqlite"))
            let reading = ArchivesFactory(readingOnly: target.file("\(round).sqlite"))
            let (copiedHuts, copiedPeaks) = (
                try reading.store(for: Hut.self), try reading.store(for: Peak.self)
            )
            for writer in 0..<2 {
                let beds = try copiedHuts.access(archiveWithKey: "\(writer)")?.beds
                #expect(try copiedPeaks.access(archiveWithKey: "pair \(writer)")?.height == beds)
                #expect((beds ?? 0) > seen[writer])
                seen[writer] = beds ?? 0
            }
            #expect(try reading.openFile().verify().isIntact)
            try reading.close()
        }
        isOver.set()
        for writer in writers { #expect(try writer.result().get() > 0) }
        try factory.close()
    }

    // MARK: Progress

    @Test func progressCountsBytesUpToTheSizeOfTheCopy() throws {
        let peaks = try factory.store(for: Peak.self, diskLimit: .unlimited)
        try peaks.record(contentsOf: (0..<60_000).map(Peak.init))
        var steps: [ArchiveFile.Progress] = []
        // What is written meanwhile is not in it, and does not make it begin again.
        try factory.backup(to: copy) { step in
            if steps.count < 4 { try peaks.record(Peak(60_000 + steps.count)) }
            steps.append(step)
        }
        #expect(steps.count > 1)
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.completed < $1.completed })
        #expect(Set(steps.map(\.total)).count == 1)
        #expect(steps.last.map { $0.completed == $0.total } ?? false)
        // The file grows in steps.
        #expect(
            steps.last.map { (0..<1 << 16).contains(target.size(of: "Archives.sqlite") - $0.total) }
                ?? false
        )
        let reading = ArchivesFactory(readingOnly: copy)
        #expect(try reading.store(for: Peak.self).count() == 60_000)
        try reading.close()
        #expect(try peaks.count() > 60_000)
        try factory.close()
    }

    struct Cancelled: Error {}

    @Test func whatTheProgressThrowsCancelsAndLeavesNothing() throws {
        try PeakFolder.fill(factory)
        #expect(throws: Cancelled.self) { try factory.backup(to: copy) { _ in throw Cancelled() } }
        #expect(try names == [])
        try factory.backup(to: copy)
        try factory.close()
    }

    @Test func aFileThatIsClosedOrSuspendedMeanwhileEndsTheBackup() throws {
        try PeakFolder.fill(factory)
        #expect(code { try factory.backup(to: copy) { _ in try factory.suspend() } } == .suspended)
        #expect(try names == [])
        #expect(code { try factory.backup(to: copy) } == .suspended)
        try factory.resume()
        try factory.backup(to: copy)
        try factory.close()
    }

    /// A power failure could take its bytes, or its name.
    @Test(arguments: [FileSystem.Purpose.creating, .syncingFolder])
    func aCopyThatCannotBeSyncedIsAnError(_ failing: FileSystem.Purpose) throws {
        try PeakFolder.fill(factory)
        let files = FileSystem {
            $0.sync = { file, purpose in
                purpose == failing ? -EIO : SystemCalls.sync(file, purpose)
            }
        }
        let error = #expect(throws: VellumError.self) {
            try Backup.run(of: factory.openFile(), to: copy, files: files) { _ in }
        }
        #expect(error?.code == .cannotOpen)
        #expect(try names == (failing == .creating ? [] : ["Archives.sqlite"]))
        try factory.close()
    }

    /// How long both take is shown in `Benchmarks/Files`.
    @Test func aBackupCopiesAsMuchAsSQLitesOwnCopyAndNothingTwice() throws {
        let text = String(repeating: "what fills a page ", count: 50)
        let huts = try factory.store(for: Hut.self, diskLimit: .unlimited)
        try huts.record(contentsOf: (0..<5000).map { Hut(primaryKey: "\($0) \(text)", beds: $0) })
        try huts.flush()
        var steps: [ArchiveFile.Progress] = []
        try factory.backup(to: copy) { steps.append($0) }
        let raw = target.file("raw.sqlite")
        try RawDatabase(source.file("Archives.sqlite")).copy(to: raw)
        let size = try RawDatabase(raw).int("PRAGMA page_size")
        let pages = try RawDatabase(raw).int("PRAGMA page_count")
        #expect(steps.count > 1)
        #expect(steps.last?.total == pages * size)
        #expect(steps.last?.completed == pages * size)
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.completed < $1.completed })
        try factory.close()
    }

    // MARK: The target

    enum Taken: String, CaseIterable {
        case source, file, emptyFile, folder, link, linkToNothing, pipe, log, noFolder,
            fileAsFolder, remote, longName
    }

    @Test(arguments: Taken.allCases)
    func aTargetThatIsTakenIsAnErrorAndStaysAsItIs(_ taken: Taken) throws {
        try PeakFolder.fill(factory)
        let (files, path) = (FileManager.default, copy.path)
        var url = copy
        switch taken {
        case .source: url = source.file("Archives.sqlite")
        case .file: try Data("mine".utf8).write(to: copy)
        case .emptyFile: try Data().write(to: copy)
        case .folder: try files.createDirectory(at: copy, withIntermediateDirectories: false)
        case .link:
            try files.createSymbolicLink(
                atPath: path,
                withDestinationPath: source.file("Archives.sqlite").path
            )
        case .linkToNothing:
            try files.createSymbolicLink(atPath: path, withDestinationPath: "nothing")
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        case .log: try Data(repeating: 1, count: 100).write(to: URL(fileURLWithPath: path + "-wal"))
        case .noFolder: url = target.file("none/Archives.sqlite")
        case .fileAsFolder:
            try Data().write(to: target.file("file"))
            url = target.file("file/Archives.sqlite")
        case .remote: url = try #require(URL(string: "https://example.com/Archives.sqlite"))
        case .longName: url = target.file(String(repeating: "x", count: 250))
        }
        let before = try FolderState(target.url)
        let error = #expect(throws: VellumError.self) { try factory.backup(to: url) }
        #expect(error?.code == .cannotOpen)
        if taken != .remote {
            #expect(
                error?.path?.hasPrefix(taken == .source ? source.url.path : target.url.path)
                    ?? false
            )
        }
        #expect(try FolderState(target.url) == before)
        #expect(try factory.store(for: Peak.self).count() == PeakFolder.count)
        #expect(try factory.openFile().verify().isIntact)
        try factory.close()
    }

    @Test func aFullDiskIsAnErrorAndNothingIsLeft() throws {
        guard let volume = try SmallVolume(megabytes: 1) else { return }
        let peaks = try factory.store(for: Peak.self)
        let huts = try factory.store(for: Hut.self, diskLimit: .unlimited)
        let text = String(repeating: "what fills a page ", count: 50)
        try huts.record(contentsOf: (0..<2500).map { Hut(primaryKey: "\($0) \(text)") })
        #expect(code { try factory.backup(to: volume.file("Archives.sqlite")) } == .diskFull)
        #expect(try FileManager.default.contentsOfDirectory(atPath: volume.url.path) == [])
        // The file itself is not affected.
        try peaks.record(Peak(1))
        try factory.close()
    }

    // MARK: What is removed

    /// What lies in the folder of a backup, and whether the next one removes it.
    static let lying: [(name: String, isRemoved: Bool)] = [
        (".vellum-backup-0123456789abcdef/copy", true), (".vellum-backup-00000000000000ff/", true),
        (".vellum-backup-00000000000000fe/copy", false),
        (".vellum-backup-00000000000000fd/mine.sqlite", false),
        (".vellum-backup-0123456789ABCDEF/copy", false), (".vellum-backup-0123/copy", false),
        ("a.backup-1764417112345678/copy", false), (".vellum-backup-1764417112345678", false),
        ("Archives.backup-1764417112345678", false), ("a.sqlite.backup-0123456789abcdef", false),
        ("copy", false), ("a.sqlite", false),
    ]

    /// Also what a user has made by a backup: microseconds after a name look like ours.
    @Test func aBackupRemovesOnlyWhatNoFinishedBackupCanBe() throws {
        try PeakFolder.fill(factory)
        // One that is still written.
        var descriptor: Int32 = -1
        for (name, isRemoved) in Self.lying {
            let url = target.file(name)
            let folder = name.hasSuffix("/") ? url : url.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            if name.hasSuffix("/") { continue }
            if name.contains("/") || isRemoved {
                try Data([1]).write(to: url)
            } else {
                try factory.backup(to: url)
            }
            if name.contains("00fe") {
                descriptor = open(url.path, O_RDWR)
                #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            }
        }
        for number in 0..<2 { try factory.backup(to: target.file("\(number).sqlite")) }
        try ArchiveFile.restore(from: target.file("0.sqlite"), to: target.file("restored.sqlite"))
        close(descriptor)
        for (name, isRemoved) in Self.lying {
            let isThere = FileManager.default.fileExists(atPath: target.file(name).path)
            #expect(isThere != isRemoved, "\(name)")
        }
        #expect(try names.count == Self.lying.count - 2 + 3)
        try factory.close()
    }

    /// What ends like them is replaced or removed when the file before it is opened.
    @Test(arguments: [
        "-wal", "-shm", "-journal", "-changes", "-damaged", "~repaired", "~repaired-wal",
        ".salvaging", ".salvaging-journal", ".salvaged", "-WAL", ".Salvaged",
    ])
    func aTargetThatEndsLikeASideFileIsRefused(_ suffix: String) throws {
        try PeakFolder.fill(factory)
        try factory.backup(to: copy)
        let url = target.file("Other.sqlite" + suffix)
        let calls: [(String, () throws -> Void)] = [
            ("backup", { try factory.backup(to: url) }),
            ("restore", { try ArchiveFile.restore(from: copy, to: url) }),
            ("export", { try factory.file().export(to: url) }),
        ]
        for (name, call) in calls {
            let error = #expect(throws: VellumError.self, "\(name)") { try call() }
            #expect(error?.code == .cannotOpen && error?.path == url.path, "\(name)")
            #expect(try names == ["Archives.sqlite"], "\(name)")
        }
        try factory.close()
    }
}

/// Runs a function on a thread of its own.
func onThread(
    _ body: @escaping @Sendable () throws -> Int
) -> OnThread<Result<Int, any Error>> {
    OnThread { Result { try body() } }
}

/// What threads have done so far.
final class Numbers: Sendable {
    private let numbers: Locked<[Int]>

    init(_ count: Int) { numbers = Locked(Array(repeating: 0, count: count)) }

    subscript(index: Int) -> Int {
        get { numbers.withLock { $0[index] } }
        set { numbers.withLock { $0[index] = newValue } }
    }
}
