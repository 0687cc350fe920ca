import Foundation
import Testing
import VellumCore
import VellumEngine

@Suite(.timeLimit(.minutes(1)))
struct UseStampTests {
    @Test func stampsIncreaseWhileTheClockStandsStillOrGoesBack() {
        let clock = UseClock()
        var last = UseStamp.never
        for instant in [1000, 1000, 1000, 500, 0, 1001].map({ WallInstant(rawValue: $0) }) {
            let next = clock.stamp(at: instant)
            #expect(next > last)
            last = next
        }
        #expect(last.instant == WallInstant(rawValue: 1001))
    }

    @Test(arguments: [Int64.min, -1, 0, Int64.max])
    func stampsCanStillIncreaseUnderExtremeClocks(_ milliseconds: Int64) {
        let clock = UseClock()
        let first = clock.stamp(at: WallInstant(rawValue: milliseconds))
        #expect(clock.stamp(at: WallInstant(rawValue: milliseconds)) > first)
    }

    /// P20: the smallest and largest instants are valid.
    @Test(arguments: [Date.distantFuture, .distantPast, Date(timeIntervalSince1970: .infinity), Date(timeIntervalSince1970: -.infinity)])
    func anyDateIsAnInstant(_ date: Date) {
        let instant = WallInstant(date)
        #expect((instant.rawValue > 0) == (date > .now))
        #expect(instant.advanced(byMilliseconds: .max) >= instant)
        #expect(instant.advanced(byMilliseconds: .min) <= instant)
    }

    @Test func theSystemClockReturnsTheCurrentTime() {
        #expect(abs(WallClock.system.now().date.timeIntervalSinceNow) < 1)
    }
}
