import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import Vellum

extension AggregateTests {
    // MARK: Groups

    @Test(arguments: Way.allCases)
    func objectsAreCountedByEachTypeOfProperty(_ way: Way) throws {
        func check<Value: Hashable>(
            _ property: any WritableKeyPath<Sample, Value> & Sendable,
            _ values: [Value]
        ) throws {
            let store = try store(values, way, property)
            #expect(
                try store.count(by: property, where: way.predicate)
                    == values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            )
            try store.deleteAll()
        }
        try check(\.group, [])
        try check(\.group, ["a", "b", "a", "e\u{301}", "\u{E9}"])
        try check(\.count, [1, .min, 1, .max])
        try check(\.small, [nil, 1, nil, -128])
        try check(\.huge, [0, .max, .max])
        try check(\.ratio, [0, -0.0, .infinity, 1])
        try check(\.share, [nil, 0.5, 0.5])
        try check(\.nick, [nil, "", "a", nil])
        try check(\.day, [.distantPast, .distantPast, .distantFuture])
        try check(\.code, [UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9))])
        try check(\.blob, [Data(), Data([0]), Data()])
        try check(\.isMarked, [true, false, true])
        try check(\.kind, [.plain, .odd, .odd])
        try check(\.level, [nil, .low, .high, nil])
        try check(\.note, ["not", "note", "not"])
    }

    @Test(arguments: Way.allCases)
    func allNaNsAreOneKey(_ way: Way) throws {
        let counts = try store([.nan, 1, -.nan, .nan], way, \.ratio).count(
            by: \.ratio,
            where: way.predicate
        )
        #expect(counts.count == 2 && counts[1] == 1)
        #expect(counts.first { $0.key.isNaN }?.value == 3)
    }

    // MARK: By an index

    @Test func anIndexAnswersWithoutDecoding() throws {
        let store = try store([3, 1, 2], .index, \.count)
        let aggregates: [(ArchiveAggregate, PartialKeyPath<Sample>)] = [
            (.sum, \.count), (.average, \.count), (.min, \.count), (.max, \.count),
            (.count, \.count), (.sum, \.small), (.sum, \.huge),
            (.sum, \.ratio), (.average, \.share), (.min, \.share), (.max, \.nick), (.count, \.nick),
            (.min, \.day), (.max, \.code),
            (.count, \.kind), (.count, \.level), (.count, \.blob), (.count, \.isMarked),
            (.min, \.wide), (.max, \.wide),
        ]
        for predicate in [
            nil, #Predicate<Sample> { $0.group == "g" && $0.huge < 9 },
            #Predicate { $0.tags.contains("t") },
        ] {
            for (aggregate, property) in aggregates {
                let explanation = try store.explain(aggregate, of: property, where: predicate)
                #expect(
                    explanation.decodedObjects == 0 && explanation.usesIndex
                        && explanation.results == 1,
                    "\(explanation)"
                )
                #expect(
                    explanation.remaining.isEmpty
                        && explanation.pushedDown.last?.hasPrefix("\(aggregate) of") == true
                )
            }
            #expect(try store.sum(of: \.count, where: predicate) == 6)
            #expect(try store.min(of: \.ratio, where: predicate) == 0)
            #expect(try store.count(by: \.count, where: predicate) == [1: 1, 2: 1, 3: 1])
        }
        let sum = try store.explain(.sum, of: \.count, where: #Predicate { $0.group == "secret" })
        #expect(sum.statement == "SELECT exact_sum(c.c1) FROM columns_1 c WHERE c.c0 = ?")
        #expect(sum.access.contains { $0.contains("COVERING INDEX") })
    }

    @Test func whatNoIndexDeterminesIsDecoded() throws {
        let store = try store([3, 1, 2], .index, \.count)
        let undetermined: [(ArchiveAggregate, PartialKeyPath<Sample>, Predicate<Sample>?)] = [
            (.max, \.note, nil), (.count, \.note, nil), (.sum, \.wide, nil),
            (.sum, \.count, #Predicate { $0.note == "note" }),
            (.min, \.count, #Predicate { $0.group == "g" && $0.note == "note" }),
        ]
        for (aggregate, property, predicate) in undetermined {
            let explanation = try store.explain(aggregate, of: property, where: predicate)
            #expect(
                explanation.decodedObjects == 3
                    && explanation.remaining.last?.hasPrefix("\(aggregate) of") == true
            )
        }
        #expect(try store.sum(of: \.wide) == 24)
        #expect(try store.max(of: \.note) == "note")
        try store.record(Sample(primaryKey: "uncovered", count: 4, label: "x\u{378}"))
        #expect(try store.sum(of: \.count) == 10)
        #expect(try store.explain(.sum, of: \.count).decodedObjects == 4)
    }

    @Test func aStringFromAnIndexIsInNormalForm() throws {
        let store = try store(["e\u{301}"], .index, \.name)
        #expect(try store.min(of: \.name)?.unicodeScalars.count == 1)
        #expect(try store.max(of: \.name)?.unicodeScalars.count == 1)
        #expect(try store.count(by: \.name).keys.first?.unicodeScalars.count == 1)
    }

    // MARK: The same objects as a count

    private func expectSums(
        _ store: ArchiveStore<Sample>,
        _ expected: Int,
        by index: Bool? = nil
    ) throws {
        for way in [Way.index, .decoding] {
            #expect(try store.sum(of: \.count, where: way.predicate) == expected)
            #expect(
                try store.count(by: \.group, where: way.predicate).values.reduce(0, +) == expected
            )
            #expect(
                try store.average(of: \.count, where: way.predicate) == (expected == 0 ? nil : 1)
            )
            #expect(try store.max(of: \.count, where: way.predicate) == (expected == 0 ? nil : 1))
        }
        #expect(try store.count(where: #Predicate { $0.group == "g" }) == expected)
        if let index { #expect(try store.explain(.sum, of: \.count).usesIndex == index) }
    }

    @Test func expiredObjectsAreLeftOut() throws {
        let store = try store([1, 1], .index, \.count)
        try store.record(Sample(primaryKey: "expires", count: 1), expiration: .after(.seconds(60)))
        try store.record(
            Sample(primaryKey: "unused", count: 1),
            expiration: .unused(for: .seconds(60))
        )
        try expectSums(store, 4, by: true)
        archives.clock.advance(bySeconds: 40)
        #expect(try store.access(archiveWithKey: "unused") != nil)
        archives.clock.advance(bySeconds: 40)
        try expectSums(store, 3, by: true)
        archives.clock.advance(bySeconds: 400)
        try expectSums(store, 2, by: true)
    }

    @Test func objectsThatOnlyMemoryHasAreIncluded() throws {
        let store = try archives.factory.store(for: Sample.self, diskLimit: 1000)
        try store.record(Sample(primaryKey: "small", count: 1))
        try expectSums(store, 1, by: true)
        try store.record(
            Sample(primaryKey: "large", count: 1, blob: Data(repeating: 7, count: 5000))
        )
        try expectSums(store, 2, by: false)
    }

    @Test func relaxedWritesAreIncluded() throws {
        let store = try archives.anotherFactory(durability: .relaxed).store(for: Sample.self)
        for number in 0..<5 { try store.record(Sample(primaryKey: "\(number)", count: 1)) }
        try expectSums(store, 5)
    }

    @Test func aggregatesDoNotAffectTheEvictionOrder() throws {
        let size = try Sample(primaryKey: "0", count: 1).archive().count
        let store = try archives.factory.store(
            for: Sample.self,
            memoryLimit: 1.byte,
            diskLimit: DataSize(bytes: size * 3)
        )
        for number in 0..<3 { try store.record(Sample(primaryKey: "\(number)", count: 1)) }
        for way in [Way.index, .decoding] {
            #expect(try store.sum(of: \.count, where: way.predicate) == 3)
            #expect(
                try store.count(by: \.primaryKey, where: #Predicate { $0.primaryKey == "0" }) == [
                    "0": 1
                ]
            )
        }
        try store.record(Sample(primaryKey: "3", count: 1))
        #expect(try store.count(by: \.primaryKey).keys.sorted() == ["1", "2", "3"])
    }

    /// An object that can be encoded, but decoded only if it is whole.
    private struct Vase: IndexedArchivable, ArchiveCodable {
        static let archiveName = "Vase"
        var primaryKey: String { "\(number)" }
        var number: Int
        var height = 1
        var isWhole: Bool

        init(_ number: Int, isWhole: Bool) { (self.number, self.isWhole) = (number, isWhole) }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            isWhole = try container.decode(Bool.self, forKey: .isWhole)
            guard isWhole else { throw CocoaError(.coderReadCorrupt) }
            number = try container.decode(Int.self, forKey: .number)
            height = try container.decode(Int.self, forKey: .height)
        }

        static var archiveIndexes: [ArchiveIndex<Vase>] { [.index(\.number)] }
    }

    @Test func anObjectThatCannotBeDecodedIsAnErrorUnlessItIsSkippedOrNotDecoded() throws {
        let store = try archives.factory.store(for: Vase.self, memoryLimit: 1.byte)
        for number in 1...3 { try store.record(Vase(number, isWhole: number < 3)) }
        #expect(try store.sum(of: \.number) == 6)
        #expect(try store.sum(of: \.height, undecodable: .skip) == 2)
        #expect(try store.count(by: \.height, undecodable: .skip) == [1: 2])
        for call in [
            { _ = try store.sum(of: \.height) }, { _ = try store.max(of: \.height) },
            { _ = try store.count(by: \.height) },
        ] {
            let error = #expect(throws: VellumError.self) { try call() }
            #expect(error?.code == .notDecodable)
        }
    }

    // MARK: Misuse

    @Test func aPredicateThatThrowsIsAnErrorWithoutData() throws {
        let store = try store([nil, "secret"], .index, \.nick)
        let throwing = #Predicate<Sample> { $0.nick! > "secret-operand" }
        let calls: [() throws -> Void] = [
            { _ = try store.sum(of: \.count, where: throwing) },
            { _ = try store.average(of: \.ratio, where: throwing) },
            { _ = try store.min(of: \.name, where: throwing) },
            { _ = try store.count(by: \.group, where: throwing) },
            { _ = try store.explain(.sum, of: \.count, where: throwing) },
        ]
        for call in calls {
            let error = #expect(throws: VellumError.self) { try call() }
            #expect(error?.code == .failedQuery && error?.description.contains("secret") == false)
        }
    }

    @Test func aClosedStoreIsAnError() throws {
        let store = try store([1], .index, \.count)
        try store.close()
        let calls: [() throws -> Void] = [
            { _ = try store.sum(of: \.count) }, { _ = try store.average(of: \.ratio) },
            { _ = try store.min(of: \.name) },
            { _ = try store.max(of: \.name) }, { _ = try store.count(by: \.group) },
            { _ = try store.explain(.max, of: \.group) },
        ]
        for call in calls {
            let error = #expect(throws: VellumError.self) { try call() }
            #expect(error?.code == .closed)
        }
    }

    @Test(arguments: [true, false])
    func anAggregateBesideAWriterSeesItsTransactionsWhole(_ isIndexed: Bool) async throws {
        let store = try archives.factory.store(for: Sample.self, memoryLimit: 1.byte)
        try store.record(contentsOf: (0..<20).map { Sample(primaryKey: "\($0)", count: 1) })
        let predicate = isIndexed ? nil : Way.decoding.predicate
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for round in 2..<40 {
                    try store.record(
                        contentsOf: (0..<20).map { Sample(primaryKey: "\($0)", count: round) }
                    )
                }
            }
            group.addTask {
                for _ in 0..<40 {
                    let sum = try store.sum(of: \.count, where: predicate)
                    #expect(sum.isMultiple(of: 20))
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.average(of: \.count, where: predicate) == 39)
    }
}
