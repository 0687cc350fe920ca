import CrashScript
import Foundation
import TestThreads
import Testing
import VellumEngine
import VellumTestSupport
import Vellum

/// An index agrees with its rows, even if their writer is killed at any time.
@Suite(.ownThreads(.longSuite), .serialized)
struct IndexCrashTests {
    struct Item: ArchiveCodable, IndexedArchivable, Equatable {
        static var archiveName: String { "crash item" }
        var primaryKey: String { key }
        var key: String
        var text: String
        var tags: [String]

        static var archiveIndexes: [ArchiveIndex<Item>] {
            [.index(\.key), .index(\.text, \.key), .each(\.tags)]
        }
    }

    /// The same, without declaring an index.
    struct PlainItem: ArchiveCodable {
        static var archiveName: String { "crash item" }
        var primaryKey: String { key }
        var key: String
        var text: String
        var tags: [String]
    }

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func open<Archive: ArchiveCodable & Sendable>(
        _ type: Archive.Type
    ) throws -> (ArchivesFactory, ArchiveStore<Archive>) {
        let factory = ArchivesFactory(directory: folder.url)
        return (
            factory, try factory.store(for: type, memoryLimit: 10.kiloByte, diskLimit: 50.megaByte)
        )
    }

    /// Queries the index for every entry, and checks that it returns nothing else.
    private func checkAgreement(isWhole: Bool) throws {
        let (factory, store) = try open(Item.self)
        if isWhole {
            try blockUntil("the index is built") { try store.indexProgress().isComplete }
        }
        let items = try store.accessAll()
        // Some of many: the order and the numbers of the tags are those of all.
        let step = max(1, items.count / LongRun.number(items.count + 1, usually: 200))
        for item in items.enumerated().filter({ $0.offset % step == 0 }).map(\.element) {
            let (key, text) = (item.key, item.text)
            #expect(try store.fetch(where: #Predicate { $0.key == key }) == [item])
            #expect(try store.count(where: #Predicate { $0.text == text }) == 1)
        }
        #expect(
            try store.fetch(sortedBy: [SortDescriptor(\.key)]).map(\.key)
                == items.map(\.key).sorted()
        )
        for tag in Set(items.flatMap(\.tags)) {
            #expect(
                try store.count(where: #Predicate { $0.tags.contains(tag) })
                    == items.count { $0.tags.contains(tag) }
            )
        }
        if isWhole { #expect(try store.explain(where: #Predicate { $0.key == "x" }).usesIndex) }
        try factory.close()
        let report = try DatabaseFile.open(at: folder.file("Archives.sqlite")).verify()
        #expect(report.isIntact, "\(report)")
    }

    /// Concurrent writes may be visible or not, but every result matches its query.
    private func checkAnswersWhileOthersWrite() throws {
        let (factory, store) = try whileBusy { try open(Item.self) }
        for key in (0..<300).map({ "churn \($0)" }) {
            let found = try store.fetch(where: #Predicate { $0.key == key })
            #expect(found.isEmpty || found.map(\.key) == [key])
        }
        for tag in ["all", "7", "8", "9"] {
            let found = try store.fetch(
                where: #Predicate { $0.tags.contains(tag) },
                sortedBy: [SortDescriptor(\.key)]
            )
            #expect(found.allSatisfy { $0.tags.contains(tag) })
            #expect(Set(found.map(\.key)).count == found.count)
        }
        try whileBusy { try factory.close() }
    }

    @Test func processesKilledDuringWritesLeaveTheIndexConsistent() throws {
        for round in 0..<CrashTests.kills {
            let children = try (0..<2).map {
                try Spawned(["churn", folder.url.path, "\(round * 5 + $0)", "crashSafe"])
            }
            for child in children { for _ in 0..<(20 + round * 17 % 200) { _ = child.line() } }
            for child in children { _ = child.kill() }
            try checkAgreement(isWhole: round % 3 == 0)
        }
    }

    @Test func aKilledIndexBuildIsResumed() throws {
        let count = LongRun.number(4000, usually: 2500)
        for round in 0..<max(2, CrashTests.kills / 4) {
            let (factory, store) = try open(PlainItem.self)
            let items = (0..<count).map {
                PlainItem(key: "\($0)", text: "text \($0)", tags: ["all", "\($0 % 7)"])
            }
            try store.record(contentsOf: items)
            try factory.close()
            // The process declares the index, which is built while it writes; it is killed at a
            // random time.
            let child = try Spawned(["churn", folder.url.path, "\(round)", "crashSafe"])
            for _ in 0..<(1 + round * 7 % 60) { _ = child.line() }
            _ = child.kill()
            try checkAgreement(isWhole: round % 2 == 1)
            try checkAgreement(isWhole: true)
        }
    }

    /// Two programs declare different indexes of one file: each drops the other's index, and every
    /// result is correct.
    @Test func programsThatDeclareDifferentIndexesGetCorrectResults() throws {
        for round in 0..<max(1, CrashTests.kills / 4) {
            let knowing = try Spawned(["churn", folder.url.path, "\(round)", "crashSafe"])
            let other = try Spawned(
                ["churn", folder.url.path, "\(round + 100)", "crashSafe"],
                environment: ["VELLUM_INDEX": "none"]
            )
            for _ in 0..<150 { _ = (knowing.line(), other.line()) }
            try checkAnswersWhileOthersWrite()
            _ = (knowing.kill(), other.kill())
            try checkAgreement(isWhole: true)
        }
    }
}
