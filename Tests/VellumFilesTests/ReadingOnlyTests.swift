import Foundation
import RawDatabase
import TestThreads
import Testing
import Vellum
import VellumCore
import VellumEngine
import VellumFiles
import VellumTestSupport

/// Files that are only read.
@Suite(.ownThreads)
struct ReadingOnlyTests {
    // MARK: Reading

    @Test(arguments: PeakFolder.Form.allCases)
    func everythingIsReadAndNothingChanges(_ form: PeakFolder.Form) throws {
        let peaks = try PeakFolder(form)
        let before = try peaks.state
        let factory = ArchivesFactory(readingOnly: peaks.url)
        let store = try factory.store(for: Peak.self)
        #expect(try store.count() == PeakFolder.count)
        #expect(try store.keys(limit: 2) == ["peak 0", "peak 299"])
        #expect(try store.access(archiveWithKey: "peak 7") == Peak(7))
        #expect(try store.access(allKeys: ["peak 1", "none"]) == ["peak 1": Peak(1)])
        #expect(
            try store.fetch(where: #Predicate { $0.country == "CH" && $0.height > 2500 }).count
                == 16
        )
        #expect(try factory.archives().map(\.name) == ["Peak", "Hut"])
        #expect(try factory.store(for: Hut.self).accessAll() == [Hut(primaryKey: "hut", beds: 40)])
        // Memory has it now.
        #expect(try store.access(archiveWithKey: "peak 7") == Peak(7))
        try factory.close()
        #expect(try peaks.state == before)
        try peaks.seal(false)
    }

    @Test func aFolderThatNobodyCanWriteNeedsNoSideFilesWhileItIsRead() throws {
        let peaks = try PeakFolder(.sealed)
        let before = try peaks.state
        let factory = ArchivesFactory(readingOnly: peaks.url)
        #expect(try factory.store(for: Peak.self).count() == PeakFolder.count)
        #expect(try peaks.state == before)
        try factory.close()
        try peaks.seal(false)
    }

    @Test func aBackupNeedsNoSideFilesWhileItIsRead() throws {
        let peaks = try PeakFolder(.backup)
        let before = try peaks.state
        let factory = ArchivesFactory(readingOnly: peaks.url)
        #expect(try factory.store(for: Peak.self).fetch().count == PeakFolder.count)
        #expect(try peaks.state == before)
        try factory.close()
    }

    @Test func aReadOnlyVolumeIsEnough() throws {
        guard let volume = try SmallVolume(megabytes: 4) else { return }
        for form in [PeakFolder.Form.backup, .closed] {
            let peaks = try PeakFolder(form)
            try FileManager.default.copyItem(at: peaks.url, to: volume.file("\(form).sqlite"))
        }
        guard volume.allowWriting(false, megabytes: 4) else { return }
        for form in [PeakFolder.Form.backup, .closed] {
            let factory = ArchivesFactory(readingOnly: volume.file("\(form).sqlite"))
            #expect(try factory.store(for: Peak.self).count() == PeakFolder.count)
            try factory.close()
        }
        #expect(volume.allowWriting(true, megabytes: 4))
    }

    @Test(arguments: PeakFolder.Form.allCases)
    func anIndexThatTheFileHasIsUsed(_ form: PeakFolder.Form) throws {
        let peaks = try PeakFolder(form)
        let factory = ArchivesFactory(readingOnly: peaks.url)
        let store = try factory.store(for: Peak.self)
        #expect(try store.explain(where: #Predicate { $0.country == "CH" }).usesIndex)
        try factory.close()
        try peaks.seal(false)
    }

    /// The same objects with another index.
    struct ReindexedPeak: ArchiveCodable, IndexedArchivable {
        static let archiveName = "Peak"
        static var archiveIndexes: [ArchiveIndex<ReindexedPeak>] { [.index(\.height)] }
        var primaryKey: String { name }
        var name: String
        var country: String
        var height: Int
    }

