import Foundation
import MiniCache
import Samples
import Shallows
import Synchronization
import Vellum

#if HAS_LRUCACHE
    import LRUCache
#endif

/// Hits of memory by one, two and eight threads, and beside them as many threads with a locked
/// dictionary each, which share nothing.
enum HitTimes {
    /// Six fields without an allocation. Copying a string of more than 15 bytes counts a reference,
    /// in a line of memory that threads then share, whatever they read it from.
    struct Reading: ArchiveCodable, Sendable {
        static var archiveName: String { "readings" }
        var primaryKey: String { id }
        var id: String
        var station: Int
        var value: Double
        var unit: String
        var taken: Date
        var isChecked: Bool

        init(_ number: Int) {
            (id, station, value, unit) = (
                Self.key(number), number % 100, Double(number) / 7, "degrees"
            )
            (taken, isChecked) = (Date(timeIntervalSince1970: Double(number)), number % 3 == 0)
        }

        static func key(_ number: Int) -> String { "reading-\(number)" }
    }

    private static let (count, hits, rounds) = (20_000, 500_000, 7)

    /// What a thread does with a key.
    private typealias Hit = @Sendable (String) throws -> Void

    /// What is measured: for each thread, by its number, how it hits.
    private struct Side {
        var name: String
        var hit: @Sendable (Int) -> Hit
    }

    static func measure(_ workspace: Workspace) throws -> [Figure] {
        try withSides(workspace, measure)
    }

    /// Prints how many million hits a second one side makes, round by round, and the time of the
    /// processor that each takes, for a profile.
    ///
    /// - Parameter arguments: The name of the side, and how many threads there are.
    static func profile(_ workspace: Workspace, _ arguments: [String]) throws {
        let threads = arguments.dropFirst().first.flatMap { Int($0) } ?? 1
        try withSides(workspace) { sides in
            for side in sides where side.name == arguments.first {
                for _ in 0..<rounds {
                    let before = clock()
                    let rate = try rate(threads, keys, side)
                    print(
                        rate / 1e6,
                        Double(clock() - before) * 1e9 / Double(CLOCKS_PER_SEC)
                            / Double(threads * hits),
                        "ns"
                    )
                }
            }
        }
    }

