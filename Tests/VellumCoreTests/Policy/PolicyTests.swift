import Foundation
import TestThreads
import Testing
@testable import VellumCore
@testable import VellumEngine

@Suite(.ownThreads)
struct PolicyTests {
    /// P20: an age of NaN, also through a factory that cannot throw.
    @Test func anAgeThatIsNoNumberIsRejectedWhereItIsUsed() {
        let error = #expect(throws: VellumError.self) { try Expiration(validatingSeconds: .nan) }
        #expect(error?.code == .invalidDuration)
        for expiration in [
            .after(seconds: .nan), Expiration.after(seconds: .nan).jittered(by: 0.5),
            .never.jittered(by: .nan), .never.jittered(by: 2),
        ] {
            let error = #expect(throws: VellumError.self) { try expiration.check() }
            #expect(error?.code == .invalidDuration)
            // Where nothing can throw, and among others in a set.
            #expect(expiration == .after(seconds: .nan))
            let written = WallInstant(rawValue: 10_000_000)
            #expect(
                !expiration.validity(of: "a", written: written).contains(
                    written,
                    "a",
                    lastUse: .never
                )
            )
        }
    }

    /// P20: programs compute ages such as `expires.timeIntervalSinceNow`.
    @Test(arguments: [
        0, -0.0, -1.0, -Double.infinity, -Double.leastNonzeroMagnitude,
        -Double.greatestFiniteMagnitude,
    ])
    func aNegativeAgeIsZero(_ seconds: Double) throws {
        #expect(Expiration.after(seconds: seconds) == .after(.zero))
        #expect(try Expiration(validatingSeconds: seconds) == .after(.zero))
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(-1)])
    func aNegativeDurationIsZero(_ duration: Duration) throws {
        #expect(Expiration.after(duration) == .after(.zero))
        #expect(
            try Expiration(validating: duration, unusedFor: duration)
                == .unused(for: .zero, atMost: .zero)
        )
        #expect(Expiration.unused(for: duration, atMost: duration).idle == 0)
        #expect(Staleness(whileRevalidate: duration, ifError: duration).window == 0)
    }

    @Test func anInvalidJitterIsRejected() {
        func code(_ make: () throws(VellumError) -> Expiration) -> VellumError.Code? {
            do throws(VellumError) {
                _ = try make()
                return nil
            } catch {
                return error.code
            }
        }
        for jitter in [-0.1, 1.1, .nan] {
            #expect(
                code { () throws(VellumError) in
                    try Expiration(validating: .seconds(1), jitter: jitter)
                } == .invalidDuration
            )
            #expect(
                code { () throws(VellumError) in
                    try Expiration(validatingSeconds: 1, jitter: jitter)
                } == .invalidDuration
            )
        }
    }

    @Test(arguments: [
        (LoadSource.cached, false), (.loaded, false), (.staleWhileRevalidate, true),
        (.staleIfError, true),
    ])
    func aLoadedValueIsStaleIfItHadExpired(_ source: LoadSource, isStale: Bool) {
        #expect(Loaded(1, source).isStale == isStale)
        #expect(Loaded(Int?.none, source).isStale == isStale)
    }

    @Test func validatedExpirationsEqualThoseOfTheFactories() throws {
        #expect(try Expiration(validating: .seconds(60)) == .after(.seconds(60)))
        #expect(
            try Expiration(validatingSeconds: 60, jitter: 0.5)
                == .after(seconds: 60).jittered(by: 0.5)
        )
        #expect(
            try Expiration(validating: nil, unusedFor: .seconds(2)) == .unused(for: .seconds(2))
        )
        #expect(
            try Expiration(validating: .seconds(3), unusedFor: .seconds(2))
                == .unused(for: .seconds(2), atMost: .seconds(3))
        )
    }

    @Test func infiniteAndOverflowingDurationsMeanNever() {
        #expect(Expiration.after(seconds: .infinity) == .never)
        #expect(Expiration.after(seconds: 1e300) == .never)
        #expect(Expiration.after(.seconds(Int64.max)) == .never)
        #expect(Expiration.unused(for: .seconds(Int64.max)) == .never)
    }

    /// P20: durations in seconds, up to years.
    @Test func agesAreCountedInSeconds() {
        #expect(Expiration.after(seconds: 1.5).age == 1500)
        #expect(Expiration.after(.milliseconds(1)).age == 1)
        #expect(Expiration.after(.nanoseconds(1)).age == 1)
        #expect(Expiration.after(seconds: 365 * 24 * 3600).age == 31_536_000_000)
        #expect(Expiration.after(.zero).age == 0)
        #expect(Expiration.unused(for: .seconds(2), atMost: .seconds(3)).idle == 2000)
    }

    /// P19, C12: the clock may go back.
    @Test func anEntryDatedInTheFutureBeyondTheSlackIsExpired() {
        let written = WallInstant(rawValue: 10_000_000)
        let validity = Validity(written: written, expires: written.advanced(byMilliseconds: 1000))
        func isValid(
            _ milliseconds: Int64,
            _ validity: Validity,
            under expiration: Expiration = .never
        ) -> Bool {
            validity.contains(
                written.advanced(byMilliseconds: milliseconds),
                "a",
                lastUse: .never,
                under: expiration
            )
        }
        #expect(
            isValid(0, validity) && isValid(999, validity) && isValid(-Validity.slack, validity)
        )
        #expect(!isValid(1000, validity) && !isValid(-Validity.slack - 1, validity))

        let plain = Validity(written: written, expires: nil)
        #expect(isValid(.min / 2, plain) && isValid(.max / 2, plain))
        #expect(
            isValid(999, plain, under: Expiration(age: 1000))
                && !isValid(1000, plain, under: Expiration(age: 1000))
        )
        #expect(!isValid(-Validity.slack - 1, plain, under: Expiration(age: 1000)))

        // An expiration of the entry's own overrides the reader's, even if it is never.
        let immortal = Validity(written: written, expires: .never)
        #expect(isValid(.max / 2, immortal, under: Expiration(age: 0)))
    }

    @Test func durabilitiesAreOrderedByWhatTheySurvive() {
        #expect(Durability.relaxed < .crashSafe && .crashSafe < Durability.powerSafe)
    }

    @Test func statisticsAreALineToRead() {
        var statistics = StoreStatistics()
        statistics.memory = StorageUsage(entries: 1, bytes: 200)
        statistics.disk = StorageUsage(entries: 12, bytes: 3072)
        (statistics.memoryHits, statistics.misses, statistics.removals) = (7, 2, [.evicted: 3])
        (
            statistics.puts, statistics.evictedSize, statistics.loading.loads,
            statistics.loading.time
        ) = (5, 3.kiloByte, 2, .seconds(1))
        #expect(
            "\(statistics)" == """
                memory: 1 entry, 200 bytes; disk: 12 entries, 3 kB; 7 memory hits; 0 disk hits; 2 \
                misses; 0 evicted from memory; removed: 3 evicted; 5 puts; 3 kB evicted from the \
                disk; 0 failures; 2 loads in 1.0 seconds, 0 failed, 0 joined; stale: 0 while \
                revalidating, 0 after errors, 0 when slow; 0 in an outage
                """
        )
    }
}