    @Test func withAnotherIndexQueriesReadEveryObject() throws {
        let peaks = try PeakFolder()
        let before = try peaks.state
        let factory = ArchivesFactory(readingOnly: peaks.url)
        let store = try factory.store(for: ReindexedPeak.self)
        #expect(try store.fetch(where: #Predicate { $0.height > 2900 }).count == 9)
        #expect(try !store.explain(where: #Predicate { $0.height > 2900 }).usesIndex)
        try factory.close()
        #expect(try peaks.state == before)
    }

    @Test func objectsOfAnOlderVersionAreMigratedAsTheyAreRead() throws {
        let folder = try TemporaryDirectory()
        let old = ArchivesFactory(directory: folder.file("old"))
        try old.store(for: OldPeak.self).record(
            contentsOf: (0..<20).map { OldPeak(name: "\($0)", country: "CH", feet: $0 * 100) }
        )
        try FileManager.default.createDirectory(
            at: folder.file("new"),
            withIntermediateDirectories: true
        )
        try old.backup(to: folder.file("new/Peaks.sqlite"))
        try old.close()
        let before = try FolderState(folder.file("new"))
        let factory = ArchivesFactory(readingOnly: folder.file("new/Peaks.sqlite"))
        let store = try factory.store(for: NewPeak.self)
        #expect(try store.access(archiveWithKey: "7") == NewPeak(name: "7", height: 70))
        #expect(try store.fetch(where: #Predicate { $0.height >= 100 }).count == 10)
        try factory.close()
        #expect(try FolderState(folder.file("new")) == before)
    }

    @Test func anArchiveKeepsTheLimitOfTheFileAndEvictsNothing() throws {
        let peaks = try PeakFolder()
        let before = try peaks.state
        let factory = ArchivesFactory(readingOnly: peaks.url)
        let store = try factory.store(for: Peak.self, diskLimit: 100, keepExpiredFor: .seconds(60))
        #expect(store.limits.disk == 1.megaByte)
        #expect(try factory.store(for: Peak.self, diskLimit: 1.gigaByte).limits.disk == 1.megaByte)
        #expect(try store.count() == PeakFolder.count)
        try factory.close()
        #expect(try peaks.state == before)
    }

    @Test func anArchiveThatTheFileDoesNotHaveIsNotMade() throws {
        struct Other: ArchiveCodable {
            static let archiveName = "Other"
            var primaryKey: String
        }
        let peaks = try PeakFolder()
        let factory = ArchivesFactory(readingOnly: peaks.url)
        let error = #expect(throws: VellumError.self) { try factory.store(for: Other.self) }
        #expect(error?.code == .readOnly)
        #expect(error?.message.contains("no such archive") ?? false)
        #expect(error?.archive == "Other")
        #expect(error?.path == peaks.url.path)
        try factory.close()
    }

    @Test func observingGivesOneAnswer() async throws {
        let peaks = try PeakFolder()
        let factory = ArchivesFactory(readingOnly: peaks.url)
        let store = try factory.store(for: Peak.self)
        var answers = 0
        for try await count in store.observeCount(where: #Predicate { $0.country == "CH" }) {
            #expect(count == 100)
            answers += 1
            if answers == 1 { try factory.close() }
        }
        #expect(answers == 1)
    }

    @Test func aFactoryGoesOnAfterItWasSuspended() throws {
        let peaks = try PeakFolder(.closed)
        let before = try peaks.state
        let factory = ArchivesFactory(readingOnly: peaks.url)
        let store = try factory.store(for: Peak.self)
        #expect(try store.count() == PeakFolder.count)
        try factory.suspend()
        #expect(try peaks.state == before)
        #expect(code { _ = try store.count() } == .suspended)
        try factory.resume()
        #expect(try store.access(archiveWithKey: "peak 9") == Peak(9))
        #expect(code { try store.record(Peak(1)) } == .readOnly)
        try factory.close()
        #expect(try peaks.state == before)
    }

    @Test func theLogOfAProgramThatWritesIsNotHeldByASnapshot() throws {
        let folder = try TemporaryDirectory()
        let writing = ArchivesFactory(directory: folder.url)
        try PeakFolder.fill(writing)
        let file = try DatabaseFile.open(
            at: folder.file("Archives.sqlite"),
            kind: .archives,
            access: .reading
        )
        let peaks: Store<Data> = try file.store(named: "Peak", codec: IdentityCodec())
        _ = try peaks.value(forKey: "peak 1")
        let store = try writing.store(for: Peak.self)
        for round in 0..<200 { try store.record(contentsOf: (0..<200).map { Peak($0 + round) }) }
        #expect(folder.size(of: "Archives.sqlite-wal") < 16 << 20)
        try file.close()
        try writing.close()
    }

