import CrashScript
import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C10: this process reads what another has acknowledged, even if memory had an older value.
@Suite(.ownThreads(.longSuite), .serialized)
struct NeverStaleTests {
    private let folder: TemporaryDirectory
    private let archives: SharedArchives
    private let other: Spawned

    init() throws {
        folder = try TemporaryDirectory()
        archives = try SharedArchives(in: folder.url.path)
        other = try Spawned(["obey", folder.url.path])
    }

    private static var rounds: Int { Tally.count(5000, sample: 60) }

    /// Both read the key, so that both cache its value.
    private func expectBoth(
        _ archive: ScriptArchive,
        _ key: String,
        _ version: Int?,
        _ round: Int
    ) throws {
        #expect(
            other.ask("read \(archive.rawValue) \(key)") == "\(version ?? -1)",
            "the other, round \(round)"
        )
        #expect(try archives.find(archive, key) == version, "this one, round \(round)")
    }

    @Test(arguments: [ScriptArchive.safe, .power, .relaxed])
    func accessIsNeverStale(_ archive: ScriptArchive) throws {
        for round in 0..<Self.rounds {
            let version = round * 2 + 1
            try archives.put(archive, "k", version)
            #expect(other.ask("read \(archive.rawValue) k") == "\(version)", "round \(round)")
            #expect(other.ask("put \(archive.rawValue) k \(version + 1)") == "done")
            #expect(try archives.find(archive, "k") == version + 1, "round \(round)")
        }
        try archives.file.close()
    }

    @Test func anEntryThatAnotherProcessDeletedIsGone() throws {
        for round in 0..<Self.rounds {
            try archives.put(.safe, "k", round)
            try expectBoth(.safe, "k", round, round)
            if round % 2 == 0 {
                try archives.store(.safe).remove("k")
            } else {
                #expect(other.ask("delete safe k") == "done")
            }
            try expectBoth(.safe, "k", nil, round)
        }
        try archives.file.close()
    }

    /// An entry that is too large for the disk.
    @Test func anUpdateOfWhatOnlyMemoryHasIsOvertakenByAnotherProcess() throws {
        for round in 0..<Self.rounds / 50 {
            try archives.put(.tight, "k", round, filling: 30_000)
            var seen: [Int?] = []
            try archives.store(.tight).update("k", AgeOfUpdated(nil, ofNew: nil)) { item in
                seen.append(item?.version)
                if seen.count == 1 { #expect(other.ask("delete tight k") == "done") }
                item = Item(
                    archive: .tight,
                    key: "k",
                    version: (item?.version ?? 0) + 7,
                    filling: 10
                )
            }
            #expect(seen == [round, nil], "round \(round)")
            try expectBoth(.tight, "k", 7, round)
        }
        try archives.file.close()
    }

    @Test func everythingIsGoneAfterAnotherProcessDeletedIt() throws {
        for round in 0..<Self.rounds / 4 {
            for number in 0..<4 { try archives.put(.safe, "k\(number)", round) }
            for number in 0..<4 { try expectBoth(.safe, "k\(number)", round, round) }
            if round % 2 == 0 {
                try archives.store(.safe).removeAll()
            } else {
                #expect(other.ask("clear safe *") == "done")
            }
            for number in 0..<4 { try expectBoth(.safe, "k\(number)", nil, round) }
        }
        try archives.file.close()
    }

    @Test func aTransactionOfAnotherProcessIsVisibleInEveryArchive() throws {
        for round in 0..<Self.rounds / 2 {
            let version = round * 2 + 1
            try archives.put("k", version, on: [.safe, .power])
            for archive in [ScriptArchive.safe, .power] {
                #expect(other.ask("read \(archive.rawValue) k") == "\(version)", "round \(round)")
            }
            #expect(other.ask("together safe k \(version + 1)") == "done")
            for archive in [ScriptArchive.safe, .power] {
                #expect(try archives.find(archive, "k") == version + 1, "round \(round)")
            }
        }
        try archives.file.close()
    }

    @Test func anEntryThatAnotherProcessLetExpireIsGone() throws {
        for round in 0..<Self.rounds / 2 {
            try archives.put(.fleeting, "k", round)
            try expectBoth(.fleeting, "k", round, round)
            if round % 2 == 0 {
                try archives.put(.fleeting, "k", round, expiration: .after(.zero))
            } else {
                #expect(other.ask("expire fleeting k \(round)") == "done")
            }
            try expectBoth(.fleeting, "k", nil, round)
        }
        try archives.file.close()
    }

    /// An entry that another process evicted may still be cached here, but only with the last
    /// recorded value.
    @Test func anEntryThatAnotherProcessEvictedIsGoneOrCurrent() throws {
        for round in 0..<Self.rounds / 50 {
            try archives.put(.tight, "k", round * 2)
            try expectBoth(.tight, "k", round * 2, round)
            #expect(other.ask("put tight k \(round * 2 + 1)") == "done")
            #expect(other.ask("crowd tight * \(round * 2)") == "done")
            let here = try archives.find(.tight, "k")
            #expect(here == nil || here == round * 2 + 1, "round \(round)")
            let there = other.ask("read tight k")
            #expect(there == "-1" || there == "\(round * 2 + 1)", "round \(round)")
        }
        try archives.file.close()
    }
}
