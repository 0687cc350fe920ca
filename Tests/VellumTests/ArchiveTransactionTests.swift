import Foundation
import TestThreads
import Testing
import Vellum
import VellumCore
import VellumEngine
import VellumTestSupport

@Suite(.ownThreads)
struct ArchiveTransactionTests {
    let temporary = TemporaryArchives()
    let parcels: ArchiveStore<Parcel>
    let notes: ArchiveStore<Note>

    init() throws {
        parcels = try temporary.factory.store()
        notes = try temporary.factory.store()
    }

    @Test func writesToSeveralArchivesAreAtomic() throws {
        try parcels.record(Parcel("old"))

        try temporary.factory.transaction { transaction in
            try transaction.record(Parcel("a"), in: parcels)
            try transaction.record(Note("note"), in: notes)
            transaction.delete(archiveWithKey: "old", in: parcels)
            transaction.delete(archiveWithKey: "nothing", in: notes)
        }

        #expect(try parcels.keys() == ["a"])
        #expect(try notes.keys() == ["note"])
    }

    @Test func anObjectThatCannotBeEncodedRollsBackTheTransaction() throws {
        try parcels.record(Parcel("a", size: 10))

        let error = #expect(throws: VellumError.self) {
            try temporary.factory.transaction { transaction in
                transaction.deleteAll(in: parcels)
                try transaction.record(Note("note"), in: notes)
                try transaction.record(.refusing("b"), in: parcels)
            }
        }

