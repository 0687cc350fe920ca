import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import MiniCache
@testable import VellumEngine

/// Expiry by age and by version.
@Suite(.ownThreads)
struct MiniCacheExpirationTests {
    let temporary = TemporaryCaches()

    // MARK: Age

    static let ages: [(CacheMaxAge, Int64)] = [
        (.days(7), 604_800_000), (.hours(1), 3_600_000), (.minutes(1.5), 90_000),
        (.seconds(2), 2000), (.timeInterval(1000), 1_000_000),
        (.timeInterval(0.5), 500),
        (.timeInterval(0.003), 3), (.timeInterval(0.0001), 1), (.timeInterval(.infinity), .max),
        (.forever, .max),
        (.days(.greatestFiniteMagnitude), .max),
    ]

    @Test(arguments: ages.indices)
    func aValueIsReadForAsLongAsItsAgeAllows(_ number: Int) throws {
        let (maxAge, milliseconds) = Self.ages[number]
        let cache = temporary.cache(maxAge: maxAge)
        cache["foo"] = 1
        let last = min(milliseconds, 1 << 50)
        temporary.clock.now = temporary.clock.now.advanced(byMilliseconds: last - 1)
        #expect(cache["foo"] == 1)
        temporary.clock.now = temporary.clock.now.advanced(byMilliseconds: 1)
        #expect(cache["foo"] == (milliseconds == .max ? 1 : nil))
        #expect(try cache.contains("foo") == (milliseconds == .max))
    }

    /// P20. Programs compute ages of the original such as `expires.timeIntervalSinceNow`: a date in
    /// the past must not end the process.
    @Test(arguments: [-1, -.infinity, -.greatestFiniteMagnitude, 0, -0.0] as [Double])
    func anAgeInThePastExpiresAtOnceAndEndsNoProcess(_ seconds: Double) throws {
        for age in [
            CacheMaxAge.timeInterval(seconds), .hours(seconds), .days(seconds), .minutes(seconds),
        ] {
            let cache = temporary.cache(maxAge: age)
            try cache.set(1, forKey: "foo")
            #expect(try cache.value(forKey: "foo") == nil)
        }
    }

    @Test func settingAnExpiredValueRevivesIt() throws {
        let cache = temporary.cache(maxAge: .hours(1))
        cache["foo"] = 1
        temporary.clock.advance(by: .seconds(3601))
        #expect(cache["foo"] == nil)
        cache["foo"] = 2
        #expect(cache["foo"] == 2)
        temporary.clock.advance(by: .seconds(3599))
        #expect(cache["foo"] == 2)
    }

    @Test func countCountsEverythingThatIsStored() throws {
        let cache = temporary.cache(maxAge: .days(7), keepExpiredFor: .seconds(30 * 86_400))
        try cache.set(1, forKey: "short", maxAge: .days(1))
        cache["long"] = 2
        temporary.cache(maxAge: .days(7), keepExpiredFor: .seconds(30 * 86_400), of: String.self)[
            "text"
        ] = "no number"
        #expect(try cache.count() == 3)
        temporary.clock.advance(by: .seconds(2 * 86_400))
        #expect(try cache.count() == 3)
        #expect(try cache.keys().sorted() == ["long", "text"])
        #expect(cache["short"] == nil && cache["long"] == 2 && cache["text"] == nil)
    }

    @Test func readingDoesNotExtendAnAge() throws {
        let cache = temporary.cache(maxAge: .hours(1))
        cache["foo"] = 1
        for _ in 0..<3 {
            temporary.clock.advance(by: .seconds(1000))
            #expect(cache["foo"] == 1)
            cache.trimMemory(to: 0)
        }
        temporary.clock.advance(by: .seconds(600))
        #expect(cache["foo"] == nil)
    }

    @Test func eachHandleJudgesByItsOwnAge() throws {
        let short = temporary.cache(maxAge: .hours(1))
        let long = temporary.cache(maxAge: .days(1))
        short["foo"] = 1
        temporary.clock.advance(by: .seconds(3601))
        for _ in 0..<2 {
            #expect(short["foo"] == nil)
            #expect(long["foo"] == 1)
            #expect(try short.keys() == [])
            #expect(try long.keys() == ["foo"])
            long.trimMemory(to: 0)
        }
    }

