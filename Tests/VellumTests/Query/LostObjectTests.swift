import Foundation
import TestThreads
import Testing
import Vellum
import VellumTesting

/// GS2: what a program can no longer read is left out of every answer, with an index and without.
///
/// The reference is an archive that never had it.
@Suite(.ownThreads)
struct LostObjectTests {
    enum Before: String, Codable, Sendable { case new, used, vintage }
    enum After: String, Codable, Sendable { case new, used }

    struct Indexed: Indexing { static let hasIndexes = true }
    struct Plain: Indexing { static let hasIndexes = false }

    protocol Indexing: Sendable { static var hasIndexes: Bool { get } }

    struct Bike<Kind: Codable & Sendable, Index: Indexing>: ArchiveCodable, IndexedArchivable,
        Sendable
    {
        static var archiveName: String { "bikes" }
        static var archiveIndexes: [ArchiveIndex<Bike>] {
            Index.hasIndexes ? [.index(\.price), .index(\.shop, \.price)] : []
        }
        var primaryKey: String
        var kind: Kind
        var shop: Int
        var price: Int
    }

    /// How objects are lost.
    enum Loss: CaseIterable, Sendable {
        /// A release has removed a case of an enumeration.
        case removedCase, damage, both
    }

    /// Of forty bikes those with these numbers are lost. The newest eight, which are read when an
    /// archive is opened, are not among them, unless `newest` is.
    private static let lost = [1, 2, 7, 8, 9, 20, 21, 30]
    private static let newest = 39

    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("VellumTests-\(UUID().uuidString)", isDirectory: true)

    /// Makes a file that has lost objects, and returns which are left.
    private func make<Index: Indexing>(
        _ name: String,
        _ index: Index.Type,
        _ loss: Loss,
        _ lost: [Int]
    ) throws -> ArchivesFactory {
        let factory = ArchivesFactory(directory: folder.appendingPathComponent(name))
        let bikes = try factory.store(for: Bike<Before, Index>.self)
        try bikes.record(
            contentsOf: (0..<40).map { number in
                let isVintage = loss != .damage && lost.contains(number)
                return Bike(
                    primaryKey: "\(number)",
                    kind: isVintage ? .vintage : .used,
                    shop: number % 3,
                    price: number * 7 % 41
                )
            }
        )
        for (place, number) in lost.enumerated()
        where loss == .damage || loss == .both && place % 2 == 0 {
            try bikes.damage(archiveWithKey: "\(number)")
        }
        try factory.close()
        return factory
    }

    /// A question of every kind, as a text.
    private typealias Ask<Index: Indexing> =
        @Sendable (ArchiveStore<Bike<After, Index>>, UndecodableObjects) async throws -> String

