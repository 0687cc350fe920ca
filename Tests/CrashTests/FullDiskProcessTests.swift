import Foundation
import TestThreads
import Testing
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
}