    // MARK: Writes

    /// A write, by each of the ways to write.
    struct Write: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var run: @Sendable (ArchivesFactory, ArchiveStore<Peak>) throws -> Void

        init(
            _ name: String,
            _ run: @escaping @Sendable (ArchivesFactory, ArchiveStore<Peak>) throws -> Void
        ) {
            (testDescription, self.run) = (name, run)
        }
    }

    static let writes: [Write] = [
        Write("record") { try $1.record(Peak(1)) },
        Write("record a new one") { try $1.record(Peak(1000)) },
        Write("record with an age") { try $1.record(Peak(1), expiration: .after(.seconds(9))) },
        Write("record many") { try $1.record(contentsOf: (0..<10).map(Peak.init)) },
        Write("record one that is too large") {
            var peak = Peak(1)
            peak.name = String(repeating: "x", count: 60_000)
            peak.country = String(repeating: "y", count: 2_000_000)
            try $1.record(peak)
        },
        Write("delete") { try $1.delete(archiveWithKey: "peak 1") },
        Write("delete one that is not there") { try $1.delete(archiveWithKey: "none") },
        Write("delete many") { _ = try $1.delete(allKeys: ["peak 1", "peak 2"]) },
        Write("delete all") { try $1.deleteAll() },
        Write("delete a prefix") { _ = try $1.deleteAll(prefix: "peak") },
        Write("delete what matches") {
            _ = try $1.deleteAll(where: #Predicate { $0.country == "CH" })
        },
        Write("delete the unused") { _ = try $1.deleteAll(lastUsedBefore: .distantFuture) },
        Write("update") { try $1.update(archiveWithKey: "peak 1") { $0?.height = 1 } },
        Write("update one that is not there") {
            try $1.update(archiveWithKey: "peak 1000") { $0 = Peak(1000) }
        },
        Write("update to none") { try $1.update(archiveWithKey: "peak 1") { $0 = nil } },
        Write("record if absent") { try $1.recordIfAbsent(Peak(1000)) },
        Write("transaction of a store") { factory, store in
            try store.transaction { try $0.record(Peak(1), in: store) }
        },
        Write("transaction") { factory, store in
            try factory.transaction {
                try $0.record(Peak(1), in: store)
                $0.delete(archiveWithKey: "peak 2", in: store)
            }
        },
        Write("transaction that reads") { factory, store in
            try factory.transaction {
                guard var peak = try $0.access(archiveWithKey: "peak 1", in: store) else { return }
                peak.height += 1
                try $0.record(peak, in: store)
            }
        },
        Write("drop") { factory, _ in try factory.drop(archiveNamed: "Hut") },
    ]

    /// Each write to each form of a file, or to the one whose turn it is.
    private static let refused: [(Write, PeakFolder.Form)] = writes.indices.flatMap { number in
        let forms = PeakFolder.Form.allCases
        return (0..<LongRun.number(forms.count, usually: 1)).map { turn in
            (writes[number], forms[(number + turn) % forms.count])
        }
    }

    @Test(arguments: refused)
    func everyWriteIsRefusedAndChangesNothing(_ write: Write, _ form: PeakFolder.Form) throws {
        let peaks = try PeakFolder(form)
        let before = try peaks.state
        let factory = ArchivesFactory(readingOnly: peaks.url)
        let store = try factory.store(for: Peak.self)
        // Once with nothing in memory, once with everything.
        for _ in 0..<2 {
            let error = #expect(throws: VellumError.self) { try write.run(factory, store) }
            #expect(error?.code == .readOnly)
            #expect(error?.path == peaks.url.path)
            #expect(error?.message.contains("readingOnly") ?? false)
            #expect(try store.accessAll().count == PeakFolder.count)
            #expect(try store.access(archiveWithKey: "peak 1") == Peak(1))
            #expect(try !store.contains(archiveWithKey: "peak 1000"))
        }
        try factory.close()
        #expect(try peaks.state == before)
        try peaks.seal(false)
    }

    /// A write of a manager, which throws nothing.
    static let managed: [(name: String, run: @Sendable (ArchiveManager<Peak>) -> Void)] = [
        ("record", { $0.record(Peak(1000)) }),
        ("insert", { $0.insert(all: [Peak(1), Peak(1000)]) }),
        ("delete", { $0.delete(archiveWithKey: "peak 1") }),
        ("delete many", { $0.delete(allKeys: ["peak 1"]) }),
        ("delete all", { $0.deleteAll() }),
        ("delete the unused", { $0.deleteAllInvalidateArchives(invalidateTimeInterval: 0) }),
    ]

    @Test(arguments: managed.indices)
    func aManagerReportsThatItCannotWrite(_ index: Int) async throws {
        let peaks = try PeakFolder()
        let before = try peaks.state
        let factory = ArchivesFactory(readingOnly: peaks.url)
        let manager = try factory.archives(for: Peak.self)
        let failures = manager.failures
        Self.managed[index].run(manager)
        #expect(manager.access(archiveWithKey: "peak 1") == Peak(1))
        #expect(manager.access(archiveWithKey: "peak 1000") == nil)
        try factory.close()
        var codes: [VellumError.Code] = []
        for await failure in failures { codes.append(failure.code) }
        #expect(codes == [.readOnly], "\(Self.managed[index].name)")
        #expect(try peaks.state == before)
    }

    @Test func aLoadedValueIsReturnedAndNotKept() async throws {
        let peaks = try PeakFolder()
        let before = try peaks.state
        let factory = ArchivesFactory(readingOnly: peaks.url)
        let store = try factory.store(for: Peak.self)
        let events = store.events
        #expect(try await store.value(forKey: "peak 1000") { Peak(1000) } == Peak(1000))
        #expect(try await store.value(forKey: "peak 1") { Peak(2) } == Peak(1))
        #expect(try !store.contains(archiveWithKey: "peak 1000"))
        #expect(try store.access(archiveWithKey: "peak 1000") == nil)
        try factory.close()
        var codes: [VellumError.Code] = []
        for await event in events {
            if case .failure(let error) = event { codes.append(error.code) }
        }
        #expect(codes == [.readOnly])
        #expect(try peaks.state == before)
    }

    @Test func aTransactionThatOnlyReadsIsCarriedOut() throws {
        let peaks = try PeakFolder()
        let factory = ArchivesFactory(readingOnly: peaks.url)
        let store = try factory.store(for: Peak.self)
        let sum = try factory.transaction {
            let one = try $0.access(archiveWithKey: "peak 1", in: store)
            let two = try $0.access(archiveWithKey: "peak 2", in: store)
            return (one?.height ?? 0) + (two?.height ?? 0)
        }
        #expect(sum == 30)
        try factory.close()
    }

    @Test func expiredObjectsAreNotFoundAndNotRemoved() throws {
        let folder = try TemporaryDirectory()
        let clock = ManualClock()
        let writing = ArchivesFactory(directory: folder.file("source"), clock: clock.wallClock)
        try writing.store(for: Hut.self).record(
            Hut(primaryKey: "hut"),
            expiration: .after(.seconds(10))
        )
        try FileManager.default.createDirectory(
            at: folder.file("copy"),
            withIntermediateDirectories: true
        )
        try writing.backup(to: folder.file("copy/Huts.sqlite"))
        try writing.close()
        let before = try FolderState(folder.file("copy"))
        let reading = ArchivesFactory(
            readingOnly: folder.file("copy/Huts.sqlite"),
            clock: clock.wallClock
        )
        let huts = try reading.store(for: Hut.self)
        #expect(try huts.contains(archiveWithKey: "hut"))
        clock.advance(by: .seconds(11))
        #expect(try huts.access(archiveWithKey: "hut") == nil)
        try reading.openFile().sweepEverything()
        #expect(try huts.count() == 1)
        try reading.close()
        #expect(try FolderState(folder.file("copy")) == before)
    }
}