    /// Lets `count_hit.py` look at some hits of each side, of one thread and then of another: sends
    /// a signal before and after them.
    static func trace(_ workspace: Workspace) throws {
        let traced = 64
        try withSides(workspace) { sides in
            let lock = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "pthread_mutex_lock")
            say("\(UInt(bitPattern: lock)) \(traced)")
            for side in sides {
                say(side.name)
                let turns = (0..<3).map { _ in DispatchSemaphore(value: 0) }
                let failure = Mutex<(any Error)?>(nil)
                for number in 0..<2 {
                    let (hit, keys) = (side.hit(number), keys[number])
                    Thread {
                        turns[number].wait()
                        do {
                            for key in keys.prefix(2000) { try hit(key) }
                            raise(SIGUSR1)
                            for key in keys[2000..<2000 + traced] { try hit(key) }
                            raise(SIGUSR1)
                        } catch {
                            failure.withLock { $0 = error }
                        }
                        turns[number + 1].signal()
                        // Lives on, so that the other has a stack of its own.
                        if number == 0 { turns[2].wait() }
                        turns[2].signal()
                    }.start()
                }
                turns[0].signal()
                turns[2].wait()
                if let error = failure.withLock({ $0 }) { throw error }
            }
        }
    }

    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    private static func withSides<Result>(
        _ workspace: Workspace,
        _ body: ([Side]) throws -> Result
    ) throws -> Result {
        let folder = try workspace.folder("hits")
        defer { try? FileManager.default.removeItem(at: folder) }
        let factory = ArchivesFactory(directory: folder.appendingPathComponent("archives"))
        let manager = MiniCacheManager(
            name: "hits",
            directory: folder.appendingPathComponent("caches")
        )
        let result = try body(try sides(factory, manager))
        try factory.close()
        try manager.close()
        return result
    }

    /// For each thread, keys in no order.
    private static let keys = (0..<8).map { thread in
        (0..<65_536).map {
            Reading.key(($0 &* 0x9E_3779_B1 &+ thread &* 7919) & 0xFF_FFFF_FFFF % count)
        }
    }

    private static func measure(_ sides: [Side]) throws -> [Figure] {
        var figures: [Figure] = []
        var alone: [String: Double] = [:]
        for threads in [1, 2, 8] {
            var rates: [String: [Double]] = [:]
            // In turns, so that all have the same machine. The first round is not counted.
            for round in 0...rounds {
                for side in sides {
                    let rate = try rate(threads, keys, side)
                    if round > 0 { rates[side.name, default: []].append(rate) }
                }
            }
            let dictionary = Distribution(rates[sides[0].name] ?? []).median
            for side in sides {
                let rate = Distribution(rates[side.name] ?? []).median
                if threads == 1 { alone[side.name] = rate }
                let title =
                    "Hits of \(side.name), \(threads) \(threads == 1 ? "thread" : "threads")"
                figures.append(Figure(title: title, value: rate / 1e6, unit: "million a second"))
                if side.name != sides[0].name {
                    figures.append(
                        Figure(title: "… of the dictionaries", value: rate / dictionary, unit: "×")
                    )
                }
                if threads > 1, let alone = alone[side.name] {
                    figures.append(Figure(title: "… of one thread", value: rate / alone, unit: "×"))
                }
            }
        }
        return figures
    }

    private static func sides(
        _ factory: ArchivesFactory,
        _ manager: MiniCacheManager
    ) throws -> [Side] {
        let store = try factory.store(
            for: Reading.self,
            memoryLimit: 1.gigaByte,
            diskLimit: 1.gigaByte
        )
        let cache: MiniCache<String, Reading> = manager.cache(
            cacheName: "hits",
            cacheVersion: .custom("1"),
            maxAge: .days(7),
            memoryLimit: 1.gigaByte
        )
        let memory = MemoryStorage<String, Reading>()
        let recent = try LRUStorage<String, Reading>(maxCount: count)
        let dictionaries = (0..<8).map { _ in Dictionary(count) }
        let objects = Objects()
        #if HAS_LRUCACHE
            let peer = LRUCache<String, Reading>()
        #endif
        for number in 0..<count {
            let reading = Reading(number)
            try store.record(reading)
            try cache.set(reading, forKey: reading.id)
            memory.set(reading, forKey: reading.id) { _ in }
            recent.set(reading, forKey: reading.id) { _ in }
            objects.cache.setObject(Box(reading), forKey: NSString(string: reading.id))
            #if HAS_LRUCACHE
                peer.setValue(reading, forKey: reading.id)
            #endif
        }
        try store.flush()
        var sides = [
            Side(name: "a locked dictionary each") { thread in
                let dictionary = dictionaries[thread]
                return { key in consume(dictionary.contents.withLock { $0[key] }) }
            },
            Side(name: "an archive") { _ in
                { key in consume(try store.access(archiveWithKey: key)) }
            },
            Side(name: "MiniCache, by subscript") { _ in { key in consume(cache[key]) } },
            Side(name: "MemoryStorage") { _ in
                { key in memory.retrieve(forKey: key) { consume($0) } }
            },
            Side(name: "LRUStorage") { _ in
                { key in
                    recent.retrieve(forKey: key) { consume($0) }
                }
            },
            Side(name: "one locked dictionary for all") { _ in
                let dictionary = dictionaries[0]
                return { key in consume(dictionary.contents.withLock { $0[key] }) }
            },
            Side(name: "NSCache") { _ in
                { key in consume(objects.cache.object(forKey: NSString(string: key))?.reading) }
            },
        ]
        #if HAS_LRUCACHE
            sides.append(
                Side(name: "LRUCache") { _ in { key in consume(peer.value(forKey: key)) } }
            )
        #endif
        return sides
    }

    /// `@unchecked Sendable` because `NSCache` has a lock of its own.
    private final class Objects: @unchecked Sendable {
        let cache = NSCache<NSString, Box>()
    }

    private final class Box {
        let reading: Reading

        init(_ reading: Reading) { self.reading = reading }
    }

    private final class Dictionary: Sendable {
        let contents: LockedBox<[String: Reading]>

        init(_ count: Int) {
            contents = LockedBox(
                Swift.Dictionary(
                    uniqueKeysWithValues: (0..<count).map { (Reading.key($0), Reading($0)) }
                )
            )
        }
    }

    /// Keeps the compiler from removing the hit.
    @_optimize(none)
    private static func consume<Value>(_ value: Value) {}

    /// How many hits all threads together make in a second.
    private static func rate(_ threads: Int, _ keys: [[String]], _ side: Side) throws -> Double {
        let (start, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let failure = Mutex<(any Error)?>(nil)
        for number in 0..<threads {
            let (hit, keys) = (side.hit(number), keys[number])
            Thread {
                start.wait()
                do {
                    for turn in 0..<hits { try hit(keys[turn & 65_535]) }
                } catch {
                    failure.withLock { $0 = error }
                }
                done.signal()
            }.start()
        }
        let began = ContinuousClock.now
        for _ in 0..<threads { start.signal() }
        for _ in 0..<threads { done.wait() }
        if let error = failure.withLock({ $0 }) { throw error }
        return Double(threads * hits) / ((ContinuousClock.now - began) / .seconds(1))
    }
}
