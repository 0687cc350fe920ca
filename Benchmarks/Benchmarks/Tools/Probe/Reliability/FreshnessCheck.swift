import Dispatch
import Foundation
import Samples
import Synchronization
import VellumCore
import VellumEngine

/// What a hit in memory costs by asking whether another process changed something, beside a hit that does not ask.
enum FreshnessCheck {
    private static let count = 20_000
    private static let batch = 1000

    static func measure(_ desk: Desk) throws -> [Figure] {
        let asking = try filled(following: NobodyElse())
        let trusting = try filled(following: nil)
        var (with, without): ([Double], [Double]) = ([], [])
        for round in 0..<(desk.isQuick ? 2000 : 10_000) {
            // Each begins as often as the other.
            if round.isMultiple(of: 2) {
                with.append(time(asking, round))
                without.append(time(trusting, round))
            } else {
                without.append(time(trusting, round))
                with.append(time(asking, round))
            }
        }
        let added = Distribution(zip(with, without).map { $0 - $1 }).median
        return [
            Figure(
                title: "A hit that asks whether another process changed something, median", value: Distribution(with).median, unit: "ns"),
            Figure(title: "… beside one that does not ask", value: Distribution(without).median, unit: "ns"),
            Figure(title: "… what asking adds, median of the pairs", value: added, unit: "ns", limit: 5),
        ]
    }

    private static let keys = (0..<count).map { EntryKey(Person.key($0)) }

    private static func filled(following feed: (any ChangeFeed)?) throws -> MemoryCache<Int> {
        let tier = MemoryCache<Int>(capacity: try Capacity(1.gigaByte), following: feed)
        for (number, key) in keys.enumerated() {
            _ = tier.store(
                number, forKey: key, cost: 100, stamp: tier.stamp(at: WallClock.system.now()), row: Int64(number + 1), validity: .forever,
                wasPresent: false)
        }
        return tier
    }

    /// Nanoseconds for one hit, the mean of a batch.
    private static func time(_ tier: MemoryCache<Int>, _ round: Int) -> Double {
        let now = WallClock.system.now()
        var (sum, notifiesDisk) = (0, false)
        let start = DispatchTime.now().uptimeNanoseconds
        for number in 0..<batch {
            sum &+= tier.use(keys[(round &* 7919 &+ number &* 613) % count], at: now, notifiesDisk: &notifiesDisk) ?? 0
        }
        let end = DispatchTime.now().uptimeNanoseconds
        precondition(sum > 0)
        return Double(end - start) / Double(batch)
    }

    /// A feed of a file that no other process has open.
    private final class NobodyElse: ChangeFeed {
        private let cell: Cell

        /// Unchecked because the number is protected by being atomic, and never let go of.
        private struct Cell: @unchecked Sendable {
            var pointer: UnsafeMutablePointer<Atomic<UInt64>>
        }

        init() {
            let pointer = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: 1)
            pointer.initialize(to: Atomic(1))
            cell = Cell(pointer: pointer)
        }

        var generation: Generation { Generation(UnsafePointer(cell.pointer)) }
        func changes(after old: UInt64, through new: UInt64) -> ForeignChanges { .keys([]) }
        func isChanging(_ hash: UInt64) -> Bool { false }
    }
}
