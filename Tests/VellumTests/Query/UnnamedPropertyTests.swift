import Foundation
import TestThreads
import Testing
import VellumCore

@testable import Vellum
@testable import VellumEngine

/// Properties that Swift does not name: those of protocols, and computed ones.
@Suite(.ownThreads)
struct UnnamedPropertyTests {
    let archives = TemporaryArchives()

    /// Returns what is logged.
    private func lines(_ body: () throws -> Void) throws -> [String] {
        let lines = Locked<[String]>([])
        try LoggedLines.$observer.withValue(
            { line in lines.withLock { $0.append(line) } },
            operation: body
        )
        return lines.withLock { $0 }
    }

    // MARK: Generic code

    protocol Aged: Archivable { var age: Int { get } }

    struct Tree: ArchiveCodable, IndexedArchivable, Aged {
        static let archiveName = "Tree"
        var primaryKey: String { "\(age)" }
        var age: Int
        var height = 1
        var name = ""
        static var archiveIndexes: [ArchiveIndex<Tree>] { [.index(\.age)] }
    }

    /// Has the index that generic code can declare.
    struct Bush: ArchiveCodable, IndexedArchivable, Aged {
        static let archiveName = "Bush"
        var primaryKey: String { "\(age)" }
        var age: Int
        static var archiveIndexes: [ArchiveIndex<Bush>] { [ageIndex(Bush.self)] }
    }

    final class Horse: ArchiveCodable, IndexedArchivable, Aged {
        static let archiveName = "Horse"
        var primaryKey: String { "\(age)" }
        let age: Int
        init(age: Int) { self.age = age }
        static var archiveIndexes: [ArchiveIndex<Horse>] { [.index(\.age)] }
    }

    private static func ageIndex<Value: Aged>(_ type: Value.Type) -> ArchiveIndex<Value> {
        .index(\.age)
    }
    private static func older<Value: Aged>(than age: Int, _ type: Value.Type) -> Predicate<Value> {
        #Predicate<Value> { $0.age > age }
    }
    private static func sorted<Value: Aged>(_ type: Value.Type) -> [SortDescriptor<Value>] {
        [SortDescriptor(\.age)]
    }

    @Test func aConditionOfGenericCodeIsNamedOnce() throws {
        let trees: ArchiveStore<Tree> = try archives.factory.store()
        try trees.record(contentsOf: (0..<100).map { Tree(age: $0) })
        let predicate = Self.older(than: 90, Tree.self)
        let logged = try lines { () throws in
            for _ in 0..<3 { #expect(try trees.count(where: predicate) == 9) }
        }
        #expect(
            logged.count == 1 && logged[0].contains("archive Tree")
                && logged[0].contains("type Int")
        )
        let explanation = try trees.explain(where: predicate, sortedBy: Self.sorted(Tree.self))
        #expect(
            explanation.remaining.contains {
                $0.hasPrefix("which an index may have by another key path")
            }
        )
    }

    @Test func aConditionOnAnIndexOfGenericCodeIsNamed() throws {
        let bushes: ArchiveStore<Bush> = try archives.factory.store()
        try bushes.record(contentsOf: (0..<100).map { Bush(age: $0) })
        let counted = try lines { () throws in
            #expect(try bushes.count(where: #Predicate { $0.age > 90 }) == 9)
        }
        #expect(counted.count == 1)
        let sorted = try lines { () throws in
            #expect(
                try bushes.fetch(sortedBy: [SortDescriptor(\.age, order: .reverse)], limit: 1)[0]
                    .age == 99
            )
        }
        #expect(sorted.count <= 1)
    }

    @Test func anIndexThatIsDeclaredAsItIsQueriedIsUsed() throws {
        let bushes: ArchiveStore<Bush> = try archives.factory.store()
        try bushes.record(contentsOf: (0..<100).map { Bush(age: $0) })
        let logged = try lines { () throws in
            let explanation = try bushes.explain(
                where: Self.older(than: 90, Bush.self),
                sortedBy: Self.sorted(Bush.self)
            )
            #expect(
                explanation.usesIndex && explanation.remaining.isEmpty
                    && explanation.decodedObjects == 9
            )
        }
        #expect(logged.isEmpty)
        let horses: ArchiveStore<Horse> = try archives.factory.store()
        try horses.record(contentsOf: (0..<100).map { Horse(age: $0) })
        let own = try horses.explain(where: #Predicate { $0.age > 90 })
        #expect(own.statement != nil && own.decodedObjects == 9, "\(own)")
        let counted = try lines { () throws in
            #expect(try horses.count(where: Self.older(than: 90, Horse.self)) == 9)
        }
        #expect(counted.count == 1)
    }

    @Test func aPropertyWithANameIsNotNamed() throws {
        let trees: ArchiveStore<Tree> = try archives.factory.store()
        try trees.record(contentsOf: (0..<100).map { Tree(age: $0) })
        let logged = try lines { () throws in
            #expect(try trees.count(where: #Predicate { $0.age > 90 }) == 9)
            #expect(try trees.count(where: #Predicate { $0.age > 90 && $0.height == 1 }) == 9)
            #expect(
                try trees.count(where: #Predicate { $0.name.contains("x") || $0.name == "" }) == 100
            )
        }
        #expect(logged.isEmpty)
    }

    // MARK: Properties that are no function of what is stored

    struct Loan: ArchiveCodable, IndexedArchivable {
        static let archiveName = "Loan"
        static let today = Locked(0)
        var primaryKey: String { "\(due)" }
        var due: Int
        var isOverdue: Bool { due < Self.today.withLock { $0 } }
        static var archiveIndexes: [ArchiveIndex<Loan>] { [.index(\.isOverdue)] }
    }

    /// The index keeps what the property was, until it is built again.
    @Test func anIndexOfAPropertyThatDependsOnTheTimeIsNamedWhenItIsBuiltAgain() throws {
        Loan.today.withLock { $0 = 5 }
        let loans: ArchiveStore<Loan> = try archives.factory.store()
        try loans.record(contentsOf: (0..<10).map { Loan(due: $0) })
        Loan.today.withLock { $0 = 8 }
        #expect(try loans.count(where: #Predicate { $0.isOverdue }) == 5)
        try archives.factory.close()
        let logged = try lines { () throws in
            let again: ArchiveStore<Loan> = try archives.anotherFactory().store()
            #expect(try again.count(where: #Predicate { $0.isOverdue }) == 8)
        }
        #expect(logged.count == 1 && logged[0].contains("archive Loan"))
    }
}