        #expect(error?.code == .notEncodable)
        #expect(try parcels.accessAll() == [Parcel("a", size: 10)])
        #expect(try notes.count() == 0)
    }

    @Test func aThrownErrorRollsBackTheTransaction() throws {
        #expect(throws: Refusal.self) {
            try temporary.factory.transaction { transaction in
                try transaction.record(Parcel("a"), in: parcels)
                throw Refusal(words: "never mind")
            }
        }

        #expect(try parcels.count() == 0)
    }

    @Test func readsOfTheArchiveInsideATransactionSeeTheStateBeforeIt() throws {
        try parcels.record(Parcel("a", size: 10))

        try temporary.factory.transaction { transaction in
            try transaction.record(Parcel("a", size: 20), in: parcels)
            #expect(try parcels.access(archiveWithKey: "a") == Parcel("a", size: 10))
        }

        #expect(try parcels.access(archiveWithKey: "a") == Parcel("a", size: 20))
    }

    @Test func writesAreExecutedInOrder() throws {
        try parcels.record(Parcel("before"))

        try temporary.factory.transaction { transaction in
            try transaction.record(Parcel("a", size: 10), in: parcels)
            transaction.delete(archiveWithKey: "a", in: parcels)
            try transaction.record(Parcel("a", size: 20), in: parcels)
            try transaction.record(Parcel("b"), in: parcels)
            transaction.deleteAll(in: parcels)
            try transaction.record(Parcel("c"), in: parcels)
        }

        #expect(try parcels.accessAll() == [Parcel("c")])
        parcels.trimMemory(to: .zero)
        #expect(try parcels.accessAll() == [Parcel("c")])
    }

    @Test func archivesOfDifferentFilesCannotBeWrittenTogether() throws {
        let elsewhere = try temporary.anotherFactory("elsewhere").store(for: Parcel.self)

        let error = #expect(throws: VellumError.self) {
            try temporary.factory.transaction { transaction in
                try transaction.record(Parcel("a"), in: parcels)
                try transaction.record(Parcel("a"), in: elsewhere)
            }
        }

        #expect(error?.code == .differentFiles)
        #expect(try parcels.count() == 0)
        #expect(try elsewhere.count() == 0)
    }

    @Test func anEmptyTransactionHasNoEffect() throws {
        try temporary.factory.transaction { _ in }
    }

    @Test func aTransactionSurvivesReopening() throws {
        try temporary.factory.transaction { transaction in
            for number in 0..<100 { try transaction.record(Parcel("\(number)"), in: parcels) }
            try transaction.record(Note("note"), in: notes)
        }
        try temporary.factory.close()

        #expect(try temporary.factory.store(for: Parcel.self).count() == 100)
        #expect(try temporary.factory.store(for: Note.self).count() == 1)
    }

    // MARK: Reading

    @Test func aTransactionReadsWhatItHasWritten() throws {
        try parcels.record(contentsOf: [Parcel("a", size: 10), Parcel("b", size: 10)])
        try temporary.factory.transaction { transaction in
            #expect(try transaction.access(archiveWithKey: "a", in: parcels)?.size == 10)
            try transaction.record(Parcel("a", size: 20), in: parcels)
            #expect(try transaction.access(archiveWithKey: "a", in: parcels)?.size == 20)
            transaction.delete(archiveWithKey: "a", in: parcels)
            #expect(try transaction.access(archiveWithKey: "a", in: parcels) == nil)
            try transaction.record(Parcel("c", size: 30), in: parcels)
            transaction.deleteAll(in: parcels)
            #expect(try transaction.access(archiveWithKey: "b", in: parcels) == nil)
            #expect(try transaction.access(archiveWithKey: "c", in: parcels) == nil)
            try transaction.record(Parcel("c", size: 40), in: parcels)
            #expect(try transaction.access(archiveWithKey: "c", in: parcels)?.size == 40)
            let note = Note("note")
            try transaction.record(note, in: notes)
            #expect(try transaction.access(archiveWithKey: "note", in: notes) !== note)
            // Nothing is written yet.
            #expect(try parcels.keys().sorted() == ["a", "b"])
        }
        #expect(try parcels.accessAll() == [Parcel("c", size: 40)])
    }

    @Test func aTransactionThatWasOvertakenRunsAgain() throws {
        try parcels.record(Parcel("a", size: 10))
        let parcels = parcels
        var seen: [Int?] = []
        let last = try temporary.factory.transaction { transaction in
            let size = try transaction.access(archiveWithKey: "a", in: parcels)?.size
            seen.append(size)
            if seen.count == 1 { try byAnother { try $0.record(Parcel("a", size: 50)) } }
            try transaction.record(Note("note", text: "\(size ?? 0)"), in: notes)
            return size
        }
        #expect(seen == [10, 50])
        #expect(last == 50)
        #expect(try notes.access(archiveWithKey: "note")?.text == "50")
    }

    @Test func aTransactionThatIsOvertakenAgainAndAgainIsBusyAndWritesNothing() throws {
        var runs = 0
        let error = #expect(throws: VellumError.self) {
            try temporary.factory.transaction { transaction in
                runs += 1
                _ = try transaction.access(archiveWithKey: "a", in: parcels)
                try byAnother { [runs] in try $0.record(Parcel("a", size: runs + 10)) }
                try transaction.record(Note("note"), in: notes)
            }
        }
        #expect(error?.code == .busy)
        #expect(runs == 64)
        #expect(try notes.count() == 0)
    }

    // MARK: Turns

    /// An update of the object that another thread begins.
    private final class Update: Sendable {
        let hasUpdated = Locked(false)
        /// Signalled when the update waits for a turn, and at its end.
        let waits = DispatchSemaphore(value: 0)

        func begin(
            of key: String,
            in parcels: ArchiveStore<Parcel>,
            patience: DispatchTimeInterval
        ) -> OnThread<Result<Void, any Error>> {
            OnThread { [self] in
                defer { waits.signal() }
                let mark = ReentrancyGuard(.load(0)) { [waits] in waits.signal() }
                return Result {
                    try mark.run {
                        try UpdateTurn.$patience.withValue(patience) {
                            try parcels.update(archiveWithKey: key) {
                                $0 = Parcel(key, size: ($0?.size ?? 0) + 1)
                            }
                        }
                    }
                    hasUpdated.withLock { $0 = true }
                }
            }
        }
    }

    @Test func anUpdateWaitsForATransactionThatLostARace() throws {
        let (parcels, update) = (parcels, Update())
        var (runs, thread): (Int, OnThread<Result<Void, any Error>>?) = (0, nil)
        try temporary.factory.transaction { transaction in
            runs += 1
            let size = try transaction.access(archiveWithKey: "a", in: parcels)?.size ?? 0
            switch runs {
            case 1: try byAnother { try $0.record(Parcel("a", size: 50)) }
            case 2:
                thread = update.begin(of: "a", in: parcels, patience: .never)
                update.waits.wait()
                #expect(!update.hasUpdated.withLock { $0 })
            default: break
            }
            try transaction.record(Parcel("a", size: size + 10), in: parcels)
        }
        #expect(runs == 2)
        try thread?.result().get()
        #expect(try parcels.access(archiveWithKey: "a")?.size == 61)
    }

    /// The closure of the transaction may wait for the update in a way that no turn knows of.
    @Test func noUpdateWaitsForATransactionForever() throws {
        let parcels = parcels
        var runs = 0
        try temporary.factory.transaction { transaction in
            runs += 1
            let size = try transaction.access(archiveWithKey: "a", in: parcels)?.size ?? 0
            switch runs {
            case 1: try byAnother { try $0.record(Parcel("a", size: 50)) }
            case 2:
                try Update().begin(of: "a", in: parcels, patience: .milliseconds(20)).result().get()
            default: break
            }
            try transaction.record(Parcel("a", size: size + 10), in: parcels)
        }
        #expect(runs == 3)
        #expect(try parcels.access(archiveWithKey: "a")?.size == 61)
    }

    /// It has a turn already, for which a transaction may wait in some other way.
    @Test func anUpdateInsideAnotherWaitsForNoTransaction() throws {
        let parcels = parcels
        let (began, goOn, ended) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let outer = OnThread {
            Result {
                try UpdateTurn.$patience.withValue(.never) {
                    try parcels.update(archiveWithKey: "b") { outer in
                        began.signal()
                        goOn.wait()
                        try parcels.update(archiveWithKey: "c") { $0 = Parcel("c") }
                        ended.signal()
                        outer = Parcel("b")
                    }
                }
            }
        }
        began.wait()
        var runs = 0
        try temporary.factory.transaction { transaction in
            runs += 1
            _ = try transaction.access(archiveWithKey: "a", in: parcels)
            if runs == 1 { try byAnother { try $0.record(Parcel("a", size: 50)) } }
            if runs == 2 {
                goOn.signal()
                ended.wait()
            }
            try transaction.record(Parcel("a"), in: parcels)
        }
        try outer.result().get()
        #expect(runs == 2)
        #expect(try parcels.count() == 3)
    }

    @Test func anErrorOfReadsThatDisagreeIsNotPassedOn() throws {
        for key in ["a", "b"] { try parcels.record(Parcel(key, size: 100)) }
        var runs = 0
        try temporary.factory.transaction { transaction in
            runs += 1
            let one = try transaction.access(archiveWithKey: "a", in: parcels)?.size ?? 0
            if runs == 1 {
                try byAnother {
                    try $0.record(contentsOf: [Parcel("a", size: 150), Parcel("b", size: 50)])
                }
            }
            let other = try transaction.access(archiveWithKey: "b", in: parcels)?.size ?? 0
            guard one + other == 200 else { throw Refusal(words: "The sum is wrong.") }
        }
        #expect(runs == 2)
        // An error that is right is passed on at once.
        #expect(throws: Refusal.self) {
            try temporary.factory.transaction { transaction in
                runs += 1
                for key in ["a", "b"] {
                    _ = try transaction.access(archiveWithKey: key, in: parcels)
                }
                throw Refusal(words: "never mind")
            }
        }
        #expect(runs == 3)
    }

    @Test func anErrorOfTheCommitIsFinal() throws {
        for key in ["a", "b"] { try parcels.record(Parcel(key, size: 100)) }
        let others = try temporary.factory.store(for: Parcel.self)
        var runs = 0
        let error = #expect(throws: VellumError.self) {
            try temporary.factory.transaction { transaction in
                runs += 1
                for key in ["a", "b"] {
                    _ = try transaction.access(archiveWithKey: key, in: others)
                }
                try transaction.record(Note("note"), in: notes)
                // What was read is outdated, and the commit fails all the same.
                try byAnother { try $0.record(Parcel("a", size: 150)) }
                try notes.close()
            }
        }
        #expect(error?.code == .closed)
        #expect(runs == 1)
    }

    @Test func aTransactionMayReadThousandsOfObjects() throws {
        try parcels.record(contentsOf: (0..<200).map { Parcel("\($0)", size: 10) })
        let count = LongRun.number(20_000, usually: 5000)
        let sum = try temporary.factory.transaction { transaction in
            try (0..<count).reduce(0) { sum, number in
                sum
                    + (try transaction.access(archiveWithKey: "\(number % 200)", in: parcels)?.size
                        ?? 0)
            }
        }
        #expect(sum == count * 10)
    }

    @Test func somethingThatWasAbsentMustStillBe() throws {
        var runs = 0
        try temporary.factory.transaction { transaction in
            runs += 1
            let isThere = try transaction.access(archiveWithKey: "a", in: parcels) != nil
            if runs == 1 { try byAnother { try $0.record(Parcel("a")) } }
            try transaction.record(Note("note", text: "\(isThere)"), in: notes)
        }
        #expect(runs == 2)
        #expect(try notes.access(archiveWithKey: "note")?.text == "true")
    }

    @Test func transfersNeverChangeTheSum() async throws {
        let (factory, parcels) = (temporary.factory, parcels)
        for key in ["a", "b", "c"] { try parcels.record(Parcel(key, size: 1000)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (from, to) in [("a", "b"), ("b", "c"), ("c", "a"), ("b", "a")] {
                group.addTask {
                    // As long as a busy machine takes.
                    try await UpdateTurn.$patience.withValue(.never) {
                        try await parcels.perform { _ in
                            for _ in 0..<100 {
                                try factory.transaction { transaction in
                                    let both = try transaction.both(from, to, in: parcels)
                                    guard var (source, target) = both, source.size > 5 else {
                                        return
                                    }
                                    source.size -= 1
                                    target.size += 1
                                    try transaction.record(source, in: parcels)
                                    try transaction.record(target, in: parcels)
                                }
                            }
                        }
                    }
                }
            }
            group.addTask {
                for _ in 0..<100 {
                    let sum = try Self.sum(of: parcels, in: factory)
                    #expect(sum == 3000)
                }
            }
            try await group.waitForAll()
        }
        #expect(try parcels.accessAll().map(\.size).reduce(0, +) == 3000)
    }

    private static func sum(
        of parcels: ArchiveStore<Parcel>,
        in factory: ArchivesFactory
    ) throws -> Int {
        try UpdateTurn.$patience.withValue(.never) {
            try factory.transaction { transaction in
                let sizes = try ["a", "b", "c"].map {
                    try transaction.access(archiveWithKey: $0, in: parcels)?.size ?? 0
                }
                return sizes.reduce(0, +)
            }
        }
    }

    @Test func aTransactionInsideAnotherMayRead() throws {
        try temporary.factory.transaction { outer in
            _ = try outer.access(archiveWithKey: "a", in: parcels)
            try temporary.factory.transaction { inner in
                let found = try ["b", "c"].map { try inner.access(archiveWithKey: $0, in: parcels) }
                #expect(found == [nil, nil])
            }
            try outer.record(Parcel("a"), in: parcels)
        }
        #expect(try parcels.count() == 1)
    }

    /// Writes as another thread does while the closure of a transaction runs.
    private func byAnother(
        _ write: @escaping @Sendable (ArchiveStore<Parcel>) throws -> Void
    ) throws {
        try OnThread { [parcels] in Result { try write(parcels) } }.result().get()
    }
}

extension ArchiveTransaction {
    fileprivate mutating func both(
        _ one: String,
        _ other: String,
        in parcels: ArchiveStore<Parcel>
    ) throws -> (Parcel, Parcel)? {
        guard let one = try access(archiveWithKey: one, in: parcels),
            let other = try access(archiveWithKey: other, in: parcels)
        else {
            return nil
        }
        return (one, other)
    }
}
