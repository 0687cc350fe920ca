import Foundation
import TestThreads
import Testing
import Vellum

/// The code blocks of "Query".
@Suite(.ownThreads)
struct QueryTests {
    struct User: Codable, Archivable, Equatable {
        var primaryKey: String { userName }
        var userName: String
        var fullName: String
        var age: Int
    }

    /// The type of the code blocks, with an optional full name.
    struct Member: Codable, Archivable, Equatable {
        var primaryKey: String { userName }
        var userName: String
        var fullName: String?
        var age: Int?
    }

    let temporary = TemporaryArchives()
    let userCache: ArchiveManager<User>
    let memberCache: ArchiveManager<Member>

    init() throws {
        userCache = try temporary.factory.archives()
        memberCache = try temporary.factory.archives()
        userCache.insert(
            User(userName: "premium-ann", fullName: "Ann", age: 40),
            User(userName: "bob", fullName: "Bob", age: 30),
            User(userName: "cleo-premium", fullName: "Cleo", age: 20),
            User(userName: "premium-dan", fullName: "Dan", age: 20)
        )
        memberCache.insert(
            Member(userName: "premium-ann", fullName: nil, age: 40),
            Member(userName: "bob", fullName: "Bob", age: nil),
            Member(userName: "cleo-premium", fullName: "Cleo", age: 20)
        )
    }

    @Test func objectsAreFoundByTheirProperties() {
        let results = userCache.findWhere { archive in
            archive.userName(.contains("premium"))
                .fullName(.isNotEqual(nil))
        }
        .getResults()

        #expect(results.map(\.userName) == ["premium-ann", "cleo-premium", "premium-dan"])
    }

    @Test func nilDoesNotMatchNegatedConditions() {
        let results = memberCache.findWhere { archive in
            archive.userName(.contains("premium"))
                .fullName(.isNotEqual(nil))
        }
        .getResults()

        #expect(results.map(\.userName) == ["cleo-premium"])
    }

    @Test func resultsAreSortedByTheirProperties() {
        let results = userCache.sorted { by in
            by.age(.ascending)
                .fullName(.descending)
        }
        .getResults()

        #expect(results.map(\.fullName) == ["Dan", "Cleo", "Bob", "Ann"])
    }

    @Test func nilIsSortedFirst() {
        let results = memberCache.sorted { by in
            by.age(.ascending)
                .fullName(.descending)
        }
        .getResults()

        #expect(results.map(\.age) == [nil, 20, 40])
    }

    @Test func resultsAreLimited() {
        let results = userCache.sorted { by in
            by.age(.ascending)
                .fullName(.descending)
        }
        .limitResults(by: 10)
        .getResults()

        #expect(results.count == 4)
        #expect(
            userCache.sorted { $0.age(.ascending) }.limitResults(by: 1).getResults().map(\.age) == [
                20
            ]
        )
    }

    @Test func allStepsCanBeCombined() {
        let results = userCache.findWhere { archive in
            archive.userName(.contains("premium"))
                .fullName(.isNotEqual(nil))
        }
        .sorted { by in
            by.age(.ascending)
                .fullName(.descending)
        }
        .limitResults(by: 10)
        .getResults()

        #expect(results.map(\.fullName) == ["Dan", "Cleo", "Ann"])
    }

    @Test func objectsAreFoundByAClosure() {
        let results = userCache.findWhere { archive in
            archive.userName(.isValid { $0.contains("premium") })
        }
        .getResults()

        #expect(results.count == 3)
    }

    @Test func aClosureMayUseWhatIsNotSendable() {
        final class Screen {
            var filter = "bob"
        }
        let screen = Screen()

        let results = userCache.findWhere { $0.userName(.isValid { $0 == screen.filter }) }
            .getResults()

        #expect(results.map(\.userName) == ["bob"])
    }

    @Test func stepsAreExecutedInOrder() {
        let limitedFirst = userCache.limitResults(by: 1).findWhere { $0.age(.isEqual(30)) }
            .getResults()
        let foundFirst = userCache.findWhere { $0.age(.isEqual(30)) }.limitResults(by: 2)
            .getResults()
        let again = userCache.sorted { $0.age(.descending) }.limitResults(by: 2).sorted {
            $0.age(.ascending)
        }
        .findWhere { $0.age(.greater(than: 30)) }

        #expect(limitedFirst.isEmpty)
        #expect(foundFirst.count == 1)
        #expect(again.getResults().map(\.age) == [40])
    }

    @Test func theFirstAndLastResultsAreReturned() {
        let byAge = userCache.sorted { $0.age(.ascending).userName(.ascending) }

        #expect(byAge.firstResult()?.userName == "cleo-premium")
        #expect(byAge.lastResult()?.userName == "premium-ann")
        #expect(byAge.limitResults(by: -1).firstResult() == nil)
        #expect(byAge.limitResults(by: 0).lastResult() == nil)
    }

    @Test func sortingByAClosureIsStable() {
        let results =
            userCache
            .sorted { $0.userName(.ascending) }
            .sorted { by in
                by.manual(direction: .descending) { left, right in
                    left.age < right.age
                        ? .leftLessThanRight
                        : left.age > right.age ? .leftGreaterThanRight : .leftEqualWithRight
                }
            }
            .getResults()

        #expect(results.map(\.fullName) == ["Ann", "Bob", "Cleo", "Dan"])
    }

    @Test func stepsAreProcessedTogether() {
        let results = userCache.process(queries: [
            .findWhere { $0.age(.less(than: 40)) },
            .sorted { $0.age(.descending) },
            Query(QueryLimiter(limit: 1)),
        ])

        #expect(results.map(\.userName) == ["bob"])
        #expect(userCache.process(queries: []).count == 4)
    }

    @Test func queriesWorkOnAnyArchivist() {
        func adults<Users: Archivist>(in archives: Users) -> [User] where Users.Archive == User {
            archives.findWhere { $0.age(.greaterOrEqual(with: 30)) }.getResults()
        }

        #expect(adults(in: userCache).count == 2)
    }
}
