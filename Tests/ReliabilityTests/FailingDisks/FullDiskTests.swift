import Foundation
import MiniCache
import Shallows
import ShallowsSQLite
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// P33: a real file system without a free block.
@Suite(.ownThreads)
struct FullDiskTests {
    private func open(_ volume: SmallVolume, limit: DataSize = 100.megaByte) throws -> Store<Data> {
        try DatabaseFile.open(at: volume.file("Archives.sqlite"))
            .store(
                named: "data",
                codec: IdentityCodec(),
                memory: Capacity(1.byte),
                disk: Capacity(limit)
            )
    }

    private func value(_ number: Int, _ length: Int) -> Data {
        Data("\(number),".utf8) + Data(repeating: UInt8(number & 0xFF), count: length)
    }

    /// The length of values on a volume of that size: in every run fewer and longer ones fill a
    /// larger volume.
    private func length(on megabytes: Int) -> Int {
        megabytes * (megabytes == 4 ? 300 : LongRun.number(300, usually: 1200))
    }

    /// Records until no space is left. Returns how many entries were acknowledged.
    private func fill(_ store: Store<Data>, _ length: Int) -> Int {
        for number in 0..<100_000 {
            do throws(VellumError) {
                try store.record(value(number, length), forKey: EntryKey("\(number)"))
            } catch {
                #expect(error.code == .diskFull)
                return number
            }
        }
        Issue.record("The volume is never full.")
        return 0
    }

    @Test(arguments: [LongRun.number(400, usually: 1200), 3000, 40_000])
    func aFullDiskLosesNothingAndAcceptsEntriesOnceThereIsSpace(_ length: Int) throws {
        guard let volume = try SmallVolume(megabytes: 9) else { return }
        try Data(count: 6 << 20).write(to: volume.file("filler"))
        let file = try DatabaseFile.open(at: volume.file("Archives.sqlite"))
        let store = try open(volume)
        let count = fill(store, length)
        for number in 0..<count {
            #expect(try store.value(forKey: EntryKey("\(number)")) == value(number, length))
        }
        #expect(try store.value(forKey: EntryKey("\(count)")) == nil)
        try volume.free()
        var deleting = StoreTransaction()
        for number in 0..<count / 2 { deleting.remove(EntryKey("\(number)"), in: store) }
        try deleting.commit()
        var recording = StoreTransaction()
        for number in 0..<count / 4 {
            try recording.record(
                value(number, length),
                forKey: EntryKey("again \(number)"),
                in: store
            )
        }
        try recording.commit()
        #expect(try store.count() == count - count / 2 + count / 4)
        #expect(try file.verify().isIntact)
        try file.close()
        #expect(try open(volume).count() == count - count / 2 + count / 4)
    }

    /// A cache that fills its disk is cleared by the next version, which goes on.
    @Test func aCacheThatFilledItsDiskIsClearedByAnotherVersion() throws {
        guard let volume = try SmallVolume(megabytes: 9) else { return }
        func cache(_ version: String, _ manager: MiniCacheManager) -> MiniCache<String, Data> {
            manager.cache(
                cacheName: "Data",
                cacheVersion: .custom(version),
                maxAge: .days(1),
                diskLimit: .unlimited
            )
        }
        let manager = MiniCacheManager(name: "Caches", directory: volume.url)
        let old = cache("1", manager)
        var count = 0
        do {
            while count < 100_000 {
                try old.set(value(count, LongRun.number(3000, usually: 9000)), forKey: "\(count)")
                count += 1
            }
            Issue.record("The volume is never full.")
        } catch {
            #expect(error.code == .diskFull)
        }
        let new = cache("2", manager)
        #expect(try new.count() == 0)
        #expect(try new.value(forKey: "0") == nil)
        #expect(try old.value(forKey: "0") == nil)
        try new.set(value(1, 3000), forKey: "1")
        #expect(try new.value(forKey: "1") == value(1, 3000))
        try manager.close()
    }

    /// How a store that has filled its disk is emptied.
    enum Emptying: CaseIterable {
        case each, all, eachInAFreshProcess, allInAFreshProcess
    }

