import Foundation
import Testing
import VellumCore
import VellumRemote

/// What a process may answer without asking the server.
@Suite(.timeLimit(.minutes(1)))
struct NearCacheTests {
    private let time: ManualTime
    private let trust: Trust
    private let near: NearCache<String>

    init() throws {
        time = ManualTime()
        trust = Trust(for: 1000, clock: time.clock)
        near = NearCache(capacity: try Capacity(DataSize(bytes: 1000)), trust: trust)
        near.begin(ServerTime(milliseconds: 50_000, sent: 0, received: 0))
    }

    private func record(_ value: String?, expires: Int64 = .max) -> RemoteRecord {
        RemoteRecord(
            value: value.map { Data($0.utf8) }, typeVersion: 0, written: WallInstant(rawValue: 50_000),
            expires: WallInstant(rawValue: expires))
    }

    private func fill(_ key: EntryKey, _ value: String?, expires: Int64 = .max, ticket: NearCache<String>.Ticket? = nil) {
        near.fill(value, record(value, expires: expires), forKey: key, ticket: ticket ?? near.ticket(forKey: key))
    }

    private enum Answer: Equatable { case value(String), nothing, asks }

    private func answer(_ key: EntryKey) -> Answer {
        switch near.hit(forKey: key) {
        case .some(let value?): .value(value)
        case .some(nil): .nothing
        case nil: .asks
        }
    }

    @Test func whatWasReadIsRememberedAlsoThatThereIsNothing() {
        #expect(answer("a") == .asks)
        fill("a", "1")
        fill("b", nil)
        #expect(answer("a") == .value("1"))
        #expect(answer("b") == .nothing)
    }

    @Test func theServerIsAskedWhenTheTrustHasEnded() {
        fill("a", "1")
        time.set(999)
        #expect(answer("a") == .value("1"))
        time.set(1000)
        #expect(answer("a") == .asks)
        #expect(near.oldValue(forKey: "a")?.value == "1")
        trust.renew(sent: 500)
        #expect(answer("a") == .value("1"))
        trust.stop()
        #expect(answer("a") == .asks)
    }

    @Test func anEntryEndsWithItsAgeByTheServersClock() {
        fill("a", "1", expires: 50_100)
        time.set(99)
        #expect(answer("a") == .value("1"))
        time.set(100)
        #expect(answer("a") == .asks)
        #expect(near.oldValue(forKey: "a")?.end == WallInstant(rawValue: 50_100))
    }

    @Test func aKeyThatChangedIsForgotten() {
        fill("a", "1")
        fill("b", "2")
        near.forget(["a"])
        #expect(answer("a") == .asks)
        #expect(answer("b") == .value("2"))
        near.forget(nil)
        #expect(answer("b") == .asks)
        #expect(near.usage == StorageUsage(entries: 0, bytes: 0))
    }

    /// The answer was on its way while the change arrived.
    @Test func anAnswerFromBeforeAChangeIsNotRemembered() {
        let ticket = near.ticket(forKey: "a")
        near.forget(["a"])
        fill("a", "old", ticket: ticket)
        #expect(answer("a") == .asks)
        let other = near.ticket(forKey: "a")
        near.forget(nil)
        fill("a", "old", ticket: other)
        #expect(answer("a") == .asks)
        fill("a", "new")
        #expect(answer("a") == .value("new"))
    }

    @Test func aNewConnectionForgetsWhatWasReadByTheLast() {
        fill("a", "1")
        let ticket = near.ticket(forKey: "b")
        trust.stop()
        near.begin(ServerTime(milliseconds: 50_000, sent: 0, received: 0))
        fill("b", "old", ticket: ticket)
        #expect(answer("a") == .asks)
        #expect(answer("b") == .asks)
    }

    @Test func theLimitHolds() {
        for number in 0..<100 { fill(EntryKey("\(number)"), String(repeating: "x", count: 70)) }
        #expect(near.usage == StorageUsage(entries: 10, bytes: 1000))
        #expect(answer("99") == .value(String(repeating: "x", count: 70)))
        #expect(answer("0") == .asks)
        fill("large", String(repeating: "x", count: 2000))
        #expect(answer("large") == .asks)
    }
}

extension NearCache {
    /// What follows the begin of a connection: the process was not notified of earlier changes.
    fileprivate func begin(_ time: ServerTime) {
        forget(nil)
        trust.begin(time)
    }
}
