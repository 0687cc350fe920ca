import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumTestSupport

@testable import MiniCache
@testable import VellumCore
@testable import VellumEngine

/// Groups of values: what is in one, and that removing one removes exactly that (decision 82).
@Suite(.ownThreads)
struct CacheGroupTests {
    let temporary = TemporaryCaches()

    func cache(
        _ manager: MiniCacheManager? = nil,
        name: String = "Pages",
        keepingExpired days: Int = 0,
        disk: DataSize? = nil
    ) -> MiniCache<String, String> {
        (manager ?? temporary.manager).cache(
            cacheName: name,
            cacheVersion: .custom("1"),
            maxAge: .days(7),
            keepExpiredFor: .seconds(days * 86_400),
            diskLimit: disk
        )
    }

    func raw() throws -> RawDatabase { try RawDatabase(temporary.file) }

    // MARK: What is in a group

    struct Case: Sendable, CustomStringConvertible {
        var description: String
        var act: @Sendable (MiniCache<String, String>, ManualClock) async throws -> Void
        /// The keys of the group "user:42", the most recently used first.
        var keys: [String]
        /// The rows of the table.
        var rows: Int?

        init(
            _ description: String,
            _ keys: [String],
            rows: Int? = nil,
            _ act: @escaping @Sendable (MiniCache<String, String>, ManualClock) async throws -> Void
        ) {
            (self.description, self.act, self.keys, self.rows) = (description, act, keys, rows)
        }
    }

    private static let options = LoadOptions(negativeMaxAge: .seconds(60))

