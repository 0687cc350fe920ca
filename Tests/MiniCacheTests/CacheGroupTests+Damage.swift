import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumTestSupport

@testable import MiniCache
@testable import VellumCore
@testable import VellumEngine

extension CacheGroupTests {
    // MARK: Damage

    @Test func groupsSurviveARepair() throws {
        let cache = cache()
        for number in 0..<40 { try cache.set("1", forKey: "\(number)", groups: ["g\(number % 2)"]) }
        try temporary.manager.close()
        try raw().execute("UPDATE archives SET hash_seed_check = 0")
        let repaired = self.cache(temporary.anotherManager())
        #expect(try repaired.count() == 40)
        #expect(try repaired.removeAll(group: "g1") == 20)
        #expect(try repaired.keys(group: "g0").count == 20)
    }

    /// Of an entry whose groups are lost nobody could say that it is gone.
    @Test(arguments: [
        "DROP TABLE members", "DROP INDEX members_by_name",
        "UPDATE features SET bits = 0, bits_check = -1 WHERE word = 1",
    ])
    func aFileThatLostItsGroupsIsRepaired(_ damage: String) throws {
        try cache().set("1", forKey: "a", groups: ["g"])
        try cache().set("1", forKey: "b")
        try temporary.manager.close()
        try raw().execute(damage)
        let repaired = cache(temporary.anotherManager())
        #expect(try repaired.value(forKey: "a") == nil || repaired.keys(group: "g") == ["a"])
        try repaired.set("2", forKey: "c", groups: ["g"])
        #expect(try repaired.removeAll(group: "g") >= 1)
        #expect(try repaired.value(forKey: "a") == nil)
    }

    // MARK: A model

    private struct Model {
        var values: [String: (value: String, groups: Set<String>, end: Int64)] = [:]
    }

    /// Two processes, a tiny limit, and everything that writes. Whatever was evicted is gone, and
    /// the rest is as the model says.
    @Test(arguments: 1...UInt64(LongRun.number(6, usually: 2)), [false, true])
    func groupsAgreeWithAModel(
        _ seed: UInt64,
        isRelaxed: Bool
    ) async throws {
        var random = SeededGenerator(seed: seed)
        var managers = [temporary.anotherManager(durability: isRelaxed ? .relaxed : .crashSafe)]
        var caches = [cache(managers[0], disk: 1200.byte)]
        DatabaseFile.openSeparately(at: temporary.file)
        managers.append(temporary.anotherManager())
        caches.append(cache(managers[1], disk: 1200.byte))
        var model = Model()
        let names = ["g0", "g1", "g2", "tenant", "k3"]
        // Two handles in one process do not know of each other's relaxed writes as two processes
        // do.
        for step in 0..<400 {
            let cache = isRelaxed ? caches[0] : random.element(of: caches)
            let key = "k\(Int.random(in: 0..<12, using: &random))"
            let groups = Set(names.filter { _ in Int.random(in: 0..<3, using: &random) == 0 })
            let value = String(repeating: "\(step) ", count: Int.random(in: 1...30, using: &random))
            let now = temporary.clock.now.rawValue
            let never = now + 7 * 86_400_000
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<30:
                try cache.set(value, forKey: key, groups: groups)
                model.values[key] = (value, groups, never)
            case 30..<38:
                try cache.set(value, forKey: key)
                model.values[key] = (value, [], never)
            case 38..<44:
                try cache.set(value, forKey: key, maxAge: .seconds(30), groups: groups)
                model.values[key] = (value, groups, now + 30_000)
            case 44..<52:
                let isThere = cache[key] != nil
                try cache.update(forKey: key) { $0 = value }
                let old = isThere ? model.values[key] : nil
                model.values[key] = (value, old?.groups ?? [], old?.end ?? never)
            case 52..<58:
                let isThere = cache[key] != nil
                _ = try await cache.loading(into: groups).value(forKey: key) { value }
                if !isThere { model.values[key] = (value, groups, never) }
            case 58..<63:
                try cache.removeValue(forKey: key)
                model.values[key] = nil
            case 63..<73:
                let group = random.element(of: names)
                try cache.removeAll(group: group)
                model.values = model.values.filter { !$0.value.groups.contains(group) }
            case 73..<76:
                temporary.clock.advance(by: .seconds(Int.random(in: 1...20, using: &random)))
            case 76: cache.trimMemory(to: 0)
            case 77:
                try cache.removeAll()
                model.values = [:]
            case 78:
                let index = isRelaxed ? 0 : Int.random(in: 0..<2, using: &random)
                try managers[index].close()
                managers[index] = temporary.anotherManager(
                    durability: index == 0 && isRelaxed ? .relaxed : .crashSafe
                )
                if index == 1 { DatabaseFile.openSeparately(at: temporary.file) }
                caches[index] = self.cache(managers[index], disk: 1200.byte)
            default:
                let group = random.element(of: names)
                let expected = model.values.filter {
                    $0.value.groups.contains(group) && $0.value.end > now
                }
                let found = try Set(cache.keys(group: group))
                let held = try Set(cache.keys())
                #expect(
                    found == Set(expected.keys).intersection(held),
                    "seed \(seed), step \(step)"
                )
                for (key, stored) in model.values {
                    let value = cache[key]
                    #expect(
                        value == nil || value == stored.value && stored.end > now,
                        "seed \(seed), step \(step), \(key)"
                    )
                }
                #expect(held.isSubset(of: model.values.keys), "seed \(seed), step \(step)")
            }
        }
    }
}
