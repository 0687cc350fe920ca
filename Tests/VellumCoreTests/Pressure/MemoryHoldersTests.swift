import Dispatch
import Synchronization
import TestThreads
import Testing

@testable import VellumCore

/// What gives memory back, and who asks for it.
@Suite(.ownThreads)
struct MemoryHoldersTests {
    private final class Holder: MemoryHolder {
        let heard = Locked<[MemoryPressure]>([])

        func release(under pressure: MemoryPressure) { heard.withLock { $0.append(pressure) } }
    }

    private let starts = Starts()

    private final class Starts: Sendable {
        let count = Atomic(0)
    }

    private func holders() -> MemoryHolders {
        MemoryHolders { [starts] _ in starts.count.add(1, ordering: .relaxed) }
    }

    @Test func everyHolderHears() {
        let (holders, one, other) = (holders(), Holder(), Holder())
        holders.insert(one)
        holders.insert(other)
        holders.systemDidAnnounce(.warning)
        holders.release(under: .critical)
        #expect(one.heard.withLock { $0 } == [.warning, .critical])
        #expect(other.heard.withLock { $0 } == [.warning, .critical])
    }

    @Test func theSourceStartsOnceAndNotForNobody() {
        let holders = holders()
        holders.follows = true
        #expect(starts.count.load(ordering: .relaxed) == 0)
        for _ in 0..<3 { holders.insert(Holder()) }
        #expect(starts.count.load(ordering: .relaxed) == 1)
    }

    @Test func whoDoesNotFollowStartsNothing() {
        let (holders, holder) = (holders(), Holder())
        holders.follows = false
        holders.insert(holder)
        #expect(starts.count.load(ordering: .relaxed) == 0)
        holders.systemDidAnnounce(.critical)
        #expect(holder.heard.withLock { $0 }.isEmpty)
        // A program that has another signal.
        holders.release(under: .warning)
        #expect(holder.heard.withLock { $0 } == [.warning])
        holders.follows = true
        #expect(starts.count.load(ordering: .relaxed) == 1)
        holders.systemDidAnnounce(.critical)
        #expect(holder.heard.withLock { $0 } == [.warning, .critical])
    }

    @Test func holdersThatAreGoneTakeNoRoom() {
        let (holders, last) = (holders(), Holder())
        for _ in 0..<100_000 { holders.insert(Holder()) }
        holders.insert(last)
        #expect(holders.count <= 200)
        holders.release(under: .warning)
        #expect(last.heard.withLock { $0 } == [.warning])
    }

    /// Its end may open or close something that follows, too.
    private final class Leaving: MemoryHolder {
        let holders: MemoryHolders

        init(_ holders: MemoryHolders) { self.holders = holders }

        deinit { holders.insert(Staying()) }

        func release(under pressure: MemoryPressure) {}
    }

    private final class Staying: MemoryHolder {
        func release(under pressure: MemoryPressure) {}
    }

    @Test func aHolderThatEndsMeanwhileEndsOutsideTheLock() {
        let holders = holders()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<20_000 { holders.insert(Leaving(holders)) }
        }
        #expect(holders.count > 0)
    }
}
