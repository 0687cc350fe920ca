import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// What observers ask: answers of one moment, which end when they are cancelled.
@Suite(.ownThreads)
struct ObservedQueryTests {
    /// A codec that calls at some objects which it decodes.
    private final class CallingCodec: Codec, Sendable {
        private let json = JSONCodec<Person>()
        private let state = Locked(State())

        // A struct: a closure in a tuple that a generic function changes is wrapped once more each
        // time.
        private struct State {
            var decoded = 0
            var call: (@Sendable (Int) -> Void)?
        }

        var decoded: Int { state.withLock { $0.decoded } }
        func begin(_ call: @escaping @Sendable (Int) -> Void) {
            state.withLock { $0 = State(call: call) }
        }

        func encode(_ person: Person) throws -> Data { try json.encode(person) }

        func decode(_ bytes: Data) throws -> Person {
            let (decoded, call) = state.withLock { state in
                state.decoded += 1
                return (state.decoded, state.call)
            }
            call?(decoded)
            return try json.decode(bytes)
        }
    }

    private let setup: Setup
    private let codec = CallingCodec()
    private let store: Store<Person>

    private static var queries: [QueryDescription<Person>] {
        [
            QueryDescription(), QueryDescription([.sort([Question.byAge()])]),
            QueryDescription([
                .filter(.test(Test { $0.height > 0 })), .sort([Question.byAge(descending: true)]),
            ]),
        ]
    }

    /// More than a batch.
    private static let count = LongRun.number(5000, usually: 4200)

    init() throws {
        setup = try Setup()
        store = try setup.people(memory: 1.byte, codec: codec)
        try store.record(Self.people(1))
        try store.waitForIndex()
    }

    private static func people(_ age: Int) -> [Person] {
        (0..<count).map { Person("person \($0)", age: age) }
    }

    /// Records everybody with another age while objects are decoded that are later than those of
    /// the first snapshot.
    private func change(at moments: Set<Int>) {
        codec.begin { [store] decoded in
            guard moments.contains(decoded) else { return }
            do {
                try store.record(Self.people(1 + decoded))
            } catch {
                Issue.record(error)
            }
        }
    }

    @Test(arguments: 0..<3) func aLargeAnswerIsOfOneMoment(_ number: Int) throws {
        change(at: [10])
        let answer = try store.observed(Self.queries[number], undecodable: .fail) { false }.answer
        #expect(answer.count == Self.count)
        #expect(Set(answer.map(\.age)) == [11])
    }

    /// Otherwise an observer would ask for ever while others write.
    @Test func aLargeAnswerIsAskedThreeTimesAtMost() throws {
        change(at: [10, 10 + Self.count, 10 + 2 * Self.count])
        let answer = try store.observed(QueryDescription(), undecodable: .fail) { false }.answer
        #expect(answer.count == Self.count)
        #expect(codec.decoded == 3 * Self.count)
    }

