import Foundation
import TestThreads
import Testing
import Vellum

/// Changing a recorded or accessed object does not change the archive. (C13)
@Suite(.ownThreads)
struct ArchiveStoreAliasingTests {
    let temporary = TemporaryArchives()

    @Test func changingAnObjectAfterRecordingItDoesNotChangeTheArchive() throws {
        let notes = try temporary.factory.store(for: Note.self)
        let note = Note("note", text: "as recorded")
        try notes.record(note)

        note.text = "changed"

        #expect(try notes.access(archiveWithKey: "note")?.text == "as recorded")
    }

    @Test func changingAnAccessedObjectDoesNotChangeTheArchive() throws {
        let notes = try temporary.factory.store(for: Note.self)
        try notes.record(Note("note", text: "as recorded"))

        try notes.access(archiveWithKey: "note")?.text = "changed from memory"
        try notes.accessAll()[0].text = "changed from a list"
        notes.trimMemory(to: .zero)
        try notes.access(archiveWithKey: "note")?.text = "changed from the disk"

        #expect(try notes.access(archiveWithKey: "note")?.text == "as recorded")
    }

    @Test func eachAccessReturnsANewObject() throws {
        let notes = try temporary.factory.store(for: Note.self)
        try notes.record(Note("note"))

        #expect(try notes.access(archiveWithKey: "note") !== notes.access(archiveWithKey: "note"))
    }

    @Test func changingAnObjectInsideAStructDoesNotChangeTheArchive() throws {
        let structs = try temporary.factory.store(for: CountedUnsendable.self)
        let key = UUID().uuidString
        let object = CountedUnsendable(note: Note(key))
        try structs.record(object)

        object.note.title = "changed"

        #expect(try structs.access(archiveWithKey: key)?.primaryKey == key)
    }

    @Test func changingAStructDoesNotChangeTheArchive() throws {
        let parcels = try temporary.factory.store(for: Parcel.self)
        var parcel = Parcel("a", size: 100)
        try parcels.record(parcel)

        parcel.size = 200
        var accessed = try #require(try parcels.access(archiveWithKey: "a"))
        accessed.size = 300

        #expect(try parcels.access(archiveWithKey: "a") == Parcel("a", size: 100))
    }

    @Test func eachThreadGetsItsOwnObject() async throws {
        let notes = try temporary.factory.store(for: Note.self)
        try notes.record(Note("note", text: "as recorded"))

        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<50 {
                        let note = try #require(try notes.access(archiveWithKey: "note"))
                        #expect(note.text == "as recorded")
                        note.text = "\(task) \(number)"
                        #expect(note.text == "\(task) \(number)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func threadsRecordAndAccessConcurrently() async throws {
        let notes = try temporary.factory.store(for: Note.self)

        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<20 {
                        try notes.record(Note("\(task)", text: "\(number)"))
                        #expect(try notes.access(archiveWithKey: "\(task)")?.text == "\(number)")
                        _ = try notes.accessAll(limit: 3)
                    }
                }
            }
            try await group.waitForAll()
        }

        #expect(try notes.count() == 8)
        #expect(try Set(notes.accessAll().map(\.text)) == ["19"])
    }
}