    @Test func aValueMayHaveItsOwnAge() throws {
        let cache = temporary.cache(maxAge: .hours(1))
        try cache.set(1, forKey: "short", maxAge: .timeInterval(10))
        try cache.set(2, forKey: "long", maxAge: .days(10))
        try cache.set(3, forKey: "always", maxAge: .forever)
        temporary.clock.advance(by: .seconds(11))
        #expect(cache["short"] == nil)
        temporary.clock.advance(by: .seconds(9 * 86_400))
        #expect(cache["long"] == 2)
        temporary.clock.advance(by: .seconds(1000 * 86_400))
        #expect(cache["long"] == nil)
        #expect(cache["always"] == 3)
    }

    @Test func aSlidingAgeIsCountedFromTheLastUse() throws {
        let cache = temporary.cache(expiration: .unused(for: .seconds(60), atMost: .seconds(150)))
        cache["foo"] = 1
        for _ in 0..<3 {
            temporary.clock.advance(by: .seconds(45))
            #expect(cache["foo"] == 1)
        }
        temporary.clock.advance(by: .seconds(45))
        #expect(cache["foo"] == nil)
    }

    @Test func jitterLetsValuesExpireOneByOne() throws {
        let cache = temporary.cache(expiration: .after(.seconds(1000)).jittered(by: 0.5))
        for number in 0..<100 { cache["\(number)"] = number }
        temporary.clock.advance(by: .seconds(750))
        #expect((20..<80).contains(try cache.keys().count))
        temporary.clock.advance(by: .seconds(251))
        #expect(try cache.keys() == [])
    }

    @Test func aValueMayHaveASlidingAgeOfItsOwn() throws {
        let cache = temporary.cache(maxAge: .forever)
        try cache.set(1, forKey: "foo", expiration: .unused(for: .seconds(60)))
        for _ in 0..<3 {
            temporary.clock.advance(by: .seconds(59))
            #expect(cache["foo"] == 1)
        }
        temporary.clock.advance(by: .seconds(60))
        #expect(cache["foo"] == nil)
    }

    /// M3, P19
    @Test func aValueDatedInTheFutureIsExpiredAndNotImmortal() throws {
        let cache = temporary.cache(maxAge: .hours(1))
        cache["foo"] = 1
        temporary.clock.advance(by: .seconds(-86_400))
        #expect(cache["foo"] == nil)
        cache["bar"] = 2
        #expect(cache["bar"] == 2)
        // Clocks are corrected by a little all the time.
        temporary.clock.advance(by: .seconds(-200))
        #expect(cache["bar"] == 2)
    }

    // MARK: Reading writes nothing

    /// M1
    @Test func readingRemovesNothingAndWritesNothing() throws {
        let cache = temporary.cache(maxAge: .hours(1), keepExpiredFor: .seconds(30 * 86_400))
        for number in 0..<100 { cache["\(number)"] = number }
        temporary.clock.advance(by: .seconds(3601))
        try temporary.manager.flush()
        try cache.openStore().disk.file.waitForMaintenance()
        let before = (try temporary.size(), try temporary.size("-wal"), try cache.statistics().disk)
        for number in 0..<100 { #expect(cache["\(number)"] == nil) }
        #expect(
            (try temporary.size(), try temporary.size("-wal"), try cache.statistics().disk)
                == before
        )
        #expect(before.2.entries == 100)
    }

    // MARK: Versions

    @Test func aValueOfAnotherVersionIsNeverReturned() throws {
        temporary.cache(version: .custom("1"))["foo"] = 1
        let second = temporary.cache(version: .custom("2"))
        #expect(second["foo"] == nil)
        #expect(try second.keys() == [])
        #expect(try second.count() == 0)
        second["foo"] = 2
        #expect(second["foo"] == 2)
    }

    @Test func theVersionOfTheProgramStaysWhileTheProgramDoes() throws {
        temporary.cache(version: .appVersion)["foo"] = 1
        try temporary.manager.close()
        #expect(temporary.cache(version: .appVersion)["foo"] == 1)
        #expect(temporary.cache(version: .custom(""))["foo"] == nil)
    }
}
