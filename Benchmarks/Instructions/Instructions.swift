import Foundation
import MiniCache
import Shallows
import Vellum

/// What ``measuredWork()`` runs: no argument of it, so that it is specialised for no caller.
nonisolated(unsafe) private var work: () throws -> Void = {}

/// Callgrind collects while this function runs, which it finds by its name, and writes what it
/// collected at its end.
@_silgen_name("vellum_measured")
@inline(never)
private func measuredWork() throws { try work() }

/// What works of README's examples take on the calling thread, one after another, for
/// `Scripts/instructions.py`.
@main
struct Instructions {
    private static let people = 3000
    private static let towns = 1000

    static func main() throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "instructions-\(UUID().uuidString)"
        )
        defer { remove(folder) }
        try measureArchive(folder)
        try measureBulk()
        try measureQueries(folder)
        try measureCache(folder)
        try measureLoading(folder)
        try measureLayers()
        // At the end: what it leaves in the heap makes allocations of other works longer.
        try measureOpening(folder)
    }

    private static func measured(
        _ name: StaticString,
        calls: Int,
        _ body: @escaping () throws -> Void
    ) throws {
        print("\(name) \(calls)")
        work = body
        try measuredWork()
    }

    private static func measureArchive(_ folder: URL) throws {
        let factory = ArchivesFactory(directory: folder)
        let store = try factory.store(
            for: Person.self,
            memoryLimit: .unlimited,
            diskLimit: .unlimited
        )
        let keys = shuffled(people).map { Person($0).id }
        try store.record(contentsOf: (0..<people).map { Person($0) })
        // The sample of uses has what it may take of the first hits (decision 84).
        for _ in 0..<40 { for key in keys { _ = try store.access(archiveWithKey: key) } }
        try measured("hit", calls: keys.count) {
            for key in keys { _ = try store.access(archiveWithKey: key) }
        }

        let new = (0..<1000).map { Person(people + $0) }
        try store.record(new[0])
        try measured("record new", calls: new.count - 1) {
            for person in new.dropFirst() { try store.record(person) }
        }
        let longer = shuffled(people).prefix(1000).map { Person($0, longerBy: 3) }
        try measured("record over", calls: longer.count) {
            for person in longer { try store.record(person) }
        }
        let some = longer.map(\.id)
        for key in some.prefix(10) { try store.update(archiveWithKey: key) { $0?.age += 1 } }
        try measured("update", calls: some.count) {
            for key in some { try store.update(archiveWithKey: key) { $0?.age += 1 } }
        }

        try factory.close()

        // Opened again, so that memory has nothing.
        let other = ArchivesFactory(directory: folder)
        let onDisk = try other.store(for: Person.self, memoryLimit: 1.byte, diskLimit: .unlimited)
        for key in keys.prefix(100) { _ = try onDisk.access(archiveWithKey: key) }
        let few = keys.suffix(1000)
        try measured("disk hit", calls: few.count) {
            for key in few { _ = try onDisk.access(archiveWithKey: key) }
        }
        _ = try onDisk.access(allKeys: keys.prefix(50))
        try measured("fifty keys, each", calls: few.count) {
            for start in stride(from: few.startIndex, to: few.endIndex, by: 50) {
                _ = try onDisk.access(allKeys: few[start..<start + 50])
            }
        }
        try other.close()
        try measureBatch(folder, few.prefix(500))
    }

    /// Relaxed writes, and disk hits between them, while the transaction that they share is open.
    /// The difference is what such a hit takes.
    private static func measureBatch(_ folder: URL, _ keys: ArraySlice<String>) throws {
        let factory = ArchivesFactory(directory: folder, durability: .relaxed)
        let store = try factory.store(for: Person.self, memoryLimit: 1.byte, diskLimit: .unlimited)
        let more = (0..<keys.count).map { Person(2 * people + $0) }
        for (key, person) in zip(keys, more) {
            _ = (try store.record(person), try store.access(archiveWithKey: key))
        }
        try measured("relaxed", calls: more.count) {
            for person in more { try store.record(person) }
        }
        try measured("relaxed, disk hit", calls: more.count) {
            for (key, person) in zip(keys, more) {
                _ = (try store.record(person), try store.access(archiveWithKey: key))
            }
        }
        try measured("transaction", calls: keys.count) {
            for key in keys {
                try factory.transaction { transaction in
                    guard var person = try transaction.access(archiveWithKey: key, in: store) else {
                        return
                    }
                    person.age += 1
                    try transaction.record(person, in: store)
                }
            }
        }
        try factory.close()
    }

    /// In the file of all programs without a factory of their own.
    private static func measureBulk() throws {
        let manager = try ArchiveManager<Person>(maxMemorySize: 1.gigaByte, maxDiskSize: 1.gigaByte)
        manager.insert(all: (0..<people).map { Person($0) })
        let new = (0..<1000).map { Person(people + $0) }
        try measured("bulk new", calls: new.count) { manager.insert(all: new) }
        let longer = shuffled(people).prefix(1000).map { Person($0, longerBy: 3) }
        try measured("bulk over", calls: longer.count) { manager.insert(all: longer) }
    }

    private static func measureQueries(_ folder: URL) throws {
        let factory = ArchivesFactory(directory: folder)
        let store = try factory.store(
            for: Town.self,
            memoryLimit: .unlimited,
            diskLimit: .unlimited
        )
        try store.record(
            contentsOf: (0..<towns).map { Town(id: "town-\($0)", people: $0, score: Double($0)) }
        )
        let numbers = Array(shuffled(towns).prefix(300))
        for number in numbers.prefix(20) { _ = try one(number, store) + [try count(number, store)] }
        try measured("query for one", calls: numbers.count) {
            for number in numbers { _ = try one(number, store) }
        }
        try measured("count", calls: numbers.count) {
            for number in numbers { _ = try count(number, store) }
        }
        for number in numbers.prefix(5) { _ = (try hundred(number, store), try top(store)) }
        try measured("hundred rows, each", calls: 2000) {
            for number in numbers.prefix(20) { _ = try hundred(number % 900, store) }
        }
        try measured("top 10", calls: 100) { for _ in 0..<100 { _ = try top(store) } }
        try measured("filter, each row", calls: 5 * towns) {
            for _ in 0..<5 {
                _ = try store.fetch(
                    where: #Predicate { $0.score >= 900 },
                    sortedBy: [SortDescriptor(\.score, order: .reverse)],
                    limit: 10
                )
            }
        }
        try factory.close()
    }

    private static func one(_ number: Int, _ store: ArchiveStore<Town>) throws -> [Int] {
        try store.fetch(where: #Predicate { $0.people == number }).map(\.people)
    }

    private static func hundred(_ number: Int, _ store: ArchiveStore<Town>) throws -> Int {
        let (low, high) = (number, number + 100)
        return try store.fetch(where: #Predicate { $0.people >= low && $0.people < high }).count
    }

    private static func top(_ store: ArchiveStore<Town>) throws -> Int {
        try store.fetch(sortedBy: [SortDescriptor(\.people, order: .reverse)], limit: 10).count
    }

    /// Of one object in ten.
    private static func count(_ number: Int, _ store: ArchiveStore<Town>) throws -> Int {
        let (low, high) = (number, number + towns / 10)
        return try store.count(where: #Predicate { $0.people >= low && $0.people < high })
    }

    /// A factory, a store and one object, after a clean close.
    private static func measureOpening(_ folder: URL) throws {
        let folders = (0..<12).map { folder.appending(path: "opened-\($0)") }
        func open(_ folder: URL) throws -> (ArchivesFactory, ArchiveStore<Person>) {
            let factory = ArchivesFactory(directory: folder)
            return (
                factory,
                try factory.store(for: Person.self, memoryLimit: 1.megaByte, diskLimit: .unlimited)
            )
        }
        for folder in folders {
            let (factory, store) = try open(folder)
            try store.record(contentsOf: (0..<100).map { Person($0) })
            try factory.close()
        }
        var opened: [ArchivesFactory] = []
        func read(_ folder: URL) throws {
            let (factory, store) = try open(folder)
            _ = try store.access(archiveWithKey: "person-1")
            opened.append(factory)
        }
        try folders.prefix(2).forEach(read)
        try measured("opening", calls: 10) { try folders.dropFirst(2).forEach(read) }
        for factory in opened { try factory.close() }
    }

    /// A set to two memories, one before the other.
    private static func measureLayers() throws {
        let two = MemoryStorage<String, Int>().combined(with: MemoryStorage<String, Int>())
        let (sync, keys) = (two.makeSyncStorage(), shuffled(1000).map { "key-\($0)" })
        for key in keys { try sync.set(0, forKey: key) }
        try measured("layers: set", calls: keys.count) {
            for key in keys { try sync.set(1, forKey: key) }
        }
    }

    private static func measureCache(_ folder: URL) throws {
        let manager = MiniCacheManager(name: "cache", directory: folder)
        let cache: MiniCache<String, Int> = manager.cache(
            cacheName: "numbers",
            cacheVersion: .custom("1"),
            maxAge: .hours(1),
            memoryLimit: 1.byte,
            diskLimit: .unlimited
        )
        let keys = shuffled(1000).map { "key-\($0)" }
        for key in keys { try cache.set(0, forKey: key) }
        try measured("cache set", calls: keys.count) {
            for key in keys { try cache.set(key.count, forKey: key) }
        }
        try measured("cache get", calls: keys.count) {
            for key in keys { _ = try cache.value(forKey: key) }
        }
        for key in keys { try cache.set(0, forKey: key, groups: ["all"]) }
        try measured("cache set in a group", calls: keys.count) {
            for key in keys { try cache.set(key.count, forKey: key, groups: ["all"]) }
        }
        try manager.close()
    }

    /// Hits of methods that load, without and with a part of the age after which they load ahead.
    private static func measureLoading(_ folder: URL) throws {
        let manager = MiniCacheManager(name: "loading", directory: folder)
        let cache: MiniCache<String, Int> = manager.cache(
            cacheName: "numbers",
            cacheVersion: .custom("1"),
            maxAge: .hours(1)
        )
        let keys = shuffled(1000).map { "key-\($0)" }
        for key in keys { try cache.set(key.count, forKey: key) }
        try measuredLoads("load: hit", keys) { try await cache.value(forKey: $0) { 1 } }
        let ahead = LoadOptions(refreshAhead: 0.8)
        try measuredLoads("load: hit, ahead", keys) {
            try await cache.value(forKey: $0, options: ahead) { 1 }
        }
        try manager.close()
    }

    /// Hits do not suspend, so that all run on this thread.
    private static func measuredLoads(
        _ name: StaticString,
        _ keys: [String],
        _ load: @escaping @Sendable (String) async throws -> Int
    ) throws {
        Task.immediate { for _ in 0..<120 { for key in keys { _ = try await load(key) } } }
        try measured(name, calls: keys.count) {
            Task.immediate { for key in keys { _ = try await load(key) } }
        }
    }

    /// The numbers below `count`, each once, in the same order in every run.
    private static func shuffled(_ count: Int) -> [Int] { (0..<count).map { ($0 * 7919) % count } }

    private static func remove(_ folder: URL) {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            print("\(folder.path) was not removed: \(error)")
        }
    }
}

/// Six fields.
struct Person: ArchiveCodable, Sendable {
    static var archiveName: String { "people" }
    var primaryKey: String { id }
    var id: String
    var name: String
    var city: String
    var age: Int
    var score: Double
    var isActive: Bool

    init(_ number: Int, longerBy extra: Int = 0) {
        (id, name, age, score) = (
            "person-\(number)", "Name \(number) of many", number % 90, Double(number)
        )
        (city, isActive) = (
            "City \(number % 100)" + String(repeating: "x", count: extra), number % 2 == 0
        )
    }
}

struct Town: ArchiveCodable, IndexedArchivable, Sendable {
    static var archiveName: String { "towns" }
    static var archiveIndexes: [ArchiveIndex<Town>] { [.index(\.people)] }
    var primaryKey: String { id }
    var id: String
    var people: Int
    var score: Double
}
