import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// R2: a store that has filled its disk is emptied by another process.
@Suite(.ownThreads, .serialized)
struct FullDiskProcessTests {
    @Test(arguments: [4, 32], ["each", "all", "evict"])
    func aStoreWhoseProcessWasKilledOnAFullDiskIsEmptiedByTheNext(
        _ megabytes: Int,
        _ way: String
    ) throws {
        guard let volume = try SmallVolume(megabytes: megabytes) else { return }
        // In every run fewer and longer values fill the larger volume.
        let factor = megabytes == 4 ? 1 : LongRun.number(1, usually: 4)
        let filling = try Spawned(["fill", volume.url.path, "\(megabytes * 300 * factor)"])
        let count = try #require(filling.line().flatMap { Int($0) })
        #expect(count > 1500 / factor)
        _ = filling.kill()

        let emptying = try Spawned(["empty", volume.url.path, way])
        let (end, lines) = emptying.end()
        #expect(end == .exited(0))
        let counts = try #require(lines.last).split(separator: " ").compactMap { Int($0) }
        #expect(counts.first == count)
        #expect(way == "evict" ? counts[1] < count : counts[1] == 1)
        let size =
            try FileManager.default.attributesOfItem(atPath: volume.file("Archives.sqlite").path)[
                .size
            ] as? Int
        #expect(size ?? .max <= (way == "evict" ? megabytes : megabytes / 2) << 20)
    }

    /// A removal of many entries on a full disk is one for every process, whatever happens to the
    /// one that removes.
    @Test(
        arguments: [CrashPoint.removalsMarked, .committed, .removedDeleted],
        [true, false]
    )
    func aProcessFindsAllThatIsRemovedOnAFullDiskOrNone(
        _ point: CrashPoint,
        _ isKilled: Bool
    ) throws {
        guard let volume = try SmallVolume(megabytes: 4) else { return }
        let filling = try Spawned(["fill", volume.url.path, "700"])
        let count = try #require(filling.line().flatMap { Int($0) })
        _ = filling.kill()
        let removing = try Spawned(["third", volume.url.path, point.rawValue])
        removing.waitUntilStopped()
        if isKilled { _ = removing.kill() }
        let isDone = try expectAllOrNone(volume, count, isKilled ? .writing : .reading)
        guard !isKilled else {
            // Whatever is left is deleted before something else is written.
            try expectRoomForMore(volume, count, isDone)
            return
        }
        removing.proceed()
        #expect(removing.end().end == .exited(0))
        #expect(try expectAllOrNone(volume, count, .writing))
        try expectRoomForMore(volume, count, true)
    }

    private func open(
        _ volume: SmallVolume,
        _ access: DatabaseFile.Access = .writing
    ) throws -> (DatabaseFile, Store<Data>) {
        let file = try DatabaseFile.open(
            at: volume.file("Archives.sqlite"),
            kind: .archives,
            access: access
        )
        let store: Store<Data> = try file.store(
            named: "data",
            codec: IdentityCodec(),
            memory: Capacity(1.byte),
            disk: .unlimited
        )
        return (file, store)
    }

    /// - Returns: Whether the entries are removed.
    private func expectAllOrNone(
        _ volume: SmallVolume,
        _ count: Int,
        _ access: DatabaseFile.Access
    ) throws -> Bool {
        let (file, store) = try open(volume, access)
        let left = try store.count()
        let isDone = left < count
        #expect(left == (isDone ? count - (count + 1) / 3 : count))
        for number in 0..<count {
            let value = try store.value(forKey: EntryKey("\(number)"))
            #expect((value == nil) == (isDone && number % 3 == 1), "\(number)")
        }
        #expect(try store.keys().count == left)
        #expect(try file.verify().isIntact)
        try close(file)
        return isDone
    }

    private func expectRoomForMore(
        _ volume: SmallVolume,
        _ count: Int,
        _ isDone: Bool
    ) throws {
        let (file, store) = try open(volume)
        if !isDone {
            var transaction = StoreTransaction()
            for number in 0..<count where number % 3 == 1 {
                transaction.remove(EntryKey("\(number)"), in: store)
            }
            #expect(try transaction.commit().count { $0 } == (count + 1) / 3)
        }
        #expect(try store.count() == count - (count + 1) / 3)
        try store.removeAll()
        try store.record(Data(count: 700), forKey: "1")
        #expect(try file.verify().isIntact)
        try close(file)
    }

    /// There may be no room to write when values were used last.
    private func close(_ file: DatabaseFile) throws {
        do throws(VellumError) {
            try file.close()
        } catch {
            guard error.code == .diskFull else { throw error }
        }
    }
}
