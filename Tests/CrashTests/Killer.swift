import CrashScript
import Foundation
import VellumCore
import VellumEngine
import VellumTestSupport

/// Kills children of one script repeatedly.
struct Killer {
    let script: Script
    let tally: Tally

    /// The number of operations of a child that is to be killed at a point.
    static let length = 40

    /// Kills children from outside, at random times.
    func killFromOutside(_ kills: Int, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let series = try CrashSeries(script)
        for round in 0..<kills {
            // Most times are early, some late.
            let death = CrashSeries.Death.outside(
                afterMicroseconds: Int(pow(10, Double.random(in: 1.5...4.8, using: &random)))
            )
            let result = try series.round(
                death,
                seed: random.next(),
                count: 10_000,
                isFresh: round % 25 == 0
            )
            tally.add(result, death)
        }
    }

    /// How often a child that is not killed passes each point.
    func passings(seed: UInt64) throws -> [CrashPoint: Int] {
        var most: [CrashPoint: Int] = [:]
        let series = try CrashSeries(script)
        for offset in 0..<UInt64(Tally.count(5, sample: 1)) {
            let result = try series.round(
                .none,
                seed: seed &+ offset,
                count: Self.length,
                isFresh: true
            )
            tally.add(result, .none)
            most.merge(result.passings, uniquingKeysWith: max)
        }
        return most
    }

    /// Kills children at the point, until enough have died there or further attempts are useless.
    ///
    /// - Parameter passings: How often a child that is not killed passes it.
    func kill(at point: CrashPoint, _ kills: Int, passings: Int, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let series = try CrashSeries(script)
        var (left, tries, misses) = (kills, kills * 8 + 8, 0)
        while left > 0, tries > 0 {
            tries -= 1
            let death = CrashSeries.Death.at(
                point,
                passing: .random(in: 1...max(1, passings >> misses), using: &random)
            )
            let isFresh = script.isAboutBeginnings || !Tally.isFull || Bool.random(using: &random)
            let result = try series.round(
                death,
                seed: random.next(),
                count: Self.length,
                isFresh: isFresh
            )
            tally.add(result, death)
            if result.wasKilled { left -= 1 } else { misses += 1 }
        }
    }
}

/// Runs all work, on so many threads at once, and waits for them. Blocks.
///
/// - Returns: The errors that were thrown.
func allTogether(
    _ work: [@Sendable () throws -> Void],
    threads: Int = ProcessInfo.processInfo.activeProcessorCount
) async -> [String] {
    let failures = Locked<[String]>([])
    let next = Locked(0)
    let running = (0..<min(threads, work.count)).map { _ in
        OnThread {
            while true {
                let index = next.withLock { next in
                    defer { next += 1 }
                    return next
                }
                guard index < work.count else { return }
                do {
                    try work[index]()
                } catch {
                    failures.withLock { $0.append(String(reflecting: error)) }
                }
            }
        }
    }
    for thread in running { thread.result() }
    return failures.withLock { $0 }
}