    @Test func aLargeAnswerIsAskedOnceIfNothingChanges() throws {
        change(at: [])
        #expect(
            try store.observed(QueryDescription(), undecodable: .fail) { false }.answer.count
                == Self.count
        )
        #expect(codec.decoded == Self.count)
    }

    /// Relaxed writes that wait in a transaction are committed before the answer begins, and not by
    /// its first snapshot.
    @Test func relaxedWritesDoNotMakeALargeAnswerBeAskedTwice() throws {
        let relaxed = try Setup()
        let store = try relaxed.people(memory: 1.byte, codec: codec, durability: .relaxed)
        try store.record(Self.people(1))
        try store.waitForIndex()
        try store.record(Person("person 7", age: 2), forKey: "person 7")
        change(at: [])
        #expect(
            try store.observed(QueryDescription(), undecodable: .fail) { false }.answer.count
                == Self.count
        )
        #expect(codec.decoded == Self.count)
    }

    /// Rows that are added during a scan are left out: the key of one that was returned may have a
    /// new row.
    @Test func aScanReturnsNoKeyTwice() throws {
        codec.begin { [store] decoded in
            guard decoded == 10 else { return }
            do {
                #expect(try store.remove("person 5"))
                try store.record(Person("person 5", age: 2), forKey: "person 5")
            } catch {
                Issue.record(error)
            }
        }
        let names = try store.fetch(QueryDescription()).map(\.name)
        #expect(names.count == Self.count)
        #expect(Set(names).count == Self.count)
    }

    /// A change that was announced before may be committed between two snapshots.
    @Test func aCommitThatRunsCountsAsAChange() throws {
        change(at: [])
        let page = store.disk.file.location.changesFile.page
        let (number, _) = page.announce(
            [
                ChangePage.Announcement(
                    archive: store.disk.archive.id,
                    keys: ChangedKeys(all: .written)
                )
            ],
            by: 7,
            of: getpid()
        )
        _ = try store.observed(QueryDescription(), undecodable: .fail) { false }
        #expect(codec.decoded == 3 * Self.count)
        page.finish(number)
        _ = try store.observed(QueryDescription(), undecodable: .fail) { false }
        #expect(codec.decoded == 4 * Self.count)
    }

    /// No change falls between the end of an archive and its first batch, which would show a part
    /// of a transaction.
    @Test func aScanOfOneBatchIsOneSnapshot() throws {
        try store.removeAll()
        try store.record(Array(Self.people(1).prefix(4096)))
        let execution = QueryExecution(
            QueryDescription(),
            in: store,
            QueryOptions(undecodable: .fail)
        )
        #expect(try execution.all().count == 4096)
        #expect(execution.reads.snapshots == 1)
        let pipeline = QueryExecution(
            QueryDescription([.filter(Question.isEvenlyNamed())]),
            in: store,
            QueryOptions(undecodable: .fail)
        )
        while try pipeline.next() != nil {}
        #expect(pipeline.reads.snapshots == 1)
        let empty = try setup.open().store(
            named: "nobody",
            codec: JSONCodec<Person>(),
            memory: Capacity(1.byte),
            disk: Capacity(1.megaByte),
            caching: .values
        )
        #expect(try empty.fetch(QueryDescription()).isEmpty)
    }

    /// SQLite is asked every 1,000 instructions, and runs no more of them after it was cancelled.
    @Test func aStatementThatRunsIsInterrupted() throws {
        let asks = Locked(0)
        let query = QueryDescription<Person>([
            .filter(.any([Question.older(than: 0), Question.begins("nobody")]))
        ])
        #expect(
            try store.observedCount(query, undecodable: .fail) {
                asks.withLock {
                    $0 += 1; return false
                }
            }.answer == Self.count
        )
        let all = asks.withLock { $0 }
        #expect(all > 10)
        asks.withLock { $0 = 0 }
        #expect(
            code {
                _ = try store.observedCount(query, undecodable: .fail) {
                    asks.withLock {
                        $0 += 1; return $0 == 3
                    }
                }
            } == .cancelled
        )
        #expect(asks.withLock { $0 } == 3)
        // The connection is as before.
        #expect(try store.count(query) == Self.count)
        #expect(asks.withLock { $0 } == 3)
    }

    @Test func aQueryThatIsCancelledDecodesNoMoreObjects() throws {
        change(at: [])
        let codec = codec
        #expect(
            code {
                _ = try store.observed(QueryDescription(), undecodable: .fail) {
                    codec.decoded >= 20
                }
            } == .cancelled
        )
        #expect(codec.decoded == 20)
    }
}

/// The same of stores that are small.
@Suite(.ownThreads)
struct SmallObservedQueryTests {
    /// Whether only the disk has the value, or only memory.
    @Test(arguments: [10, 2000], [false, true]) func anAnswerIsAnotherOneIfItsBytesAre(
        _ size: Int,
        _ isSame: Bool
    ) throws {
        let setup = try Setup()
        let store = try setup.store(memory: 5000, disk: 1000)
        func origins() throws -> [[EntryOrigin]] {
            let all = try store.observed(QueryDescription(), undecodable: .fail) { false }
            let value = try store.observed("a")
            #expect(all.answer == [value.answer])
            return [value.origins, all.origins]
        }
        try store.record(Data(repeating: 1, count: size), forKey: "a")
        let before = try origins()
        setup.clock.advance(by: .seconds(1))
        try store.record(Data(repeating: isSame ? 1 : 2, count: size), forKey: "a")
        #expect(try (origins() == before) == isSame)
        try store.remove("a")
        #expect(try store.observed("a").origins == [])
        try store.record(Data(repeating: 1, count: size), forKey: "b")
        #expect(
            try store.observed(QueryDescription(), undecodable: .fail) { false }.origins
                != before[1]
        )
    }

    /// What is read as an object of another version is another answer.
    @Test func bytesOfAnotherVersionAreOtherBytes() throws {
        let setup = try Setup()
        let store = try setup.people()
        func digest(_ version: Int64) -> UInt64 {
            var entry = Entry(bytes: Data([1, 2]), written: WallInstant(rawValue: 0))
            entry.typeVersion = version
            return store.digest(of: entry)
        }
        #expect(digest(1) == digest(1) && digest(1) != digest(2))
    }

    @Test func whatAMigrationDropsIsGoneForObserversBeforeAndAfterItIsWritten() throws {
        let people = Person.crowd(100)
        let file = try Setup()
        try file.people(version: 0, indexed: true).record(people)
        try file.close()
        let migrating = try file.people(version: 2, builds: false)
        let query = QueryDescription<Person>([.sort([Question.byAge()])])
        let before = try migrating.observed(query, undecodable: .fail) { false }
        #expect(before.answer.count == people.count { $0.age % 13 != 0 })
        try file.close()
        let migrated = try file.people(version: 2)
        try migrated.waitForIndex()
        let after = try migrated.observed(query, undecodable: .fail) { false }
        #expect(after.answer == before.answer)
    }
}
