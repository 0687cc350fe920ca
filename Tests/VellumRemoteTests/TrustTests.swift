import TestThreads
import Testing
import VellumCore
import VellumRemote

@Suite(.ownThreads)
struct TrustTests {
    private let now = ManualTime()

    init() { now.set(1000) }

    @Test func memoryIsTrustedFromTheMomentAtWhichACommandWasSent() {
        let trust = Trust(for: 1000, clock: now.clock)
        #expect(trust.timeIfTrusted() == nil)
        #expect(trust.time() == nil)
        trust.begin(ServerTime(milliseconds: 50_000, sent: 900, received: 1000))
        now.set(1899)
        #expect(trust.timeIfTrusted() == WallInstant(rawValue: 1899))
        now.set(1900)
        #expect(trust.timeIfTrusted() == nil)
        #expect(trust.time() == WallInstant(rawValue: 50_950))
        trust.renew(sent: 1850)
        #expect(trust.timeIfTrusted() != nil)
        now.set(2850)
        #expect(trust.timeIfTrusted() == nil)
    }

    @Test func anOlderReplyDoesNotShortenTheTrust() {
        let trust = Trust(for: 1000, clock: now.clock)
        trust.begin(ServerTime(milliseconds: 0, sent: 1000, received: 1000))
        trust.renew(sent: 500)
        now.set(1999)
        #expect(trust.timeIfTrusted() != nil)
    }

    @Test func aLostConnectionEndsTheTrust() {
        let trust = Trust(for: 1000, clock: now.clock)
        trust.begin(ServerTime(milliseconds: 0, sent: 1000, received: 1000))
        trust.stop()
        #expect(trust.timeIfTrusted() == nil)
        // Ages still need the server's time.
        #expect(trust.time() != nil)
        trust.begin(ServerTime(milliseconds: 10, sent: 1000, received: 1000))
        #expect(
            trust.timeIfTrusted() == WallInstant(rawValue: 1000)
                && trust.time() == WallInstant(rawValue: 10)
        )
    }

    /// A time that was underway for long says little.
    @Test func aClockThatIsSetByASecondIsToldFromASlowAnswer() {
        let trust = Trust(for: 1000, clock: now.clock)
        #expect(!trust.isSet(to: ServerTime(milliseconds: 9000, sent: 1000, received: 1000)))
        trust.begin(ServerTime(milliseconds: 0, sent: 1000, received: 4000))
        #expect(!trust.isSet(to: ServerTime(milliseconds: 2500, sent: 2500, received: 2500)))
        #expect(trust.isSet(to: ServerTime(milliseconds: 2501, sent: 2500, received: 2500)))
        trust.set(ServerTime(milliseconds: 0, sent: 1000, received: 1000))
        #expect(!trust.isSet(to: ServerTime(milliseconds: 1000, sent: 1000, received: 1000)))
        #expect(trust.isSet(to: ServerTime(milliseconds: -1001, sent: 1000, received: 1000)))
    }

    /// The reply to a beat is looked at after the connection has ended.
    @Test func aTimeThatIsLearnedAfterALossTrustsNothing() {
        let trust = Trust(for: 1000, clock: now.clock)
        trust.begin(ServerTime(milliseconds: 0, sent: 1000, received: 1000))
        trust.stop()
        trust.set(ServerTime(milliseconds: 7, sent: 1000, received: 1000))
        #expect(trust.timeIfTrusted() == nil)
        #expect(trust.time() == WallInstant(rawValue: 7))
    }

    @Test func aClockThatIsSetIsNoticed() {
        let trust = Trust(for: 1000, clock: now.clock)
        #expect(trust.jump(to: ServerTime(milliseconds: 0, sent: 1000, received: 1000)) == nil)
        trust.begin(ServerTime(milliseconds: 50_000, sent: 1000, received: 1000))
        #expect(trust.jump(to: ServerTime(milliseconds: 50_600, sent: 1500, received: 1600)) == 50)
        #expect(trust.jump(to: ServerTime(milliseconds: 0, sent: 1500, received: 1500)) == -50_500)
    }

    @Test func aDurationOfZeroTrustsNothing() {
        let trust = Trust(for: 0, clock: now.clock)
        trust.begin(ServerTime(milliseconds: 0, sent: 1000, received: 1000))
        #expect(trust.timeIfTrusted() == nil)
    }
}
