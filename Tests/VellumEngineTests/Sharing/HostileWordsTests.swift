import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

/// Whatever number stands in a word of `-changes`, no process ends, nothing hangs, and nothing that
/// was acknowledged is lost (FS2).
@Suite(.ownThreads(.longSuite))
struct HostileWordsTests {
    private static let values: [UInt64] = [0, 1, .max, 1 << 63, (1 << 63) - 1, 1 << 62]
    /// The words of the page, those of a group of archives, and those of the first changes and the
    /// last. With `VELLUM_DAMAGE=all` all words.
    private static let words =
        ProcessInfo.processInfo.environment["VELLUM_DAMAGE"] == "all"
        ? Array(stride(from: 0, to: ChangePage.size, by: 8))
        : Array(stride(from: 0, through: 72, by: 8)) + [1024, 1032, 2048, 3072]
            + Array(stride(from: 4096, to: 4192, by: 8))
            + Array(stride(from: ChangePage.size - 32, to: ChangePage.size, by: 8))

    private func write(_ value: UInt64, at offset: Int, besides database: URL) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: database.path + "-changes"))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: withUnsafeBytes(of: value) { Data($0) })
        try file.close()
    }

    private static func isTried(_ number: Int) -> Bool {
        number.isMultiple(of: LongRun.number(1, usually: 6))
    }

    /// - Parameter isOpen: Whether the word changes while the file is open, or before it is opened
    ///   again.
    @Test(arguments: words, [true, false])
    func aNumberOfThePageDoesNotMatter(offset: Int, isOpen: Bool) throws {
        // One of the six at each word, another at the next one; in `make long` all.
        let first = offset / 8 + (isOpen ? 1 : 0)
        for (number, value) in Self.values.enumerated() where Self.isTried(first + number) {
            let setup = try Setup()
            var store = try setup.store()
            for number in 0..<8 {
                try store.record(Data(number, count: 10), forKey: EntryKey("\(number)"))
            }
            if !isOpen { try setup.close() }
            // SQLite has the wal-index open; nobody has a lock on this file.
            try write(value, at: offset, besides: setup.url)
            // The word at 32 says that the file was set aside: it is opened again, as the error
            // says.
            let isRetired = isOpen && offset == 32 && value != 0
            if !isOpen || isRetired {
                if isRetired {
                    #expect(
                        code { try store.record(Data(1, count: 1), forKey: "refused") } == .vanished
                    )
                }
                try setup.close()
                store = try setup.store()
            }
            for number in 4..<12 {
                try store.record(Data(number + 100, count: 10), forKey: EntryKey("\(number)"))
            }
            try store.remove("0")
            let found = try (0..<12).map { try store.value(forKey: EntryKey("\($0)"))?.first ?? 0 }
            let expected: [UInt8] = [0, 1, 2, 3, 104, 105, 106, 107, 108, 109, 110, 111]
            #expect(found == expected, "\(value) at \(offset)")
            #expect(try setup.open().verify().isIntact)
            try setup.close()
        }
    }

    /// Nor do numbers that are all wrong at once, while one handle reads, writes and observes.
    @Test func aPageOfRandomNumbersDoesNotMatter() throws {
        var generator = SeededGenerator(seed: 62)
        let setup = try Setup()
        let store = try setup.store()
        for round in 0..<200 {
            let offset = Self.words.random(&generator)
            // The mark of a file that was set aside has a rule of its own.
            if offset != 32 {
                try write(Self.values.random(&generator), at: offset, besides: setup.url)
            }
            try store.record(Data(round, count: 10), forKey: EntryKey("key \(round % 7)"))
            #expect(try store.value(forKey: EntryKey("key \(round % 7)")) == Data(round, count: 10))
            #expect(try store.keys().count == min(round + 1, 7))
        }
    }
}
