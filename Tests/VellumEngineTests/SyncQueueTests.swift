import TestThreads
import Testing

@testable import VellumEngine

/// Which caller syncs, which waits, and which needs neither.
@Suite(.ownThreads)
struct SyncQueueTests {
    private var queue = SyncQueue()

    private func word(_ place: SyncQueue.Role) -> String {
        switch place {
        case .covered: "covered"
        case .leads: "leads"
        case .waits: "waits"
        case .failed: "failed"
        }
    }

    @Test mutating func oneCallerSyncsAndTheOthersWait() {
        #expect([1, 2, 3].map { word(queue.join(for: $0)) } == ["leads", "waits", "waits"])
        #expect(queue.end(through: 2).count == 2)
        #expect([2, 3, 4].map { word(queue.join(for: $0)) } == ["covered", "leads", "waits"])
    }

    @Test mutating func ofThoseThatASyncDoesNotCoverOneIsWokenToLead() {
        #expect(
            [1, 2, 5, 6, 7].map { word(queue.join(for: $0)) } == [
                "leads", "waits", "waits", "waits", "waits",
            ]
        )
        #expect(queue.end(through: 2).count == 2)
        #expect([2, 5].map { word(queue.join(for: $0)) } == ["covered", "leads"])
        #expect(queue.end(through: 7).count == 2)
        #expect([6, 7].map { word(queue.join(for: $0)) } == ["covered", "covered"])
    }

    /// Another caller may lead before the one that was woken.
    @Test mutating func aCallerThatWasOvertakenWaitsForTheOneThatLeads() {
        #expect([1, 5, 6].map { word(queue.join(for: $0)) } == ["leads", "waits", "waits"])
        #expect(queue.end(through: 2).count == 1)
        #expect([7, 5].map { word(queue.join(for: $0)) } == ["leads", "waits"])
        #expect(queue.end(through: 7).count == 2)
    }

    @Test mutating func aSyncThatNeverBeganIsRetriedByTheNextCaller() {
        _ = queue.join(for: 1)
        _ = queue.join(for: 1)
        #expect(queue.end().count == 1)
        #expect(word(queue.join(for: 1)) == "leads")
    }

    @Test mutating func afterAFailureNoSyncIsTrusted() {
        _ = queue.join(for: 2)
        _ = queue.end(through: 1)
        _ = queue.join(for: 2)
        _ = queue.end(failing: SQLiteError(code: 10, message: "test"))
        #expect(word(queue.join(for: 1)) == "failed")
        _ = queue.end(through: 9)
        #expect(word(queue.join(for: 2)) == "failed")
    }
}
