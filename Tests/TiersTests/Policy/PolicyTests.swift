import Foundation
import Testing
import Tiers

@Suite(.timeLimit(.minutes(1)))
struct PolicyTests {
    /// P9: a limit that holds nothing is an error, not a switch that turns limits off.
    @Test(arguments: [0, -1, Int.min])
    func aLimitOfNothingIsRefused(_ limit: Int) {
        #expect(throws: StoreError.self) { try Capacity(DataSize(bytes: limit)) }
        #expect(throws: StoreError.self) { try Capacity(1.megaByte, entries: limit) }
    }

    /// P20: durations that are no durations.
    @Test(arguments: [-1.0, -Double.infinity, Double.nan, -Double.leastNonzeroMagnitude])
    func anAgeThatIsNoneIsRefused(_ seconds: Double) {
        #expect(throws: StoreError.self) { try Expiration.after(seconds: seconds) }
    }

    @Test func infinityAndWhatComesNearItIsForEver() throws {
        let now = WallInstant(rawValue: 1_767_225_600_000)
        #expect(try Expiration.after(seconds: .infinity).end(from: now) == nil)
        #expect(try Expiration.after(seconds: 1e300).end(from: now) == nil)
        #expect(try Expiration.after(.seconds(Int64.max)).end(from: now) == nil)
        #expect(Expiration.never.end(from: now) == nil)
    }

    /// P20: seconds are seconds, and a year is a year.
    @Test func agesAreCountedInSeconds() throws {
        let now = WallInstant(rawValue: 0)
        #expect(try Expiration.after(seconds: 1.5).end(from: now)?.rawValue == 1500)
        #expect(try Expiration.after(.milliseconds(1)).end(from: now)?.rawValue == 1)
        #expect(try Expiration.after(.nanoseconds(1)).end(from: now)?.rawValue == 1)
        #expect(try Expiration.after(seconds: 365 * 24 * 3600).end(from: now)?.rawValue == 31_536_000_000)
        #expect(try Expiration.after(.zero).end(from: now)?.rawValue == 0)
        #expect(throws: StoreError.self) { try Expiration.after(.seconds(-1)) }
    }

    /// P19, C12: the clock may go back.
    @Test func anEntryDatedInTheFutureIsExpiredButForASlack() {
        let written = WallInstant(rawValue: 10_000_000)
        let validity = Validity(written: written, expires: written.advanced(byMilliseconds: 1000))
        #expect(validity.contains(written))
        #expect(validity.contains(written.advanced(byMilliseconds: 999)))
        #expect(!validity.contains(written.advanced(byMilliseconds: 1000)))
        #expect(validity.contains(written.advanced(byMilliseconds: -Validity.slack)))
        #expect(!validity.contains(written.advanced(byMilliseconds: -Validity.slack - 1)))
        #expect(Validity(written: written, expires: nil).contains(WallInstant(rawValue: .min)))
        #expect(Validity(written: written, expires: nil).contains(WallInstant(rawValue: .max)))
    }

    @Test func durabilitiesAreOrderedByWhatTheySurvive() {
        #expect(Durability.relaxed < .crashSafe && .crashSafe < Durability.powerSafe)
    }
}
