import Foundation
import MiniCache
import TestThreads
import Testing
import VellumTestSupport

/// Random operations on handles of different ages and versions, compared with a dictionary.
@Suite(.ownThreads)
struct MiniCacheModelTests {
    struct Handle {
        var version: Int
        var age: Int64
        var cache: MiniCache<[Int], String>
    }

    struct Stored {
        var value: String
        var written: Int64
        var age: Int64?
        /// Whether the value was invalid for every handle at some moment: it may have been removed
        /// then, whatever the clock says now.
        var maySweep = false
    }

    /// Returns what a handle must read.
    static func read(
        _ model: [[Int]: Stored],
        _ handle: Handle,
        _ key: [Int],
        at now: Int64
    ) -> String? {
        guard let stored = model[key] else { return nil }
        guard now + 300_000 >= stored.written, now < stored.written + (stored.age ?? handle.age)
        else { return nil }
        return stored.value
    }

    static func handles(_ manager: MiniCacheManager, _ version: Int) -> [Handle] {
        [10, 100].map { seconds in
            let cache: MiniCache<[Int], String> = manager.cache(
                cacheName: "Model",
                cacheVersion: .custom("\(version)"),
                maxAge: .timeInterval(Double(seconds)),
                memoryLimit: 200
            )
            return Handle(version: version, age: Int64(seconds) * 1000, cache: cache)
        }
    }

    /// A handle of a former version reads nothing and changes nothing.
    private func expectNothing(of handle: Handle, _ key: [Int]) throws {
        #expect(handle.cache[key] == nil)
        #expect(try handle.cache.keys() == [])
        #expect(try handle.cache.count() == 0)
        handle.cache[key] = "former"
        #expect(throws: MiniCacheError.self) { try handle.cache.removeAll() }
    }

    @Test(arguments: 1...UInt64(LongRun.number(8, usually: 2)))
    func everyHandleReadsWhatItsAgeAndVersionAllow(_ seed: UInt64) throws {
        let temporary = TemporaryCaches()
        var random = SeededGenerator(seed: seed)
        var model: [[Int]: Stored] = [:]
        var version = 1
        var handles = Self.handles(temporary.manager, version)
        var former: [Handle] = []
        for step in 0..<600 {
            let handle = random.element(of: handles)
            let key = [
                Int.random(in: 0..<4, using: &random), Int.random(in: 0..<2, using: &random),
            ]
            let now = temporary.clock.now.rawValue
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<25:
                let value = String(
                    repeating: "\(step) ",
                    count: Int.random(in: 1..<20, using: &random)
                )
                handle.cache[key] = value
                model[key] = Stored(value: value, written: now)
            case 25..<35:
                let age = Int64.random(in: 1..<60, using: &random)
                try handle.cache.set("\(step)", forKey: key, maxAge: .timeInterval(Double(age)))
                model[key] = Stored(value: "\(step)", written: now, age: age * 1000)
            case 35..<42:
                handle.cache[key] = nil
                model[key] = nil
            case 42..<55:
                temporary.clock.advance(by: .seconds(Int.random(in: 0..<20, using: &random)))
                for (key, stored) in model
                where temporary.clock.now.rawValue >= stored.written + (stored.age ?? 100_000) {
                    model[key]?.maySweep = true
                }
            case 55: temporary.clock.advance(by: .seconds(-400))
            case 56: handle.cache.trimMemory(to: 0)
            case 57:
                try temporary.manager.close()
                (handles, former) = (Self.handles(temporary.manager, version), [])
            case 58:
                try handle.cache.removeAll()
                model = [:]
            case 59:
                temporary.manager.clearAll()
                model = [:]
            case 60..<62:
                // Some versions return.
                version = version % 3 + 1
                former += handles
                handles = Self.handles(temporary.manager, version)
                model = [:]
            case 62..<66:
                if let handle = former.randomElement(using: &random) {
                    try expectNothing(of: handle, key)
                }
            case 66..<71:
                let expected = model.keys.filter { Self.read(model, handle, $0, at: now) != nil }
                let certain = expected.filter { model[$0]?.maySweep == false }
                let found = Set(try handle.cache.keys())
                #expect(found.isSubset(of: expected), "seed \(seed), step \(step)")
                #expect(found.isSuperset(of: certain), "seed \(seed), step \(step)")
            default:
                let expected = Self.read(model, handle, key, at: now)
                let found = handle.cache[key]
                if found == nil, model[key]?.maySweep ?? false { continue }
                #expect(found == expected, "seed \(seed), step \(step)")
                let contains = try handle.cache.contains(key)
                // A sweep that began at a later time of the clock may end now.
                if !contains, model[key]?.maySweep ?? false { continue }
                #expect(contains == (expected != nil), "seed \(seed), step \(step)")
            }
        }
    }
}
