import Foundation
import MiniCache
import Vellum

/// A program that shares a file with another version of itself (`make beside`): both write, read,
/// update and remove at the same time, and observe what the other does. Prints what it finds in the
/// end, which must be the same for both.
///
///     Beside FOLDER SIDE OTHER_SIDE
@main
struct Beside {
    struct Item: ArchiveCodable, IndexedArchivable, Equatable, Sendable {
        static var archiveName: String { "Items" }
        static var archiveIndexes: [ArchiveIndex<Item>] { [.index(\.side, \.number)] }

        var side: String
        var number: Int
        var primaryKey: String { "\(side)-\(number)" }
    }

    static let rounds = 500
    /// The number of the object by which one says that it has come to the end of its work.
    static let end = 1_000_000

    let side: String
    let other: String
    let factory: ArchivesFactory
    let items: ArchiveStore<Item>
    let cache: MiniCache<String, Int>

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else { fail("Beside FOLDER SIDE OTHER_SIDE") }
        let program = try Beside(URL(fileURLWithPath: arguments[1]), arguments[2], arguments[3])
        try program.items.record(Item(side: "begun-\(program.side)", number: 0))
        try await program.wait(for: "begun-\(program.other)-0", toBeThere: true)
        try program.work()
        try await program.wait(for: "\(program.other)-\(end)", toBeThere: true)
        try program.check()
        // The other does not count any more, either.
        try program.items.record(Item(side: "counted-\(program.side)", number: 0))
        try await program.wait(for: "counted-\(program.other)-0", toBeThere: true)
        try await program.removeWhatTheOtherWrote()
        try program.factory.close()
    }

    init(_ folder: URL, _ side: String, _ other: String) throws {
        (self.side, self.other) = (side, other)
        factory = ArchivesFactory(directory: folder)
        items = try factory.store(diskLimit: .unlimited)
        cache = MiniCacheManager(name: "Beside", directory: folder)
            .cache(cacheName: "Numbers", cacheVersion: .custom("1"), maxAge: .days(1))
    }

    /// Waits until the observer of a key finds an object, or none.
    private func wait(for key: String, toBeThere isThere: Bool) async throws {
        for try await item in items.observe(archiveWithKey: key) where (item != nil) == isThere {
            return
        }
    }

    private func work() throws {
        for number in 0..<Self.rounds {
            try items.record(Item(side: side, number: number))
            try cache.set(number, forKey: "\(side)-\(number)")
            // What the other has written meanwhile, also if memory had it before.
            if let found = try items.access(archiveWithKey: "\(other)-\(number)") {
                guard found == Item(side: other, number: number) else { Self.fail("\(found)") }
            }
            if number % 3 == 2 {
                try items.delete(archiveWithKey: "\(side)-\(number - 1)")
                try cache.removeValue(forKey: "\(side)-\(number - 1)")
            }
            try cache.update(forKey: "updates") { $0 = ($0 ?? 0) + 1 }
            try factory.transaction { transaction in
                let last = try transaction.access(archiveWithKey: "\(side)-\(number)", in: items)
                guard last?.number == number else {
                    Self.fail("A transaction found \(String(describing: last)).")
                }
                try transaction.record(Item(side: "last", number: number % 10), in: items)
            }
        }
        try items.record(Item(side: side, number: Self.end))
    }

    private func check() throws {
        let isLeft = { (number: Int) in number % 3 != 1 || number == Self.rounds - 1 }
        for owner in [side, other].sorted() {
            for number in 0..<Self.rounds {
                let key = "\(owner)-\(number)"
                guard try items.contains(archiveWithKey: key) == isLeft(number) else {
                    Self.fail(key)
                }
                guard try cache.value(forKey: key) == (isLeft(number) ? number : nil) else {
                    Self.fail("\(key) of the cache")
                }
            }
            let found = try items.fetch(
                where: #Predicate { $0.side == owner },
                sortedBy: [SortDescriptor(\Item.number)]
            )
            let keys = try items.keys(prefix: "\(owner)-")
            print(
                """
                \(owner): \(keys.count) keys, \(found.count) by the index, \
                \(found.map(\.number).reduce(0, +))
                """
            )
        }
        print(
            """
            \(try items.count(where: #Predicate { $0.side == "last" })) last, \
            \(try cache.value(forKey: "updates") ?? 0) updates
            """
        )
    }

    private func removeWhatTheOtherWrote() async throws {
        // Before the archive, so that the other's observer of the archive says that both are done.
        try cache.removeAll(prefix: "\(other)-")
        try items.deleteAll(prefix: "\(other)-")
        // A removal of many is one of small steps.
        for number in [0, Self.end] { try await wait(for: "\(side)-\(number)", toBeThere: false) }
        let key = "\(side)-0"
        guard try items.access(archiveWithKey: key) == nil, try cache.value(forKey: key) == nil
        else { Self.fail("\(key) is there.") }
        // Both have ended.
        try items.record(Item(side: "removed-\(side)", number: 0))
        try await wait(for: "removed-\(other)-0", toBeThere: true)
        print("\(try items.count()) objects and \(try cache.count()) value are left")
    }

    private static func fail(_ what: String) -> Never {
        print("Not as expected: \(what)")
        exit(1)
    }
}
