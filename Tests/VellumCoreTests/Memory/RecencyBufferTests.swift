import TestThreads
import Testing
import VellumCore
import VellumTestSupport

/// The touches that the disk takes: each entry's last touch is written, in batches of any size.
@Suite(.ownThreads)
struct RecencyBufferTests {
    private let now = WallInstant(rawValue: 1_000_000)
    /// Holds one entry; all others are evicted immediately, and their touches are pending.
    private let cache: MemoryCache<Int>

    init() throws { cache = MemoryCache<Int>(capacity: try Capacity(1)) }

    /// Reads the entry from the disk.
    private func use(_ entryID: Int64) -> UseStamp {
        let key = EntryKey("\(entryID)")
        _ = cache.fill(
            .init(payload: 0, cost: 1, entryID: entryID),
            forKey: key,
            ticket: cache.ticket(forMissed: key),
            at: now
        )
        return cache.peek(key)?.stamp ?? .never
    }

    @Test func touchesAreTakenInTheOrderOfEntries() {
        for entryID in [7, 3, 9, 1, 5, 8, 2] as [Int64] { _ = use(entryID) }
        // The last entry is in memory.
        #expect(cache.takeTouches(limit: 4).map(\.entryID) == [2, 1, 3, 5])
        #expect(cache.takeTouches(limit: 1).map(\.entryID) == [7])
        #expect(cache.pendingTouchCount == 2)
        #expect(cache.takeTouches(limit: 100).map(\.entryID) == [8, 9])
        #expect(cache.takeTouches(limit: 100).isEmpty && cache.pendingTouchCount == 0)
    }

    @Test func oneCallTakesDrainedAndNewTouches() {
        for entryID in 1...10 as ClosedRange<Int64> { _ = use(entryID) }
        #expect(cache.takeTouches(limit: 8).count == 8)
        for entryID in 21...25 as ClosedRange<Int64> { _ = use(entryID) }
        #expect(
            Set(cache.takeTouches(limit: 100).map(\.entryID)) == Set([8, 9, 21, 22, 23, 24, 25])
        )
    }

    /// Taken from one end of a dictionary they would pile up at the other end.
    @Test func noTouchIsSkippedForLaterOnes() {
        var first = Set(1...1000 as ClosedRange<Int64>)
        for entryID in first { _ = use(entryID) }
        for round in 0..<40 {
            for number in 0..<32 { _ = use(Int64(10_000 + round * 32 + number)) }
            first.subtract(cache.takeTouches(limit: 32).map(\.entryID))
            cache.finishTouches(written: true)
        }
        #expect(first.isEmpty)
    }

    /// Only one caller in so many writes a batch.
    @Test func onlyTheCallerThatExceedsTheLimitWritesABatch() {
        func isUrgent(_ entryID: Int64) -> Bool {
            let key = EntryKey("\(entryID)")
            return cache.fill(
                .init(payload: 0, cost: 1, entryID: entryID),
                forKey: key,
                ticket: cache.ticket(forMissed: key),
                at: now
            )
            .isUrgent
        }
        let most = 65_536
        // One entry is in memory.
        #expect(!(1...Int64(most + 1)).contains { isUrgent($0) })
        #expect(isUrgent(1 << 20))
        #expect(cache.takeTouches(limit: 100).count == 100)
        cache.finishTouches(written: true)
        #expect(cache.pendingTouchCount <= most)
        #expect(!(1...50 as ClosedRange<Int64>).contains { isUrgent(1 << 21 + $0) })
    }

    /// Also while new touches keep arriving.
    @Test func committedTouchesAreDropped() {
        for entryID in 1...300 as ClosedRange<Int64> { _ = use(entryID) }
        for round in 1...50 {
            #expect(cache.takeTouches(limit: 256).count == 256)
            cache.finishTouches(written: true)
            #expect(cache.pendingTouches().count <= 45)
            for number in 0..<256 { _ = use(Int64(round * 1000 + number)) }
        }
    }

    @Test func touchesThatCouldNotBeWrittenAreTakenAgain() {
        let stamps = (1...20).map { use(Int64($0)) }
        #expect(cache.takeTouches(limit: 5).count == 5)
        cache.finishTouches(written: false)
        #expect(cache.pendingTouchCount == 20)
        let retaken = cache.takeTouches(limit: 100).sorted { $0.entryID < $1.entryID }
        #expect(retaken.map(\.stamp) == stamps)
    }

    /// At every moment the disk and the cache together know the last use of every entry.
    @Test(arguments: 0..<UInt64(LongRun.number(20, usually: 4)))
    func theDiskAndMemoryTogetherKnowEveryLastUse(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var disk: [Int64: UseStamp] = [:]
        var last: [Int64: UseStamp] = [:]
        for _ in 0..<3000 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<14:
                let entryID = Int64.random(in: 1...300, using: &random)
                last[entryID] = use(entryID)
            case 14..<19:
                let uses = cache.takeTouches(limit: Int.random(in: 1...40, using: &random))
                let isWritten = Int.random(in: 0..<4, using: &random) > 0
                #expect(Set(uses.map(\.entryID)).count == uses.count)
                if isWritten {
                    for use in uses {
                        disk[use.entryID] = max(use.stamp, disk[use.entryID] ?? .never)
                    }
                }
                cache.finishTouches(written: isWritten)
            default:
                let pending = Dictionary(
                    cache.pendingTouches().map { ($0.entryID, $0.stamp) },
                    uniquingKeysWith: max
                )
                #expect(
                    last.allSatisfy { entryID, stamp in
                        max(pending[entryID] ?? .never, disk[entryID] ?? .never) == stamp
                    }
                )
            }
            let entryID = Int64.random(in: 1...300, using: &random)
            let known = max(
                cache.lastUse(ofKey: EntryKey("\(entryID)"), entryID: entryID) ?? .never,
                disk[entryID] ?? .never
            )
            #expect(known == last[entryID] ?? .never)
        }
        while case let uses = cache.takeTouches(limit: 7), !uses.isEmpty {
            for use in uses { disk[use.entryID] = max(use.stamp, disk[use.entryID] ?? .never) }
            cache.finishTouches(written: true)
        }
        #expect(disk == last)
        #expect(cache.pendingTouches().isEmpty && cache.pendingTouchCount == 0)
    }
}
