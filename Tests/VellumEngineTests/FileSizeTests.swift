import Foundation
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C2: the size of the files is bounded.
@Suite(.timeLimit(.minutes(60)))
struct FileSizeTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    private var logSize: Int { setup.folder.size(of: "Archives.sqlite-wal") }

    /// P12, P51: with a reader in a loop, one writer, and large values.
    @Test func theLogStaysWithinEightMegabytes() async throws {
        let store = try setup.store(memory: 1)
        try store.record(Data(0, count: 100), forKey: "0")
        let done = Flag()
        let largest = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                while !done.isSet { _ = try store.value(forKey: "0") }
                return 0
            }
            group.addTask { [setup] in
                defer { done.set() }
                var largest = 0
                for number in 0..<6000 {
                    try store.record(Data(number, count: number % 10 == 0 ? 40_000 : 1000), forKey: EntryKey("\(number % 1500)"))
                    if number % 20 == 0 { largest = max(largest, setup.folder.size(of: "Archives.sqlite-wal")) }
                }
                return largest
            }
            return try await group.reduce(0, max)
        }
        #expect(largest > 0)
        #expect(largest <= 8 * 1024 * 1024)
    }

    @Test func freePagesAreReturnedToTheFileSystemAutomatically() throws {
        do {
            let store = try setup.store()
            for number in 0..<400 { try store.record(Data(number, count: 100_000), forKey: EntryKey("\(number)")) }
            for number in 0..<390 { try store.remove(EntryKey("\(number)")) }
            let file = try setup.open()
            file.waitForHousekeeping()
            #expect(file.fileSize.bytes <= 2 * 1_000_000 + 4 * 1024 * 1024)
        }
        #expect(setup.folder.size(of: "Archives.sqlite") <= 2 * 1_000_000 + 4 * 1024 * 1024)
    }

    /// P12: over many overwrites and evictions, with values of every size.
    @Test(arguments: [100, 1000, 2100, 5000, 70_000])
    func theFileIsAtMostTwiceItsEntriesAndFourMegabytes(_ count: Int) throws {
        let store = try setup.store(memory: 1, disk: 4.megaByte)
        var random = SeededGenerator(seed: UInt64(count))
        for step in 0..<(12_000_000 / (count + 300)) {
            let size = count * Int.random(in: 50...150, using: &random) / 100
            try store.record(Data(step, count: size), forKey: EntryKey("\(Int.random(in: 0..<100_000, using: &random))"))
        }
        let live = try store.statistics().disk.bytes
        let file = try setup.open()
        file.waitForHousekeeping()
        #expect(file.fileSize.bytes <= 2 * live + 4 * 1024 * 1024)
    }
}

/// A flag that one task sets and another reads.
final class Flag: Sendable {
    private let value = Locked(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}
