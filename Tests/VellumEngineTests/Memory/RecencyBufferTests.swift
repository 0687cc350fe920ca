import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// What the disk is told of uses: each once it was made, the last of them at last, in whatever parts it asks.
@Suite(.timeLimit(.minutes(60)))
struct RecencyBufferTests {
    private let now = WallInstant(rawValue: 1_000_000)
    /// Every entry but the last leaves at once, and its use waits to be told.
    private let tier: MemoryCache<Int>

    init() throws { tier = MemoryCache<Int>(capacity: try Capacity(1)) }

    /// Reads the entry from the disk.
    private func use(_ row: Int64) -> UseStamp {
        let key = EntryKey("\(row)")
        _ = tier.fill(0, forKey: key, cost: 1, row: row, validity: .forever, ticket: tier.ticket(forMissed: key), at: now)
        return tier.peek(key)?.stamp ?? .never
    }

    @Test func whatWaitsIsHandedOutInTheOrderOfEntries() {
        for row in [7, 3, 9, 1, 5, 8, 2] as [Int64] { _ = use(row) }
        // The last is in memory.
        #expect(tier.takeTouches(limit: 4).map(\.row) == [2, 1, 3, 5])
        #expect(tier.takeTouches(limit: 1).map(\.row) == [7])
        #expect(tier.pendingTouchCount == 2)
        #expect(tier.takeTouches(limit: 100).map(\.row) == [8, 9])
        #expect(tier.takeTouches(limit: 100).isEmpty && tier.pendingTouchCount == 0)
    }

    @Test func oneCallTakesWhatCameBetweenTwo() {
        for row in 1...10 as ClosedRange<Int64> { _ = use(row) }
        #expect(tier.takeTouches(limit: 8).count == 8)
        for row in 21...25 as ClosedRange<Int64> { _ = use(row) }
        #expect(Set(tier.takeTouches(limit: 100).map(\.row)) == Set([8, 9, 21, 22, 23, 24, 25]))
    }

    /// Taken from one end of a dictionary they would pile up at the other, where no one comes.
    @Test func noUseIsPassedOverForLaterOnes() {
        var first = Set(1...1000 as ClosedRange<Int64>)
        for row in first { _ = use(row) }
        for round in 0..<40 {
            for number in 0..<32 { _ = use(Int64(10_000 + round * 32 + number)) }
            first.subtract(tier.takeTouches(limit: 32).map(\.row))
            tier.finishTouches(written: true)
        }
        #expect(first.isEmpty)
    }

    /// One caller in so many writes a part: not each of them until all are written.
    @Test func whoeverAddsOneTooManyWritesAPartAndTheNextDoNot() {
        func isUrgent(_ row: Int64) -> Bool {
            let key = EntryKey("\(row)")
            return tier.fill(0, forKey: key, cost: 1, row: row, validity: .forever, ticket: tier.ticket(forMissed: key), at: now).isUrgent
        }
        let most = 65_536
        // One is in memory.
        #expect(!(1...Int64(most + 1)).contains { isUrgent($0) })
        #expect(isUrgent(1 << 20))
        #expect(tier.takeTouches(limit: 100).count == 100)
        tier.finishTouches(written: true)
        #expect(tier.pendingTouchCount <= most)
        #expect(!(1...50 as ClosedRange<Int64>).contains { isUrgent(1 << 21 + $0) })
    }

    /// Also where there is more at every time.
    @Test func whatIsCommittedIsForgotten() {
        for row in 1...300 as ClosedRange<Int64> { _ = use(row) }
        for round in 1...50 {
            #expect(tier.takeTouches(limit: 256).count == 256)
            tier.finishTouches(written: true)
            #expect(tier.pendingTouches().count <= 45)
            for number in 0..<256 { _ = use(Int64(round * 1000 + number)) }
        }
    }

    @Test func whatCouldNotBeWrittenIsToldAgain() {
        let stamps = (1...20).map { use(Int64($0)) }
        #expect(tier.takeTouches(limit: 5).count == 5)
        tier.finishTouches(written: false)
        #expect(tier.pendingTouchCount == 20)
        let told = tier.takeTouches(limit: 100).sorted { $0.row < $1.row }
        #expect(told.map(\.stamp) == stamps)
    }

    /// At every moment the disk and the tier know the last use of every entry between them.
    @Test(arguments: UInt64(0)..<20)
    func aModelDiskKnowsTheLastUseOfEverything(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var disk: [Int64: UseStamp] = [:]
        var last: [Int64: UseStamp] = [:]
        for _ in 0..<3000 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<14:
                let row = Int64.random(in: 1...300, using: &random)
                last[row] = use(row)
            case 14..<19:
                let uses = tier.takeTouches(limit: Int.random(in: 1...40, using: &random))
                let isWritten = Int.random(in: 0..<4, using: &random) > 0
                #expect(Set(uses.map(\.row)).count == uses.count)
                if isWritten { for use in uses { disk[use.row] = max(use.stamp, disk[use.row] ?? .never) } }
                tier.finishTouches(written: isWritten)
            default:
                let pending = Dictionary(tier.pendingTouches().map { ($0.row, $0.stamp) }, uniquingKeysWith: max)
                #expect(last.allSatisfy { row, stamp in max(pending[row] ?? .never, disk[row] ?? .never) == stamp })
            }
            let row = Int64.random(in: 1...300, using: &random)
            let known = max(tier.latestUse(ofKey: EntryKey("\(row)"), row: row) ?? .never, disk[row] ?? .never)
            #expect(known == last[row] ?? .never)
        }
        while case let uses = tier.takeTouches(limit: 7), !uses.isEmpty {
            for use in uses { disk[use.row] = max(use.stamp, disk[use.row] ?? .never) }
            tier.finishTouches(written: true)
        }
        #expect(disk == last)
        #expect(tier.pendingTouches().isEmpty && tier.pendingTouchCount == 0)
    }
}
