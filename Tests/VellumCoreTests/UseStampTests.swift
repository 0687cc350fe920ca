import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@Suite(.ownThreads)
struct UseStampTests {
    @Test(arguments: 0..<4)
    func stampsIncreaseWhileTheClockStandsStillOrGoesBack(number: Int) {
        var stamps = UseStamps(number: number, count: 4)
        var last = UseStamp.never
        for instant in [1000, 1000, 1000, 500, 0, 1001].map({ WallInstant(rawValue: $0) }) {
            let next = stamps.next(at: instant)
            #expect(next > last)
            last = next
        }
        #expect(last.instant == WallInstant(rawValue: 1001))
    }

    @Test(arguments: [Int64.min, -1, 0, Int64.max])
    func stampsCanStillIncreaseUnderExtremeClocks(_ milliseconds: Int64) {
        var stamps = UseStamps(number: 1, count: 2)
        let first = stamps.next(at: WallInstant(rawValue: milliseconds))
        #expect(stamps.next(at: WallInstant(rawValue: milliseconds)) > first)
    }

    @Test(arguments: UInt64(0)..<4)
    func noTwoLocksGiveTheSameStampAndARaisedOneGivesLaterOnes(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var all = (0..<8).map { UseStamps(number: $0, count: 8) }
        var seen: Set<UseStamp> = []
        for _ in 0..<10_000 {
            let number = Int.random(in: 0..<8, using: &random)
            let stamp = all[number].next(
                at: WallInstant(rawValue: .random(in: 0..<5, using: &random))
            )
            #expect(seen.insert(stamp).inserted, "seed \(seed)")
            guard Int.random(in: 0..<10, using: &random) == 0 else { continue }
            let other = Int.random(in: 0..<8, using: &random)
            all[other].raise(to: stamp)
            #expect(all[other].next(at: .never) > stamp, "seed \(seed)")
        }
    }

    /// P20: the smallest and largest instants are valid.
    @Test(arguments: [
        Date.distantFuture, .distantPast, Date(timeIntervalSince1970: .infinity),
        Date(timeIntervalSince1970: -.infinity),
    ])
    func anyDateIsAnInstant(_ date: Date) {
        let instant = WallInstant(date)
        #expect((instant.rawValue > 0) == (date > .now))
        #expect(instant.advanced(byMilliseconds: .max) >= instant)
        #expect(instant.advanced(byMilliseconds: .min) <= instant)
    }

    @Test func theSystemClockReturnsTheCurrentTime() {
        let (before, now, after) = (Date.now, WallClock.system.now().date, Date.now)
        // The clock is read coarsely.
        #expect(before - 1 < now && now < after + 1)
    }
}