    /// Those that decode what they return.
    private static func lists<Index: Indexing>(_ index: Index.Type) -> [(String, Ask<Index>)] {
        typealias Thing = Bike<After, Index>
        @Sendable func keys(_ things: [Thing]) -> String {
            things.map(\.primaryKey).joined(separator: " ")
        }
        let inShop = #Predicate<Thing> { $0.shop == 1 }
        let cheap = #Predicate<Thing> { $0.price < 30 }
        let byPrice = [SortDescriptor(\Thing.price)]
        let downwards = [SortDescriptor(\Thing.price, order: .reverse)]
        return [
            ("fetch", { keys(try $0.fetch(undecodable: $1)) }),
            ("fetch by predicate", { keys(try $0.fetch(where: cheap, undecodable: $1)) }),
            ("fetch in order", { keys(try $0.fetch(sortedBy: byPrice, undecodable: $1)) }),
            (
                "fetch with limit",
                { keys(try $0.fetch(where: cheap, sortedBy: downwards, limit: 9, undecodable: $1)) }
            ),
            (
                "first",
                { keys(try $0.first(sortedBy: byPrice, undecodable: $1).map { [$0] } ?? []) }
            ),
            (
                "first of a shop",
                { keys(try $0.first(where: inShop, undecodable: $1).map { [$0] } ?? []) }
            ),
            (
                "pages",
                { store, undecodable in
                    try (0..<14).map { page in
                        try keys(
                            store.fetch(
                                where: cheap,
                                sortedBy: byPrice,
                                limit: 3,
                                offset: page * 3,
                                undecodable: undecodable
                            )
                        )
                    }.joined(separator: "; ")
                }
            ),
            (
                "exists",
                { store, undecodable in
                    try (0..<41).map { price in
                        try store.exists(
                            where: #Predicate { $0.price == price },
                            undecodable: undecodable
                        ) ? "1" : "0"
                    }.joined()
                }
            ),
            (
                "stream",
                { store, undecodable in
                    var found: [Thing] = []
                    let stream = store.stream(
                        where: cheap,
                        sortedBy: byPrice,
                        limit: 12,
                        undecodable: undecodable
                    )
                    for try await thing in stream { found.append(thing) }
                    return keys(found)
                }
            ),
            (
                "observe",
                { store, undecodable in
                    let answers = store.observe(
                        where: cheap,
                        sortedBy: byPrice,
                        limit: 7,
                        undecodable: undecodable
                    )
                    for try await found in answers { return keys(found) }
                    return "no answer"
                }
            ),
            (
                "keys of all",
                { keys(try $0.accessAll(undecodable: $1).sorted { $0.primaryKey < $1.primaryKey }) }
            ),
        ]
    }

    /// Those that an index may answer alone, and pages that are asked for in any order.
    private static func figures<Index: Indexing>(_ index: Index.Type) -> [(String, Ask<Index>)] {
        typealias Thing = Bike<After, Index>
        let inShop = #Predicate<Thing> { $0.shop == 1 }
        let cheap = #Predicate<Thing> { $0.price < 30 }
        return [
            ("count", { "\(try $0.count(where: cheap, undecodable: $1))" }),
            ("count of a shop", { "\(try $0.count(where: inShop, undecodable: $1))" }),
            ("sum", { "\(try $0.sum(of: \.price, undecodable: $1))" }),
            ("sum of a shop", { "\(try $0.sum(of: \.price, where: inShop, undecodable: $1))" }),
            ("average", { "\(try $0.average(of: \.price, undecodable: $1) ?? -1)" }),
            ("min", { "\(try $0.min(of: \.price, where: inShop, undecodable: $1) ?? -1)" }),
            ("max", { "\(try $0.max(of: \.price, where: inShop, undecodable: $1) ?? -1)" }),
            (
                "groups",
                { "\(try $0.count(by: \.shop, undecodable: $1).sorted { $0.key < $1.key })" }
            ),
            (
                "observed count",
                { store, undecodable in
                    for try await count in store.observeCount(
                        where: cheap,
                        undecodable: undecodable
                    ) {
                        return "\(count)"
                    }
                    return "no answer"
                }
            ),
            (
                "a late page",
                { store, undecodable in
                    try store.fetch(
                        where: cheap,
                        sortedBy: [SortDescriptor(\.price, order: .reverse)],
                        limit: 5,
                        offset: 11,
                        undecodable: undecodable
                    ).map(\.primaryKey).joined(separator: " ")
                }
            ),
        ]
    }

    /// What an archive answers that has only what is left.
    private func reference(_ lost: [Int], _ asked: [(String, Ask<Plain>)]) async throws -> [String]
    {
        let bikes = try ArchivesFactory.inMemory().store(for: Bike<After, Plain>.self)
        try bikes.record(
            contentsOf: (0..<40).filter { !lost.contains($0) }.map {
                Bike(primaryKey: "\($0)", kind: .used, shop: $0 % 3, price: $0 * 7 % 41)
            }
        )
        var answers: [String] = []
        for (_, ask) in asked { answers.append(try await ask(bikes, .fail)) }
        return answers
    }

    private func check<Index: Indexing>(_ index: Index.Type, _ loss: Loss) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let all = Self.lists(index) + Self.figures(index)
        let expected = try await reference(
            Self.lost,
            Self.lists(Plain.self) + Self.figures(Plain.self)
        )

