import Foundation
import MiniCache
import Testing
import VellumTestSupport

/// Random operations on handles of different ages and versions, compared with a dictionary.
@Suite(.timeLimit(.minutes(60)))
struct MiniCacheModelTests {
    struct Handle {
        var version: Int
        var age: Int64
        var cache: MiniCache<[Int], String>
    }

    struct Slot: Hashable {
        var version: Int
        var key: [Int]
    }

    struct Stored {
        var value: String
        var written: Int64
        var age: Int64?
        /// Whether the value was invalid for every handle at some moment: it may have been removed then, whatever the clock says now.
        var maySweep = false
    }

    /// Returns what a handle must read.
    static func read(_ model: [Slot: Stored], _ handle: Handle, _ key: [Int], at now: Int64) -> String? {
        guard let stored = model[Slot(version: handle.version, key: key)] else { return nil }
        guard now + 300_000 >= stored.written, now < stored.written + (stored.age ?? handle.age) else { return nil }
        return stored.value
    }

    static func handles(_ manager: MiniCacheManager) -> [Handle] {
        var handles: [Handle] = []
        for version in 1...2 {
            for seconds in [10, 100] {
                let cache: MiniCache<[Int], String> = manager.cache(
                    cacheName: "Model", cacheVersion: .custom("\(version)"), maxAge: .timeInterval(Double(seconds)), memoryLimit: 200)
                handles.append(Handle(version: version, age: Int64(seconds) * 1000, cache: cache))
            }
        }
        return handles
    }

    @Test(arguments: 1...8)
    func everyHandleReadsWhatItsAgeAndVersionAllow(_ seed: UInt64) throws {
        let temporary = TemporaryCaches()
        var random = SeededGenerator(seed: seed)
        var model: [Slot: Stored] = [:]
        var handles = Self.handles(temporary.manager)
        for step in 0..<600 {
            let handle = random.element(of: handles)
            let key = [Int.random(in: 0..<4, using: &random), Int.random(in: 0..<2, using: &random)]
            let slot = Slot(version: handle.version, key: key)
            let now = temporary.clock.now.rawValue
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<25:
                let value = String(repeating: "\(step) ", count: Int.random(in: 1..<20, using: &random))
                handle.cache[key] = value
                model[slot] = Stored(value: value, written: now)
            case 25..<35:
                let age = Int64.random(in: 1..<60, using: &random)
                try handle.cache.set("\(step)", forKey: key, maxAge: .timeInterval(Double(age)))
                model[slot] = Stored(value: "\(step)", written: now, age: age * 1000)
            case 35..<42:
                handle.cache[key] = nil
                model[slot] = nil
            case 42..<55:
                temporary.clock.advance(by: .seconds(Int.random(in: 0..<20, using: &random)))
                for (slot, stored) in model where temporary.clock.now.rawValue >= stored.written + (stored.age ?? 100_000) {
                    model[slot]?.maySweep = true
                }
            case 55: temporary.clock.advance(by: .seconds(-400))
            case 56: handle.cache.trimMemory(to: 0)
            case 57:
                try temporary.manager.close()
                handles = Self.handles(temporary.manager)
            case 58:
                try handle.cache.removeAll()
                model = model.filter { $0.key.version != handle.version }
            case 59:
                temporary.manager.clearAll()
                model = [:]
            case 60..<65:
                let expected = model.keys.filter {
                    $0.version == handle.version && Self.read(model, handle, $0.key, at: now) != nil
                }
                let certain = expected.filter { model[$0]?.maySweep == false }
                let found = Set(try handle.cache.keys())
                #expect(found.isSubset(of: expected.map(\.key)), "seed \(seed), step \(step)")
                #expect(found.isSuperset(of: certain.map(\.key)), "seed \(seed), step \(step)")
            default:
                let expected = Self.read(model, handle, key, at: now)
                let found = handle.cache[key]
                if found == nil, model[slot]?.maySweep ?? false { continue }
                #expect(found == expected, "seed \(seed), step \(step)")
                #expect(try handle.cache.contains(key) == (expected != nil), "seed \(seed), step \(step)")
            }
        }
    }
}
