import Foundation
import Testing
import Vellum

@Suite(.timeLimit(.minutes(1)))
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

    @Test func readsInsideATransactionSeeTheStateBeforeIt() throws {
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
}
