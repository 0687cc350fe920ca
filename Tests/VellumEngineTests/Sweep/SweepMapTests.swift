import TestThreads
import Testing
import VellumCore
import VellumEngine
@testable import VellumEngine

/// Where and when entries of an archive expire for every reader.
@Suite(.ownThreads)
struct SweepMapTests {
    func moment(_ milliseconds: Int64) -> WallInstant { WallInstant(rawValue: milliseconds) }

    @Test func aBlockIsDueWhenItsFirstEntryExpires() {
        var map = SweepMap()
        map.note(entryID: 7, end: moment(100))
        map.note(entryID: 8, end: moment(50))
        #expect(map.earliest == moment(50))
        #expect(map.takeDue(at: moment(49)) == nil)
        #expect(map.takeDue(at: moment(50)) == 0)
        #expect(
            map.takeDue(at: moment(100)) == nil,
            "The caller that took a block must record it again."
        )
        #expect(map.earliest == .never)
    }

    @Test func entriesThatNeverExpireAreNotRecorded() {
        var map = SweepMap()
        map.note(entryID: 1, end: .never)
        #expect(map == SweepMap())
    }

    @Test func unknownBlocksAreReadOnce() {
        var map = SweepMap()
        map.readAnew(after: 0, through: SweepMap.blockSize * 2)
        #expect(map.hasUnread)
        #expect((0..<3).map { _ in map.takeDue(at: moment(0)) } == [0, 1, 2])
        #expect(map.takeDue(at: moment(0)) == nil)
        #expect(!map.hasUnread)
    }

    @Test func theEarliestDueTimeIsThatOfTheRemainingBlocks() {
        var map = SweepMap()
        for block in Int64(0)..<10 {
            map.note(entryID: block * SweepMap.blockSize, end: moment(100 + block))
        }
        for block in Int64(0)..<10 {
            #expect(map.earliest == moment(100 + block))
            #expect(map.takeDue(at: moment(100 + block)) == block)
        }
    }
}

/// Until when an entry must be retained.
@Suite(.ownThreads)
struct RetentionTests {
    let written = WallInstant(rawValue: 1_000_000_000_000)

    func end(
        _ retention: Retention,
        expires: Int64? = nil,
        idle: Int64? = nil,
        used: Int64 = 0
    ) -> Int64? {
        let validity = Validity(
            written: written,
            expires: expires.map { written.advanced(byMilliseconds: $0) },
            idle: idle
        )
        let end = retention.end(
            validity,
            lastUse: UseStamp(startOf: written.advanced(byMilliseconds: used)),
            at: written.advanced(byMilliseconds: used)
        )
        return end == .never ? nil : end.rawValue - written.rawValue
    }

    func setRetention(
        age: Int64 = .max,
        idle: Int64 = .max,
        staleWindow: Int64 = 0,
        seen: Int64? = nil
    ) -> RetentionPolicy {
        RetentionPolicy(
            age: age,
            idle: idle,
            staleWindow: staleWindow,
            seen: seen.map { written.advanced(byMilliseconds: $0) } ?? .never
        )
    }

    @Test func anOwnExpirationAppliesWithTheLongestStaleWindow() {
        let retention = Retention(policies: [
            setRetention(age: 5, staleWindow: 30), setRetention(age: 500, staleWindow: 20),
        ])
        #expect(end(Retention(), expires: 100) == 100)
        #expect(end(retention, expires: 100) == 130)
        #expect(end(retention, expires: 100, idle: 10, used: 40) == 80)
        #expect(end(Retention(), idle: 10, used: 40) == 50)
    }

    @Test func withoutAnOwnExpirationTheLongestPolicyApplies() {
        #expect(end(Retention()) == nil)
        #expect(
            end(
                Retention(policies: [
                    setRetention(age: 100), setRetention(age: 300),
                    setRetention(age: 200, staleWindow: 50),
                ])
            ) == 300
        )
        #expect(end(Retention(policies: [setRetention(age: 100, staleWindow: 50)])) == 150)
        #expect(end(Retention(policies: [setRetention(age: 100), setRetention()])) == nil)
        #expect(end(Retention(policies: [setRetention(age: 100, idle: 10)]), used: 30) == 40)
    }

    @Test func policiesOfReadersAbsentForAWeekDoNotApply() {
        #expect(
            end(Retention(policies: [setRetention(age: 100), setRetention(seen: 50)])) == 50
                + Retention.week
        )
        #expect(
            end(Retention(policies: [setRetention(age: 100), setRetention(age: 200, seen: 50)]))
                == 200
        )
    }
}
