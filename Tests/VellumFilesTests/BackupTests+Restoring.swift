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

extension BackupTests {
    // MARK: Restoring

    @Test func aRestoredFileHasNothingOfTheOldOne() throws {
        try PeakFolder.fill(factory)
        try factory.backup(to: copy)
        let peaks = try factory.store(for: Peak.self)
        try peaks.deleteAll()
        try peaks.record(Peak(7000))
        let file = source.file("Archives.sqlite")
        let before = try FolderState(target.url)
        #expect(code { try ArchiveFile.restore(from: copy, to: file) } == .busy)
        #expect(try peaks.keys() == ["peak 7000"])
        // As a process that was killed leaves it: with a log.
        let left = try TemporaryDirectory()
        for suffix in ["", "-wal", "-shm", "-changes"] {
            try FileSystem.copy(file.path + suffix, to: left.file("Archives.sqlite").path + suffix)
        }
        try factory.close()
        let old = try #require(
            try ArchiveFile.restore(from: copy, to: left.file("Archives.sqlite"))
        )
        #expect(try FolderState(target.url) == before)
        let restored = ArchivesFactory(directory: left.url)
        #expect(try restored.store(for: Peak.self).count() == PeakFolder.count)
        #expect(try !restored.store(for: Peak.self).contains(archiveWithKey: "peak 7000"))
        try restored.close()
        // The old one is whole, with its log.
        try FileManager.default.removeItem(at: left.file("Archives.sqlite"))
        for suffix in ["", "-wal"] {
            try FileManager.default.moveItem(
                atPath: old.path + suffix,
                toPath: left.file("Archives.sqlite").path + suffix
            )
        }
        #expect(try restored.store(for: Peak.self).keys() == ["peak 7000"])
        try restored.close()
    }

    @Test func aFileIsRestoredWhereThereIsNoneOrADamagedOne() throws {
        try PeakFolder.fill(factory)
        try factory.backup(to: copy)
        try factory.close()
        let place = try TemporaryDirectory()
        #expect(try ArchiveFile.restore(from: copy, to: place.file("Archives.sqlite")) == nil)
        try Data(repeating: 7, count: 5000).write(to: place.file("Archives.sqlite"))
        #expect(try ArchiveFile.restore(from: copy, to: place.file("Archives.sqlite")) != nil)
        let restored = ArchivesFactory(directory: place.url)
        #expect(try restored.store(for: Peak.self).count() == PeakFolder.count)
        #expect(try restored.openFile().verify().isIntact)
        try restored.close()
    }

    @Test func aDamagedBackupAndOneOfAnotherKindChangeNothing() throws {
        try PeakFolder.fill(factory)
        try factory.backup(to: copy)
        try factory.close()
        let before = try FolderState(source.url)
        let file = source.file("Archives.sqlite")
        let manager = MiniCacheManager(name: "Caches", directory: try TemporaryDirectory().url)
        try manager.backup(to: target.file("caches.sqlite"))
        try manager.close()
        #expect(
            code { try ArchiveFile.restore(from: target.file("caches.sqlite"), to: file) }
                == .wrongKind
        )
        var data = try Data(contentsOf: copy)
        guard let place = data.range(of: Data("peak 123".utf8)) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        data[place.lowerBound + 9] ^= 1
        try data.write(to: target.file("damaged.sqlite"))
        #expect(
            code { try ArchiveFile.restore(from: target.file("damaged.sqlite"), to: file) }
                == .damagedFile
        )
        #expect(
            code { try ArchiveFile.restore(from: target.file("none.sqlite"), to: file) }
                == .cannotOpen
        )
        #expect(code { try ArchiveFile.restore(from: file, to: file) } == .cannotOpen)
        #expect(
            code { try ArchiveFile.restore(from: copy, to: target.file("none/Archives.sqlite")) }
                == .cannotOpen
        )
        #expect(try FolderState(source.url) == before)
    }

    @Test func othersOpenAndCloseFilesWhileACopyIsRestored() throws {
        try PeakFolder.fill(factory)
        try factory.backup(to: copy)
        let copy = copy
        let place = try TemporaryDirectory()
        let file = place.file("Archives.sqlite")
        for folder in [place, try TemporaryDirectory()] {
            let isOver = Flag()
            _ = try Restoring.restore(from: copy, to: file) { _, _ in
                let other = onThread { [folder, isOver] () throws -> Int in
                    defer { isOver.set() }
                    let manager = MiniCacheManager(name: "Other", directory: folder.url)
                    try manager.backup(to: folder.file("\(UUID()).sqlite"))
                    try manager.close()
                    // Of two who restore the same file each has a copy of its own.
                    try ArchiveFile.restore(from: copy, to: file)
                    return 1
                }
                blockUntil("another thread has opened, closed and restored files") { isOver.isSet }
                _ = try other.result().get()
            }
            #expect(isOver.isSet)
        }
        let restored = ArchivesFactory(directory: place.url)
        #expect(try restored.store(for: Peak.self).count() == PeakFolder.count)
        #expect(try restored.openFile().verify().isIntact)
        try restored.close()
    }

    @Test func aFileThatThisProgramHasOpenIsNotRestored() throws {
        try PeakFolder.fill(factory)
        try factory.backup(to: copy)
        try factory.close()
        let file = source.file("Archives.sqlite")
        func expectOpen(_ progress: (Int, Int) throws -> Void = { _, _ in }) {
            let error = #expect(throws: VellumError.self) {
                try Restoring.restore(from: copy, to: file, progress)
            }
            #expect(error?.code == .busy)
            #expect(error?.message.hasPrefix("This program has the file open.") == true)
        }
        let reading = try ArchiveFile(at: file)
        expectOpen()
        try reading.close()
        // It is opened while the copy is made.
        expectOpen { _, _ in try PeakFolder.fill(factory) }
        try factory.close()
        #expect(try ArchiveFile.restore(from: copy, to: file) != nil)
    }

    // MARK: Compacting

    @Test func compactingGivesBackWhatIsNotUsed() throws {
        let peaks = try factory.store(for: Peak.self, diskLimit: .unlimited)
        try peaks.record(contentsOf: (0..<10_000).map(Peak.init))
        try peaks.flush()
        let file = try factory.openFile()
        try file.compact()
        let full = source.size(of: "Archives.sqlite")
        _ = try peaks.deleteAll(where: #Predicate { $0.height > 1000 })
        try file.compact()
        #expect(source.size(of: "Archives.sqlite") < full / 4)
        #expect(source.size(of: "Archives.sqlite-wal") == 0)
        #expect(try RawDatabase(source.file("Archives.sqlite")).int("PRAGMA freelist_count") == 0)
        #expect(try peaks.count() == 101)
        try peaks.record(contentsOf: (0..<3000).map(Peak.init))
        try peaks.deleteAll()
        try file.compact()
        #expect(
            try RawDatabase(source.file("Archives.sqlite")).int("SELECT count(*) FROM entries") == 0
        )
        #expect(source.size(of: "Archives.sqlite") < 200_000)
        #expect(try file.verify().isIntact)
        try factory.close()
    }

    @Test func othersWriteWhileAFileIsCompacted() throws {
        let peaks = try factory.store(for: Peak.self, diskLimit: .unlimited)
        try peaks.record(contentsOf: (0..<LongRun.number(30_000, usually: 10_000)).map(Peak.init))
        try peaks.deleteAll()
        let file = try factory.openFile()
        let isOver = Flag()
        defer { isOver.set() }
        let written = Numbers(1)
        let writer = onThread { [peaks, isOver, written] () throws -> Int in
            var count = 0
            while !isOver.isSet {
                count += 1
                try peaks.record(Peak(count))
                written[0] = count
            }
            return count
        }
        blockUntil("the other writes") { written[0] > 0 }
        try file.compact()
        let before = written[0]
        blockUntil("the other goes on writing") { written[0] > before }
        isOver.set()
        let count = try writer.result().get()
        #expect(try peaks.count() == count)
        #expect(try file.verify().isIntact)
        try factory.close()
    }

    @Test func aFileThatIsOnlyReadIsNotCompacted() throws {
        let peaks = try PeakFolder()
        let before = try peaks.state
        let reading = ArchivesFactory(readingOnly: peaks.url)
        let file = try reading.openFile()
        #expect(code { try file.compact() } == .readOnly)
        try reading.close()
        #expect(try peaks.state == before)
    }
}
