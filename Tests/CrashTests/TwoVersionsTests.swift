import CrashScript
import Foundation
import TestThreads
import Testing
import Vellum
import VellumEngine
import VellumTestSupport

/// C16: programs with two versions of a type share a file.
@Suite(.ownThreads(.longSuite), .serialized)
struct TwoVersionsTests {
    /// As the last program knows it.
    struct Last: ArchiveCodable, VersionedArchive {
        static var archiveName: String { "versions" }
        static var archiveVersion: Int { 3 }
        var primaryKey: String { key }
        var key: String
        var number: Int

        static func migrate(_ old: StoredObject) throws -> Migrated<Last> {
            let value = try old.value()
            guard let key = value["key"],
                case .integer(let number)? = value[old.version == 1 ? "number" : "negative"]
            else {
                throw CocoaError(.coderReadCorrupt)
            }
            return .object(
                Last(
                    key: try key.decode(String.self),
                    number: Int(old.version == 1 ? number : -number)
                )
            )
        }
    }

    /// Two programs share a file, of which one has a newer layout of the file of changes: each sees
    /// what the other records, also in memory, and leaves the other's words as they are.
    @Test func aNewerLayoutOfChangesIsIgnored() throws {
        let folder = try TemporaryDirectory()
        let count = Tally.count(20_000, sample: 500)
        let store: ArchiveStore<Twin> = try ArchivesFactory(directory: folder.url).store(
            diskLimit: .unlimited
        )
        try store.record(Twin("other", 0))
        let child = try Spawned(["later", folder.url.path, "\(count)"])
        #expect(child.line() == "begins")
        var last = 0
        for number in 1...count {
            try whileBusy { try store.record(Twin("other", number)) }
            let later = try store.access(archiveWithKey: "later")?.number ?? 0
            #expect(later >= last)
            last = later
            // Another program opens the file meanwhile, and does not shorten it.
            if number % 250 == 0 { _ = try Spawned(["access", folder.url.path, "none"]).end() }
        }
        let (end, lines) = child.end()
        #expect(end == .exited(0), "\(lines)")
        #expect(try store.access(archiveWithKey: "later")?.number == count)
    }

    @Test func fourProcessesOfTwoVersionsLoseNothing() async throws {
        let folder = try TemporaryDirectory()
        let milliseconds = Tally.count(60_000, sample: 700)
        let children = try (0..<4).map {
            try Spawned(["versions", folder.url.path, "\($0)", "\(1 + $0 % 2)", "\(milliseconds)"])
        }
        var (owned, operations) = ([String: Int](), 0)
        for (process, child) in children.enumerated() {
            let (end, lines) = child.end()
            #expect(end == .exited(0), "process \(process)")
            for line in lines {
                let words = line.split(separator: " ", maxSplits: 2).map(String.init)
                switch words.first {
                case "own": owned[words[2]] = Int(words[1])
                case "did": operations += Int(words[1]) ?? 0
                default: Issue.record("process \(process): \(line)")
                }
            }
        }
        let factory = ArchivesFactory(directory: folder.url)
        let store = try factory.store(for: Last.self)
        let found = try store.fetch()
        #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.key, $0.number) }) == owned)
        try await until("all objects have the last version") {
            try store.migrationProgress().isComplete
        }
        #expect(try factory.archives().map(\.version) == [3])
        #expect(try store.fetch().count == owned.count)
        try factory.close()
        let report = try DatabaseFile.open(at: folder.file("Archives.sqlite")).verify()
        #expect(report.isIntact, "\(report)")
        print("FIGURES versions operations=\(operations) objects=\(owned.count)")
    }

    /// A process that migrates is killed again and again; the last one finishes.
    @Test func aKilledMigrationGoesOn() async throws {
        let folder = try TemporaryDirectory()
        let count = Tally.count(100_000, sample: 2500)
        let factory = ArchivesFactory(directory: folder.url)
        let old = try factory.store(for: VersionOne.self, diskLimit: .unlimited)
        for start in stride(from: 0, to: count, by: 5000) {
            let objects = (start..<min(start + 5000, count)).map {
                VersionOne(key: "kept \($0)", number: $0, text: "kept \($0) \($0)")
            }
            try old.record(contentsOf: objects)
        }
        try factory.close()
        for round in 0..<Tally.count(40, sample: 2) {
            let child = try Spawned(["versions", folder.url.path, "\(round)", "2", "100000"])
            child.kill(afterMicroseconds: 3000 + round * 7919 % 60_000)
            _ = child.end()
        }
        let store = try factory.store(for: Last.self)
        let found = try store.fetch().filter { $0.key.hasPrefix("kept") }
        #expect(Set(found.map(\.number)) == Set(0..<count))
        #expect(found.count == count)
        try factory.close()
        let report = try DatabaseFile.open(at: folder.file("Archives.sqlite")).verify()
        #expect(report.isIntact, "\(report)")
    }

    struct VersionOne: ArchiveCodable, VersionedArchive {
        static var archiveName: String { "versions" }
        static var archiveVersion: Int { 1 }
        static func migrate(_ old: StoredObject) throws -> Migrated<Self> {
            .object(try old.decode(Self.self))
        }
        var primaryKey: String { key }
        var key: String
        var number: Int
        var text: String
    }
}
