import Dispatch
import Foundation
import MiniCache
import TestThreads
import Testing
import VellumTestSupport

/// Caches used from several threads.
@Suite(.ownThreads)
struct MiniCacheConcurrencyTests {
    let temporary = TemporaryCaches()

    /// Every value that is read was set for that key.
    @Test func anyThreadMayReadAndWrite() throws {
        let cache: MiniCache<Int, [Int]> = temporary.manager.cache(
            cacheName: "Shared",
            cacheVersion: .custom("1"),
            maxAge: .days(1),
            memoryLimit: 1.kiloByte
        )
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            var random = SeededGenerator(seed: UInt64(thread))
            for round in 0..<300 {
                let key = Int.random(in: 0..<20, using: &random)
                switch Int.random(in: 0..<10, using: &random) {
                case 0: cache[key] = nil
                case 1: cache.trimMemory(to: 0)
                case 2, 3, 4: cache[key] = [key, round, key, round]
                default:
                    guard let value = cache[key] else { continue }
                    #expect(
                        value.count == 4 && value[0] == key && value[2] == key
                            && value[1] == value[3]
                    )
                }
            }
        }
        let statistics = try cache.statistics()
        #expect(statistics.failures == 0)
        #expect(statistics.memory.bytes <= 1024)
    }

    final class Mutable: Codable {
        var numbers: [Int]
        init(_ numbers: [Int]) { self.numbers = numbers }
    }

    /// P45: each thread gets its own object.
    @Test func objectsThatAreNotSendableAreNeverShared() {
        let cache: MiniCache<String, Mutable> = temporary.manager.cache(
            cacheName: "Objects",
            cacheVersion: .custom("1"),
            maxAge: .days(1)
        )
        cache["foo"] = Mutable([1])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for _ in 0..<200 {
                guard let mine = cache["foo"] else { continue }
                #expect(mine.numbers == [1])
                mine.numbers.append(thread)
            }
        }
        #expect(cache["foo"]?.numbers == [1])
    }

    /// Handles of different types and ages on one cache, made while others read.
    @Test func handlesAreMadeAndUsedConcurrently() {
        let temporary = temporary
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for round in 0..<50 {
                if thread.isMultiple(of: 2) {
                    let numbers: MiniCache<String, Int> = temporary.manager.cache(
                        cacheName: "Both",
                        cacheVersion: .custom("1"),
                        maxAge: .hours(Double(thread + 1))
                    )
                    numbers["number"] = round
                    #expect(numbers["number"] != nil)
                    _ = numbers["text"]
                } else {
                    let texts: MiniCache<String, String> = temporary.anotherManager().cache(
                        cacheName: "Both",
                        cacheVersion: .custom("1"),
                        maxAge: .days(1)
                    )
                    texts["text"] = "text \(round)"
                    #expect(texts["text"]?.hasPrefix("text ") == true)
                    _ = texts["number"]
                }
            }
        }
    }

    /// A cache that is cleared, closed and opened while others use it reads nil or what was set.
    @Test func clearingAndClosingDoNotDisturbOtherThreads() throws {
        let temporary = temporary
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for round in 0..<60 {
                if thread == 0, round.isMultiple(of: 20) {
                    #expect(throws: Never.self) { try temporary.manager.close() }
                } else if thread == 0, round.isMultiple(of: 5) {
                    temporary.manager.clearAll()
                } else {
                    let cache = temporary.cache()
                    cache["\(thread)"] = thread
                    let value = cache["\(thread)"]
                    #expect(value == nil || value == thread)
                }
            }
        }
        let cache = temporary.cache()
        try cache.set(1, forKey: "after")
        #expect(cache["after"] == 1)
    }
}