    /// R2: nothing else writes to the volume, and nothing was emptied before.
    @Test(arguments: [4, 32], Emptying.allCases)
    func aStoreThatFilledItsDiskCanBeEmptied(_ megabytes: Int, _ emptying: Emptying) throws {
        guard let volume = try SmallVolume(megabytes: megabytes) else { return }
        let file = try DatabaseFile.open(at: volume.file("Archives.sqlite"))
        var store = try open(volume, limit: .unlimited)
        let length = length(on: megabytes)
        let count = fill(store, length)
        if emptying == .eachInAFreshProcess || emptying == .allInAFreshProcess {
            try file.close()
            store = try open(volume, limit: .unlimited)
        }
        for number in stride(from: 0, to: count, by: 7) {
            #expect(try store.value(forKey: EntryKey("\(number)")) == value(number, length))
        }
        switch emptying {
        case .each, .eachInAFreshProcess:
            for number in 0..<count { #expect(try store.remove(EntryKey("\(number)"))) }
        case .all, .allInAFreshProcess: try store.removeAll()
        }
        #expect(try store.count() == 0)
        try store.record(value(1, length), forKey: "again")
        let open = try DatabaseFile.open(at: volume.file("Archives.sqlite"))
        // In the background, when no reader needs the pages any more.
        blockUntil("the free pages are returned to the file system") {
            open.waitForMaintenance()
            return open.fileSize.bytes <= 4 << 20
        }
        try open.close()
    }

    @Test(arguments: [4, 16, 64])
    func aStoreThatFilledItsDiskEvictsForWhatIsRecorded(_ megabytes: Int) throws {
        guard let volume = try SmallVolume(megabytes: megabytes) else { return }
        let file = try DatabaseFile.open(at: volume.file("Archives.sqlite"))
        let store = try open(volume, limit: .unlimited)
        let length = length(on: megabytes)
        let count = fill(store, length)
        let half = DataSize(bytes: count * length / 2)
        try store.reconfigure(memory: Capacity(1.byte), disk: Capacity(half), caching: .bytes)
        for number in 0..<count {
            try store.record(value(number, length), forKey: EntryKey("new \(number)"))
        }
        #expect(try store.value(forKey: EntryKey("new \(count - 1)")) == value(count - 1, length))
        try file.close()
    }

    /// The oldest entry goes before the new one is written: there is no room for both.
    @Test func anArchiveAtItsLimitTakesTheRoomOfItsOldestEntry() throws {
        guard let volume = try SmallVolume(megabytes: 4) else { return }
        let file = try DatabaseFile.open(at: volume.file("Archives.sqlite"))
        let store = try open(volume, limit: .unlimited)
        let count = fill(store, 40_000)
        let held = DataSize(bytes: try store.statistics().disk.bytes)
        try store.reconfigure(memory: Capacity(1.byte), disk: Capacity(held), caching: .bytes)
        for number in 0..<3 {
            try store.record(value(number, 40_000), forKey: EntryKey("new \(number)"))
        }
        #expect(try store.count() == count)
        #expect(try store.value(forKey: "2") == nil)
        #expect(try store.value(forKey: "3") == value(3, 40_000))
        #expect(try store.value(forKey: "new 2") == value(2, 40_000))
        try file.close()
    }

    @Test(arguments: [4, 16])
    func aCacheThatFilledItsDiskCanBeEmptied(_ megabytes: Int) throws {
        guard let volume = try SmallVolume(megabytes: megabytes) else { return }
        let manager = MiniCacheManager(name: "Caches", directory: volume.url)
        let cache: MiniCache<Int, Data> = manager.cache(
            cacheName: "Data",
            cacheVersion: .custom("1"),
            maxAge: .days(1),
            diskLimit: .unlimited
        )
        var count = 0
        #expect(throws: MiniCacheError.self) {
            while true {
                try cache.set(value(count, length(on: megabytes)), forKey: count)
                count += 1
            }
        }
        for number in 0..<count / 2 { #expect(try cache.removeValue(forKey: number)) }
        try cache.removeAll()
        try cache.set(value(1, 100), forKey: 1)
        #expect(try cache.keys() == [1])
        try manager.close()
    }

    @Test(arguments: [4, 16])
    func aStorageThatFilledItsDiskCanBeEmptied(_ megabytes: Int) throws {
        guard let volume = try SmallVolume(megabytes: megabytes) else { return }
        let storage = SQLiteStorage<Data>(fileURL: volume.file("Storage.sqlite"))
        // On this thread: beside tests that block all others it would wait for one.
        let calls = storage.underlyingStorage.makeSyncStorage()
        var count = 0
        do {
            while true {
                try calls.set(
                    value(count, megabytes * 1200),
                    forKey: Filename(rawValue: "\(count)")
                )
                count += 1
            }
        } catch {
            #expect("\(error)".contains("diskFull"))
        }
        for number in 0..<count / 2 { try calls.remove(forKey: Filename(rawValue: "\(number)")) }
        try calls.removeAll()
        try calls.set(value(1, 100), forKey: "one")
        #expect(try calls.retrieve(forKey: "one") == value(1, 100))
        try storage.closeAndWait()
    }

    /// After the store was closed, so that there is no log, others leave less than the log would
    /// like to have.
    @Test func aDeletionNeedsNoMoreOfTheLogThanItWrites() throws {
        guard let volume = try SmallVolume(megabytes: 8) else { return }
        do {
            let file = try DatabaseFile.open(at: volume.file("Archives.sqlite"))
            let store = try open(volume)
            for number in 0..<300 {
                try store.record(value(number, 3000), forKey: EntryKey("\(number)"))
            }
            try file.close()
        }
        let file = try DatabaseFile.open(at: volume.file("Archives.sqlite"))
        let store = try open(volume)
        #expect(try store.count() == 300)
        // Opens the log, and leaves 128 KB.
        try volume.fill()
        let filler = try FileHandle(forWritingTo: volume.file("filler"))
        try filler.truncate(atOffset: try filler.seekToEnd() - 1 << 17)
        try filler.close()
        #expect(try store.remove("7"))
        #expect(throws: VellumError.self) { try store.record(value(1, 3_000_000), forKey: "large") }
        #expect(try store.remove("8"))
        try file.close()
    }

    /// Deleted entries leave room in the file, and the log need not grow: it is emptied and
    /// restarted.
    @Test func withoutAFreeBlockEntriesCanStillBeDeletedAndReplaced() throws {
        // Room for the longest possible log beside the entries: its length depends on when a thread
        // is scheduled.
        guard let volume = try SmallVolume(megabytes: 16) else { return }
        let file = try DatabaseFile.open(at: volume.file("Archives.sqlite"))
        let store = try open(volume)
        for number in 0..<300 {
            try store.record(value(number, 3000), forKey: EntryKey("\(number)"))
        }
        file.waitForMaintenance()
        try file.close()
        let again = try open(volume)
        // The log is long enough for what follows, and fewer pages become free than are returned to
        // the file system: whether they are returned before other entries are recorded depends on
        // when a thread is scheduled.
        for number in 0..<40 { try again.remove(EntryKey("\(number)")) }
        try volume.fill()
        for number in 40..<200 { try again.remove(EntryKey("\(number)")) }
        for number in 0..<150 {
            try again.record(value(number, 3000), forKey: EntryKey("again \(number)"))
        }
        for number in 200..<300 {
            #expect(try again.value(forKey: EntryKey("\(number)")) == value(number, 3000))
        }
        for number in 0..<150 {
            #expect(try again.value(forKey: EntryKey("again \(number)")) == value(number, 3000))
        }
        #expect(try again.count() == 250)
    }

    /// No block is left when the store is closed and reopened.
    @Test func withoutAFreeBlockOpeningSucceedsOrThrowsAndSucceedsOnceThereIsSpace() throws {
        // Room for a log that has not been copied yet.
        guard let volume = try SmallVolume(megabytes: 8) else { return }
        do {
            let store = try open(volume)
            for number in 0..<100 {
                try store.record(value(number, 3000), forKey: EntryKey("\(number)"))
            }
            try volume.fill()
            for number in 0..<100 {
                #expect(try store.value(forKey: EntryKey("\(number)")) == value(number, 3000))
            }
            let error = #expect(throws: VellumError.self) {
                for number in 1...100 {
                    try store.record(value(number, 30_000 * number), forKey: "x")
                }
            }
            #expect(error?.code == .diskFull)
            do throws(VellumError) { try store.close() } catch { #expect(error.code == .diskFull) }
        }
        do throws(VellumError) {
            let file = try DatabaseFile.open(at: volume.file("Archives.sqlite"))
            let store: Store<Data> = try file.store(
                named: "data",
                codec: IdentityCodec(),
                memory: Capacity(1.byte),
                disk: .unlimited
            )
            #expect(try store.value(forKey: "7") == value(7, 3000))
        } catch {
            #expect([.diskFull, .cannotOpen].contains(error.code), "\(String(reflecting: error))")
        }
        try volume.free()
        let store = try open(volume)
        for number in 0..<100 {
            #expect(try store.value(forKey: EntryKey("\(number)")) == value(number, 3000))
        }
        try store.record(value(1, 30_000), forKey: "x")
        #expect(try store.count() == 101)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: volume.url.path).filter {
                $0.contains("damaged")
            } == []
        )
    }

    /// An archive within its limit needs no further space.
    @Test func anArchiveWithinItsLimitFitsASmallVolume() throws {
        guard let volume = try SmallVolume(megabytes: 24) else { return }
        let store = try open(volume, limit: 4.megaByte)
        let count = LongRun.number(4000, usually: 1000)
        let length = 20_000_000 / count
        for number in 0..<count {
            try store.record(value(number, length), forKey: EntryKey("\(number)"))
        }
        #expect(try store.value(forKey: EntryKey("\(count - 1)")) == value(count - 1, length))
    }
}
