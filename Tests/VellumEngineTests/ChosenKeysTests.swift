import CChecksum
import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

/// Keys that somebody chose because they have one checksum are found as quickly as others.
@Suite(.ownThreads)
struct ChosenKeysTests {
    /// Keys of sixteen bytes that have the same CRC-32C, whatever comes before them.
    private static func keys(_ count: Int) -> [String] {
        // CRC is linear: of 64 bits that may be chosen, those combinations change nothing whose
        // bits' changes cancel each other.
        func bytes(_ choice: UInt64) -> [UInt8] {
            (0..<16).map { 0x40 | UInt8(choice >> (4 * UInt64($0)) & 15) }
        }
        func crc(_ choice: UInt64) -> UInt32 {
            bytes(choice).withUnsafeBytes { vellum_crc32c(0, $0.baseAddress, $0.count) }
        }
        let zero = crc(0)
        var rows: [(change: UInt32, choice: UInt64)] = (0..<64).map {
            (crc(1 << $0) ^ zero, 1 << $0)
        }
        var neutral: [UInt64] = []
        for bit in 0..<32 {
            guard let pivot = rows.firstIndex(where: { $0.change >> bit & 1 == 1 }) else {
                continue
            }
            let row = rows.remove(at: pivot)
            for index in rows.indices where rows[index].change >> bit & 1 == 1 {
                rows[index] = (rows[index].change ^ row.change, rows[index].choice ^ row.choice)
            }
        }
        for row in rows where row.change == 0 { neutral.append(row.choice) }
        return (0..<count).map { number in
            let choice = neutral.enumerated().reduce(UInt64(0)) {
                number >> $1.offset & 1 == 1 ? $0 ^ $1.element : $0
            }
            return String(decoding: bytes(choice), as: UTF8.self)
        }
    }

    /// What a lookup compares are the entries with the hash of its key.
    @Test func keysOfOneChecksumHaveDifferentHashes() throws {
        let keys = Self.keys(5000)
        #expect(Set(keys).count == 5000)
        #expect(
            Set(
                keys.map { key in
                    Array("strings\(key)".utf8).withUnsafeBytes {
                        vellum_crc32c(0, $0.baseAddress, $0.count)
                    }
                }
            ).count == 1
        )
        let setup = try Setup()
        let store = try setup.store()
        var transaction = StoreTransaction()
        for key in keys { try transaction.record(Data(key.utf8), forKey: EntryKey(key), in: store) }
        try transaction.commit()
        #expect(
            try RawDatabase(setup.url).int(
                "SELECT max(n) FROM (SELECT count(*) AS n FROM entries GROUP BY hash)"
            ) <= 3
        )
        #expect(try store.value(forKey: EntryKey(keys[4999])) == Data(keys[4999].utf8))
        // Other processes are told by the same hash, in full.
        #expect(Set(keys.map { store.disk.archive.checksum.hash.of(EntryKey($0)) }).count == 5000)
    }

    /// Keys that nobody chose may have one hash, too: the file has half of it.
    @Test func anEntryIsNotOverwrittenUnderAnotherKeyOfItsHash() throws {
        let setup = try Setup()
        try setup.store().record(Data(1, count: 9), forKey: "a")
        let hash = try setup.store().disk.archive.checksum.storedHash(ofKey: "b")
        try setup.close()
        try RawDatabase(setup.url).execute("UPDATE entries SET hash = \(hash)")
        try setup.store().record(Data(2, count: 9), forKey: "b")
        #expect(try RawDatabase(setup.url).int("SELECT count(*) FROM entries") == 2)
    }

    @Test func eachArchiveHasASeedOfItsOwn() throws {
        let setup = try Setup()
        #expect(
            try setup.store("a").disk.archive.checksum.hash
                != setup.store("b").disk.archive.checksum.hash
        )
        let seed = try setup.store("a").disk.archive.checksum.hash
        try setup.close()
        #expect(try setup.store("a").disk.archive.checksum.hash == seed)
    }

    /// A damaged seed would hide every entry: the file is repaired, and the entries get their
    /// places by a new one.
    @Test func aDamagedSeedHidesNoEntry() throws {
        let setup = try Setup()
        for number in 0..<20 {
            try setup.store().record(Data(number, count: 9), forKey: EntryKey("\(number)"))
        }
        try setup.close()
        try RawDatabase(setup.url).execute("UPDATE archives SET hash_seed = hash_seed + 1")
        do {
            let damaged = try setup.open()
            #expect(code { _ = try setup.store() } == .damagedFile)
            damaged.waitForMaintenance()
        }
        // Nobody has the file open any more, so that it is repaired.
        let store = try setup.store()
        for number in 0..<20 {
            #expect(try store.value(forKey: EntryKey("\(number)")) == Data(number, count: 9))
        }
    }
}