    /// First "a" is set in the groups "user:42" and "tenant:7", and "b" in "tenant:7".
    static let cases: [Case] = [
        Case("nothing", ["a"], rows: 3) { _, _ in },
        Case("another of the group", ["c", "a"], rows: 4) { (cache, _) async throws in
            try cache.set("c", forKey: "c", groups: ["user:42"])
        },
        Case("the same name in another normal form", ["c", "a"]) { (cache, _) async throws in
            try cache.set("c", forKey: "c", groups: ["user:42", "e\u{301}", "\u{e9}"])
            #expect(try cache.keys(group: "\u{e9}") == ["c"] && cache.removeAll(group: "none") == 0)
        },
        Case("a value of no group over it", [], rows: 1) { (cache, _) async throws in
            try cache.set("a", forKey: "a")
        },
        Case("the same value at the same moment over it", [], rows: 1) { (cache, _) async throws in
            try cache.set("1", forKey: "a")
        },
        Case("by the subscript", [], rows: 1) { (cache, _) async throws in cache["a"] = "2" },
        Case("a value of another group over it", [], rows: 2) { (cache, _) async throws in
            try cache.set("a", forKey: "a", groups: ["tenant:7"])
        },
        Case("an empty set of groups", [], rows: 1) { (cache, _) async throws in
            try cache.set("a", forKey: "a", groups: [])
        },
        Case("an update", ["a"], rows: 3) { (cache, _) async throws in
            try cache.update(forKey: "a") { $0 = "updated" }
        },
        Case("an update that gives it an age", ["a"], rows: 3) { (cache, _) async throws in
            try cache.update(forKey: "a", maxAge: .hours(1)) {
                $0 = "updated, and longer than before"
            }
        },
        Case("an update that removes it", [], rows: 1) { (cache, _) async throws in
            try cache.update(forKey: "a") { $0 = nil }
        },
        Case("an update of an expired value", [], rows: 1) { (cache, clock) async throws in
            clock.advance(by: .seconds(8 * 86_400))
            try cache.update(forKey: "a") { value in
                #expect(value == nil)
                value = "new"
            }
            try cache.set("b", forKey: "b", groups: ["tenant:7"])
        },
        Case("a set if absent", ["a"], rows: 3) { (cache, _) async throws in
            #expect(try !cache.setIfAbsent("2", forKey: "a"))
        },
        Case("a removal", [], rows: 1) { (cache, _) async throws in
            try cache.removeValue(forKey: "a")
        },
        Case("a removal of a prefix", [], rows: 1) { (cache, _) async throws in
            try cache.removeAll(prefix: "a")
        },
        Case("the removal of all", []) { (cache, _) async throws in try cache.removeAll() },
        Case("the removal of all, and one more", ["d"]) { (cache, _) async throws in
            try cache.removeAll()
            try cache.set("d", forKey: "d", groups: ["user:42"])
        },
        Case("a load", ["a"], rows: 3) { (cache, _) async throws in
            #expect(
                try await cache.loading(into: ["user:42"]).value(forKey: "a", options: options) {
                    "2"
                } == "1"
            )
        },
        Case("a load of another value", ["c", "a"], rows: 4) { (cache, _) async throws in
            #expect(
                try await cache.loading(into: ["user:42"]).value(forKey: "c", options: options) {
                    "c"
                } == "c"
            )
        },
        Case("a remembered miss", ["a"], rows: 4) { (cache, _) async throws in
            #expect(
                try await cache.loading(into: ["user:42"]).value(forKey: "c", options: options) {
                    String?.none
                } == nil
            )
            #expect(try cache.keys(group: "user:42") == ["a"])
        },
        Case("a value that is unchanged", ["a"], rows: 3) { (cache, clock) async throws in
            clock.advance(by: .seconds(8 * 86_400))
            _ = try await cache.value(forKey: "a") { (_: String?) in .unchanged() }
            try cache.set("b", forKey: "b", groups: ["tenant:7"])
        },
        Case("a value that is unchanged, in one group from now on", ["a"], rows: 2) {
            (cache, clock) async throws in
            clock.advance(by: .seconds(8 * 86_400))
            _ = try await cache.loading(into: ["user:42"]).value(forKey: "a", options: options) {
                (_: String?) in .unchanged()
            }
            try cache.set("b", forKey: "b", groups: ["tenant:7"])
        },
        Case("time", []) { _, clock in clock.advance(by: .seconds(8 * 86_400)) },
        Case("a use", ["a", "c"]) { (cache, _) async throws in
            try cache.set("c", forKey: "c", groups: ["user:42"])
            #expect(cache["a"] == "1")
        },
        Case("memory that is trimmed", ["a"], rows: 3) { (cache, _) async throws in
            cache.trimMemory(to: 0)
        },
        Case("removing the group", [], rows: 1) { (cache, _) async throws in
            #expect(try cache.removeAll(group: "user:42") == 1)
            #expect(cache["a"] == nil && cache["b"] == "1" && cache["c"] == nil)
        },
        Case("removing another group", [], rows: 0) { (cache, _) async throws in
            #expect(try cache.removeAll(group: "tenant:7") == 2)
            #expect(cache["a"] == nil && cache["b"] == nil)
        },
        Case("removing a group that is none", ["a"], rows: 3) { (cache, _) async throws in
            #expect(try cache.removeAll(group: "user:4") == 0)
            #expect(try cache.removeAll(group: "a") == 0)
            #expect(try cache.removeAll(group: "") == 0)
        },
        Case("two hundred groups", ["c", "a"], rows: 204) { (cache, _) async throws in
            try cache.set(
                "c",
                forKey: "c",
                groups: Set((0..<200).map { "\($0)" }).union(["user:42"])
            )
        },
        Case("refused names", ["a"], rows: 3) { (cache, _) async throws in
            let long = String(repeating: "g", count: 1025)
            #expect(code { try cache.set("2", forKey: "a", groups: [long]) } == .keyTooLong)
            #expect(code { _ = try cache.keys(group: long) } == .keyTooLong)
            #expect(code { try cache.removeAll(group: long) } == .keyTooLong)
            await #expect(throws: MiniCacheError.self) {
                try await cache.loading(into: [long]).value(forKey: "c") { "" }
            }
            #expect(cache["a"] == "1" && cache["c"] == nil)
        },
    ]

    /// In every run one after the other is relaxed; in `make long` each is, and is not.
    private static let rows: [(Case, Bool)] = cases.enumerated().flatMap { index, row in
        (0..<LongRun.number(2, usually: 1)).map { (row, (index + $0).isMultiple(of: 2)) }
    }

    @Test(arguments: rows)
    func aGroupHasTheValuesThatWereSetInIt(_ row: Case, isRelaxed: Bool) async throws {
        let manager = temporary.anotherManager(durability: isRelaxed ? .relaxed : .crashSafe)
        // Nothing is swept while the row runs.
        let cache = cache(manager, keepingExpired: 30)
        try cache.set("1", forKey: "a", groups: ["user:42", "tenant:7"])
        try cache.set("1", forKey: "b", groups: ["tenant:7"])
        try await row.act(cache, temporary.clock)
        #expect(try cache.keys(group: "user:42") == row.keys)
        #expect(
            try cache.keys(group: "user:42", limit: 1) == Array(row.keys.prefix(1))
                && cache.keys(group: "user:42", limit: 0) == []
        )
        try manager.close()
        if let rows = row.rows { #expect(try raw().int("SELECT count(*) FROM members") == rows) }
        // Another process sees the same.
        let other = self.cache(temporary.anotherManager())
        #expect(try Set(other.keys(group: "user:42")) == Set(row.keys))
        for key in row.keys { #expect(other[key] != nil) }
    }

    // MARK: What goes with its entries

    @Test func evictedValuesLeaveTheirGroupsAndMemory() throws {
        let cache = cache(disk: 10.kiloByte)
        let text = String(repeating: "x", count: 900)
        for number in 0..<30 {
            try cache.set(text, forKey: "\(number)", groups: ["all", "\(number % 3)"])
        }
        let left = try cache.keys(group: "all")
        #expect(left.count == 11 && left.first == "29")
        #expect(try cache.keys() == left)
        for number in 0..<30 {
            #expect(try (cache.value(forKey: "\(number)") != nil) == left.contains("\(number)"))
        }
        #expect(try cache.removeAll(group: "1") == left.count { (Int($0) ?? 0) % 3 == 1 })
        #expect(try cache.keys(group: "all").count == cache.count())
        try temporary.manager.close()
        #expect(
            try raw().int("SELECT count(*) - 2 * (SELECT count(*) FROM entries) FROM members") == 0
        )
    }

    /// Memory has no groups: what only memory would have is refused, and what leaves the disk
    /// leaves memory, too.
    @Test func aValueThatOnlyMemoryCouldKeepIsInNoGroup() async throws {
        let cache: MiniCache<String, String> = temporary.manager.cache(
            cacheName: "Small",
            cacheVersion: .custom("1"),
            maxAge: .days(1),
            memoryLimit: 1.megaByte,
            diskLimit: 1.kiloByte
        )
        let large = String(repeating: "x", count: 2000)
        try cache.set(large, forKey: "free")
        #expect(try cache.value(forKey: "free") == large)
        try cache.set("small", forKey: "a", groups: ["g"])
        #expect(code { try cache.set(large, forKey: "a", groups: ["g"]) } == .tooLarge)
        #expect(code { try cache.update(forKey: "a") { $0 = large } } == .tooLarge)
        #expect(try cache.value(forKey: "a") == "small" && cache.keys(group: "g") == ["a"])
        // One that has no group may be in memory alone, also in a cache that has groups.
        try cache.update(forKey: "free") { $0 = large + "y" }
        #expect(try cache.value(forKey: "free") == large + "y")
        // Who loads it has it, and nobody else.
        #expect(try await cache.loading(into: ["g"]).value(forKey: "b") { large } == large)
        #expect(try cache.value(forKey: "b") == nil)
        #expect(try cache.removeAll(group: "g") == 1 && cache.value(forKey: "a") == nil)
    }

    /// To make room on a full disk, the value that is replaced may be evicted first.
    @Test func anUpdateOnAFullDiskKeepsTheGroups() throws {
        let cache = cache(disk: 5.kiloByte)
        let text = String(repeating: "x", count: 900)
        for number in 0..<5 { try cache.set(text, forKey: "\(number)", groups: ["g"]) }
        let writing = try cache.openStore().disk.file.writing
        writing.countRetry(1, marksRemovals: 0)
        defer { writing.countRetry(-1, marksRemovals: 0) }
        try cache.update(forKey: "0") { $0 = text + "more" }
        #expect(try cache.value(forKey: "0") == text + "more")
        #expect(try cache.keys(group: "g").contains("0"))
        try cache.removeAll(group: "g")
        #expect(try cache.value(forKey: "0") == nil)
    }

    @Test func sweptEntriesLeaveTheirGroups() throws {
        let cache = cache()
        try cache.set("1", forKey: "a", maxAge: .seconds(10), groups: ["g"])
        try cache.set("1", forKey: "b", groups: ["g"])
        temporary.clock.advance(by: .seconds(20))
        try cache.openStore().disk.file.sweepEverything()
        try temporary.manager.close()
        #expect(try raw().int("SELECT count(*) FROM members") == 1)
    }

    @Test func anEmptiedCacheLeavesNoRows() throws {
        let cache = cache()
        for number in 0..<600 {
            try cache.set("1", forKey: "\(number)", groups: ["g", "\(number)"])
        }
        try cache.removeAll()
        #expect(try cache.keys(group: "g") == [])
        try cache.openStore().disk.file.waitForMaintenance()
        #expect(try raw().int("SELECT count(*) FROM members") == 0)
    }

    // MARK: Other caches and programs

    @Test func cachesOfOneFileHaveTheirOwnGroups() throws {
        let (first, second) = (cache(), cache(name: "Others"))
        try first.set("1", forKey: "a", groups: ["g"])
        try second.set("1", forKey: "a", groups: ["g"])
        #expect(try first.removeAll(group: "g") == 1)
        #expect(try second.keys(group: "g") == ["a"])
        #expect(try second.removeAll(group: "g") == 1)
    }

    /// A file without groups is as it was, for whoever writes it: decision 73.
    @Test func onlyAFileWithGroupsHasTheirTable() throws {
        func shape() throws -> Int {
            try raw().int("SELECT count(*) + (SELECT sum(bits) FROM features) FROM sqlite_schema")
        }
        let cache = cache()
        try cache.set("1", forKey: "a")
        #expect(try cache.keys(group: "g") == [] && cache.removeAll(group: "g") == 0)
        let before = try shape()
        try cache.set("1", forKey: "a", groups: ["g"])
        #expect(try shape() == before + 4)
        try temporary.manager.close()
        // It opens, in this and in another process, with what it has.
        #expect(try self.cache(temporary.anotherManager()).keys(group: "g") == ["a"])
    }

    /// A program that had the file open before it had groups may know nothing of them, and writes
    /// on: a row is that of the very value.
    @Test func whatAnotherProgramChangesIsInNoGroup() throws {
        try cache().set("1", forKey: "a", groups: ["g"])
        try cache().set("1", forKey: "b", groups: ["g"])
        try temporary.manager.close()
        try raw().execute(
            "UPDATE entries SET checksum = checksum + 1 WHERE key = (SELECT min(key) FROM entries)"
        )
        let cache = cache(temporary.anotherManager())
        #expect(try cache.keys(group: "g") == ["b"])
        #expect(try cache.removeAll(group: "g") == 1)
    }

    /// Such a row stays what it is, also when the value is changed that has the entry's number now.
    @Test func anUpdateBringsNoRowOfAnotherValueBack() throws {
        try cache().set("1", forKey: "a", groups: ["g"])
        try temporary.manager.close()
        let revision = try raw().int("SELECT revision FROM members")
        let second = temporary.anotherManager()
        try cache(second).set("22", forKey: "a")
        try second.close()
        try raw().execute("INSERT INTO members SELECT id, 'g', \(revision) FROM entries")
        let third = cache(temporary.anotherManager())
        try third.update(forKey: "a") { $0 = "3" }
        #expect(
            try third.keys(group: "g") == [] && third.removeAll(group: "g") == 0
                && third.value(forKey: "a") == "3"
        )
    }

    @Test(arguments: ["", "; UPDATE archives SET hash_seed_check = 0"])
    func aRowThatIsThereTwiceCountsOnce(_ damage: String) throws {
        for number in 0..<4 {
            try cache().set("1", forKey: "\(number)", groups: number < 3 ? ["g"] : ["h"])
        }
        try temporary.manager.close()
        try raw().execute("INSERT INTO members SELECT * FROM members" + damage)
        let second = cache(temporary.anotherManager())
        #expect(try second.keys(group: "g").count == 3)
        #expect(try second.removeAll(group: "g") == 3)
        #expect(try second.count() == 1 && second.statistics().disk.entries == 1)
    }

    /// By the clock of the other, which is ahead, a new value is the oldest of all.
    @Test func aValueThatIsEvictedAtOnceIsInNoGroupAndNotInMemory() throws {
        let text = String(repeating: "x", count: 900)
        let first = cache(temporary.anotherManager(), disk: 5.kiloByte)
        try first.set(text, forKey: "0", groups: ["g"])
        DatabaseFile.openSeparately(at: temporary.file)
        let second = cache(temporary.anotherManager(), disk: 5.kiloByte)
        #expect(second["0"] == text)
        temporary.clock.advance(by: .seconds(3600))
        for number in 1..<5 { try first.set(text, forKey: "\(number)", groups: ["g"]) }
        for _ in 0..<2 {
            for number in 0..<5 { _ = first["\(number)"] }
            try first.openStore().flush()
        }
        temporary.clock.advance(by: .seconds(-3600))
        for number in 10..<20 { try second.set(text, forKey: "\(number)", groups: ["g"]) }
        let keys = try Set(second.keys(group: "g"))
        #expect(keys == Set((0..<20).map(String.init).filter { second[$0] != nil }))
        #expect(
            try raw().int(
                "SELECT count(*) FROM members WHERE entry NOT IN (SELECT id FROM entries)"
            ) == 0
        )
        try second.removeAll(group: "g")
        #expect((0..<20).allSatisfy { second["\($0)"] == nil })
    }

    /// Another process creates the table, while this one has the file open and its archive read.
    @Test func groupsOfAnotherProcessAreKnown() throws {
        let cache = cache()
        try cache.set("1", forKey: "a")
        DatabaseFile.openSeparately(at: temporary.file)
        let other = self.cache(temporary.anotherManager())
        try other.set("2", forKey: "a", groups: ["g"])
        try other.set("2", forKey: "b", groups: ["g"])
        #expect(cache["a"] == "2")
        #expect(try cache.keys(group: "g").count == 2)
        try cache.set("3", forKey: "a")
        #expect(try other.keys(group: "g") == ["b"])
        #expect(try cache.removeAll(group: "g") == 1)
        #expect(other["b"] == nil && other["a"] == "3")
    }

    /// Decision 73: a program that does not know the feature accepts plain tables and indexes
    /// alone.
    @Test func theTableOfGroupsIsPlain() {
        let definitions = [MemberTable.create] + MemberTable.indexes.map(\.value)
        #expect(definitions.allSatisfy { sql in sql.count { $0 == "(" } == 1 })
        #expect(MemberTable.create.hasPrefix("CREATE TABLE members("))
        for (name, sql) in MemberTable.indexes {
            #expect(sql.hasPrefix("CREATE INDEX \(name) ON members("))
        }
    }
}
