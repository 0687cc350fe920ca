import Foundation
import TestThreads
import Testing
import VellumCore

@testable import VellumRemote

/// What a process may answer without asking the server.
@Suite(.ownThreads)
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
            value: value.map { Data($0.utf8) },
            typeVersion: 0,
            written: WallInstant(rawValue: 50_000),
            expires: WallInstant(rawValue: expires)
        )
    }

    private func fill(
        _ key: EntryKey,
        _ value: String?,
        expires: Int64 = .max,
        ticket: NearCache<String>.Ticket? = nil
    ) {
        near.fill(
            value,
            record(value, expires: expires),
            forKey: key,
            ticket: ticket ?? near.ticket(forKey: key)
        )
    }

    private enum Answer: Equatable { case value(String), nothing, asks }

    private func answer(_ key: EntryKey) -> Answer {
        switch near.hit(forKey: key) {
        case .some(let value?): .value(value)
        case .some(nil): .nothing
        case nil: .asks
        }
    }

    @Test(arguments: [(MemoryPressure.warning, 50), (.critical, 12)])
    func memoryIsGivenBackUnderPressure(_ pressure: MemoryPressure, _ left: Int) throws {
        let near = NearCache<String>(capacity: try Capacity(1.megaByte), trust: trust)
        for number in 0..<100 {
            let key = EntryKey("\(number)")
            near.fill("value", record("value"), forKey: key, ticket: near.ticket(forKey: key))
        }
        near.release(under: pressure)
        #expect(near.usage.entries == left)
        #expect(near.hit(forKey: "99") == "value" && near.hit(forKey: "0") == nil)
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
        #expect(near.oldValue(forKey: "a")?.end == WallInstant(rawValue: 100))
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

    // MARK: Groups

    private func grouped(_ value: String, _ groups: [EntryKey: UInt64]) -> RemoteRecord {
        var record = record(value)
        record.groups = groups.map { GroupEpoch(name: $0.key, epoch: $0.value) }
        return record
    }

    enum Step: CaseIterable { case learn, fill, change, changeOther, forgetAll, learnAnother }

    /// A value in groups stays in memory only if nothing changed between the ticket and the end.
    @Test(
        arguments: [
            ([.learn, .fill], true), ([.fill], false), ([.learn, .change, .fill], false),
            ([.change, .learn, .fill], false),
            ([.learn, .fill, .change], false), ([.changeOther, .learn, .fill], false),
            ([.learn, .changeOther, .fill], true),
            ([.learn, .fill, .changeOther], true), ([.learn, .forgetAll, .fill], false),
            ([.forgetAll, .learn, .fill], false),
            ([.learn, .fill, .forgetAll], false), ([.learn, .learnAnother, .fill], false),
            ([.learnAnother, .fill], false),
        ] as [([Step], Bool)]
    )
    func aValueInGroupsIsRememberedWhileNoneChanges(_ steps: [Step], _ isNear: Bool) {
        let ticket = near.ticket(forKey: "a")
        for step in steps {
            switch step {
            case .learn: near.learn(["g": 1, "h": 2], since: ticket.changes)
            case .learnAnother: near.learn(["g": 3, "h": 2], since: ticket.changes)
            case .fill: near.fill("1", grouped("1", ["g": 1, "h": 2]), forKey: "a", ticket: ticket)
            case .change: near.forget(groups: ["h"])
            case .changeOther: near.forget(groups: ["x"])
            case .forgetAll: near.forget(nil)
            }
        }
        #expect(answer("a") == (isNear ? .value("1") : .asks))
        // An old value is no answer either, whatever a caller accepts.
        #expect((near.oldValue(forKey: "a") != nil) == isNear)
    }

    @Test func whatIsKnownOfGroupsIsBounded() {
        let first = near.ticket(forKey: "kept")
        near.learn(["kept": 1], since: first.changes)
        near.fill("1", grouped("1", ["kept": 1]), forKey: "kept", ticket: first)
        for number in 0..<20_000 {
            let key = EntryKey("\(number % 3)")
            let (ticket, group) = (near.ticket(forKey: key), EntryKey("\(number)"))
            near.learn([group: 1], since: ticket.changes)
            var record = grouped("1", [group: 1])
            record.written = WallInstant(rawValue: 50_000 + Int64(number))
            near.fill("1", record, forKey: key, ticket: ticket)
            near.learn([EntryKey("unused \(number)"): 1], since: ticket.changes)
        }
        #expect(near.groups.withLock { $0.count } <= 2 * 1024 + 8)
        // What is in memory is still found.
        #expect(answer("kept") == .value("1"))
        near.forget(groups: ["kept"])
        #expect(answer("kept") == .asks)
        #expect(answer("1") == .value("1"))
        near.forget(groups: [EntryKey("19999")])
        #expect(answer(EntryKey("\(19_999 % 3)")) == .asks)
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
        trusts[0].begin(time)
    }
}