        // What decodes is right before anything was read, each in a file of its own.
        for (place, (name, ask)) in Self.lists(index).enumerated() {
            let factory = try make("first \(place)", index, loss, Self.lost)
            let bikes = try factory.store(for: Bike<After, Index>.self)
            #expect(try await ask(bikes, .skip) == expected[place], "\(name), first, \(loss)")
            try factory.close()
        }

        // Once one of them was read, everything is; at once, later, and after the next opening.
        let factory = try make("then", index, loss, Self.lost)
        for moment in ["at once", "later", "reopened"] {
            let bikes = try factory.store(for: Bike<After, Index>.self)
            if moment == "at once" { _ = try bikes.fetch(limit: 3, undecodable: .skip) }
            for (place, (name, ask)) in all.enumerated() {
                #expect(
                    try await ask(bikes, .skip) == expected[place],
                    "\(name), \(moment), \(loss), \(index)"
                )
            }
            let unlimited = all.filter { !["first of a shop", "exists"].contains($0.0) }
            for (name, ask) in unlimited where loss != .damage && moment != "at once" {
                let error = await #expect(throws: VellumError.self, "\(name), \(moment)") {
                    try await ask(bikes, .fail)
                }
                #expect(error?.code == .notDecodable)
            }
            if moment == "at once" {
                await until("the index answers again, if there is one") {
                    let cheapest = try? bikes.explain(
                        where: #Predicate { $0.price < 3 },
                        undecodable: .skip
                    )
                    return cheapest?.pushedDown.isEmpty == !Index.hasIndexes
                }
            } else if moment == "later" {
                try factory.close()
            }
        }

        // They are in every answer again once they were recorded anew.
        let bikes = try factory.store(for: Bike<After, Index>.self)
        try bikes.record(
            contentsOf: Self.lost.map {
                Bike(primaryKey: "\($0)", kind: .new, shop: $0 % 3, price: $0 * 7 % 41)
            }
        )
        let whole = try await reference([], Self.figures(Plain.self))
        for (place, (name, ask)) in Self.figures(index).enumerated() {
            #expect(try await ask(bikes, .fail) == whole[place], "\(name), recorded, \(loss)")
        }
        try factory.close()
    }

    @Test(arguments: Loss.allCases)
    func anIndexLeavesOutWhatCannotBeRead(_ loss: Loss) async throws {
        try await check(Indexed.self, loss)
    }

    @Test(arguments: Loss.allCases)
    func aScanLeavesOutWhatCannotBeRead(_ loss: Loss) async throws {
        try await check(Plain.self, loss)
    }

    /// The newest objects are read when an archive is opened.
    @Test(arguments: Loss.allCases)
    func whatIsAmongTheNewestIsKnownFromTheOpeningOn(_ loss: Loss) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let lost = Self.lost + [Self.newest]
        let expected = try await reference(lost, Self.figures(Plain.self))
        for (place, (name, ask)) in Self.figures(Indexed.self).enumerated() {
            let factory = try make("\(place)", Indexed.self, loss, lost)
            let bikes = try factory.store(for: Bike<After, Indexed>.self)
            #expect(try await ask(bikes, .skip) == expected[place], "\(name), \(loss)")
            try factory.close()
        }
    }

    /// Nothing can be written into a file that is only read.
    @Test func aFileThatIsOnlyReadHasTheSameAnswers() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let expected = try await reference(
            Self.lost,
            Self.lists(Plain.self) + Self.figures(Plain.self)
        )
        let file = try make("read", Indexed.self, .both, Self.lost).directory
            .appendingPathComponent("Archives.sqlite")
        let factory = ArchivesFactory(readingOnly: file)
        let bikes = try factory.store(for: Bike<After, Indexed>.self)
        _ = try bikes.fetch(undecodable: .skip)
        let all = Self.lists(Indexed.self) + Self.figures(Indexed.self)
        for (place, (name, ask)) in all.enumerated() {
            #expect(try await ask(bikes, .skip) == expected[place], "\(name)")
        }
        try factory.close()
    }
}
