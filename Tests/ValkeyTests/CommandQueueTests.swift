import TestThreads
import Testing
import VellumRemote
import VellumTestSupport

@testable import VellumValkey

@Suite(.ownThreads)
struct CommandQueueTests {
    @Test func repliesGoToTheCallersInTheOrderOfTheCommands() {
        var queue = CommandQueue<Int>()
        for caller in 0..<3 {
            #expect(queue.append(caller, sent: Int64(caller), deadline: 100) == UInt64(caller))
        }
        #expect(queue.oldest?.sent == 0)
        #expect((0..<3).map { _ in queue.popFirst()?.caller } == [0, 1, 2])
        #expect(queue.popFirst() == nil)
        #expect(queue.oldest == nil)
    }

    @Test func aCallerThatLeavesKeepsItsPlace() {
        var queue = CommandQueue<Int>()
        let first = queue.append(1, sent: 0, deadline: 100)
        _ = queue.append(2, sent: 0, deadline: 100)
        #expect(queue.takeCaller(of: first) == 1)
        #expect(queue.takeCaller(of: first) == nil)
        #expect(queue.count == 2)
        let reply = queue.popFirst()
        #expect(reply != nil)
        #expect(reply?.caller == nil)
        #expect(queue.popFirst()?.caller == 2)
        #expect(queue.takeCaller(of: first) == nil)
    }

    @Test func onlyCallersWhoseDeadlineHasPassedAreTaken() {
        var queue = CommandQueue<Int>()
        for (caller, deadline) in [(1, 1000), (2, 250), (3, 1000), (4, 250)] {
            _ = queue.append(caller, sent: 0, deadline: Int64(deadline))
        }
        #expect(queue.takeExpired(at: 249) == [])
        #expect(queue.takeExpired(at: 250) == [2, 4])
        #expect(queue.takeExpired(at: 250) == [])
        #expect(queue.removeAll() == [1, 3])
        #expect(queue.count == 0)
    }

    @Test func itDoesWhatAListDoes() {
        var random = SeededGenerator(seed: 7)
        var (queue, model) = (
            CommandQueue<Int>(), [(number: UInt64, caller: Int?, deadline: Int64)]()
        )
        var next: UInt64 = 0
        for step in 0..<20_000 {
            switch Int.random(in: 0..<100, using: &random) {
            case ..<45:
                let deadline = Int64(step + Int.random(in: 0..<2000, using: &random))
                #expect(queue.append(step, sent: 0, deadline: deadline) == next)
                model.append((next, step, deadline))
                next += 1
            case ..<85:
                let (found, expected) = (
                    queue.popFirst(), model.isEmpty ? nil : model.removeFirst()
                )
                #expect((found == nil) == (expected == nil))
                #expect(found?.caller == expected?.caller)
            case ..<95:
                let number = next - UInt64.random(in: 0..<min(next + 1, 50), using: &random)
                let place = model.firstIndex { $0.number == number }
                #expect(
                    queue.takeCaller(of: number) == place.flatMap { model[$0].caller },
                    "\(random)"
                )
                if let place { model[place].caller = nil }
            case ..<99:
                let expired = model.indices.filter { model[$0].deadline <= Int64(step) }
                #expect(
                    queue.takeExpired(at: Int64(step)) == expired.compactMap { model[$0].caller }
                )
                for place in expired { model[place].caller = nil }
            default:
                #expect(queue.removeAll() == model.compactMap(\.caller))
                model = []
            }
            #expect(queue.count == model.count)
        }
    }

    @Test func attemptsToConnectGetRarerUpToALimit() {
        var random = SeededGenerator(seed: 7)
        var backoff = Backoff()
        for failures in 0..<100 {
            let most = min(5000, 50 << min(failures, 10))
            #expect(0...Int64(most) ~= backoff.next(using: &random))
        }
        backoff.reset()
        #expect(0...50 ~= backoff.next(using: &random))
    }

    private struct Look: Sendable, CustomTestStringConvertible {
        /// The number of the oldest command without a reply, which was sent at its tenfold.
        var oldest: UInt64?
        var now: Int64
        var isStuck: Bool

        var testDescription: String { "\(oldest.map { "\($0)" } ?? "nothing") waits at \(now)" }
    }

    /// The server may be silent for 100 milliseconds.
    @Test(
        arguments: [
            (
                "It is silent until somebody looks twice", 0,
                [
                    Look(oldest: 1, now: 110, isStuck: false),
                    Look(oldest: 1, now: 111, isStuck: false),
                    Look(oldest: 1, now: 112, isStuck: true),
                ]
            ),
            (
                "The process stood still, and then read what had arrived", 0,
                [
                    Look(oldest: 1, now: 9000, isStuck: false),
                    Look(oldest: nil, now: 9010, isStuck: false),
                    Look(oldest: 900, now: 9011, isStuck: false),
                ]
            ),
            (
                "Replies arrive late, one after another", 0,
                [
                    Look(oldest: 1, now: 9000, isStuck: false),
                    Look(oldest: 2, now: 9010, isStuck: false),
                    Look(oldest: 3, now: 9020, isStuck: false),
                    Look(oldest: 3, now: 9030, isStuck: true),
                ]
            ),
            (
                "Nothing was asked", 0,
                [
                    Look(oldest: nil, now: 9000, isStuck: false),
                    Look(oldest: nil, now: 9010, isStuck: false),
                ]
            ),
            (
                "It is not ready", nil,
                [
                    Look(oldest: 1, now: 9000, isStuck: false),
                    Look(oldest: 1, now: 9010, isStuck: false),
                ]
            ),
            (
                "It has been ready for a moment", 8990,
                [
                    Look(oldest: 1, now: 9000, isStuck: false),
                    Look(oldest: 1, now: 9090, isStuck: false),
                    Look(oldest: 1, now: 9091, isStuck: false),
                    Look(oldest: 1, now: 9092, isStuck: true),
                ]
            ),
        ] as [(String, Int64?, [Look])]
    )
    private func aSilenceCountsWhenWhatHadArrivedWasRead(
        _ what: String,
        _ since: Int64?,
        _ looks: [Look]
    ) {
        var watch = SilenceWatch()
        for look in looks {
            let oldest = look.oldest.map { ($0, Int64($0) * 10) }
            #expect(
                watch.isStuck(oldest, since: since, longest: 100, at: look.now) == look.isStuck,
                "\(what): \(look.testDescription)"
            )
        }
    }
}
