import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

@Suite(.ownThreads)
struct QueryMemoryTests {
    @Test func aFinishedQueryReleasesItsMemory() throws {
        let setup = try Setup()
        let store = try setup.people()
        try store.record(Person.crowd(10))
        weak var execution: QueryExecution<Person>?
        weak var source: QuerySource<Person>?
        for steps in IndexedStoreTests.questions {
            do {
                let query = QueryExecution(
                    QueryDescription(steps),
                    in: store,
                    QueryOptions(isLazy: true)
                )
                (execution, source) = (query, query.source)
                _ = try query.next()
            }
            #expect(execution == nil && source == nil)
        }
    }
}
