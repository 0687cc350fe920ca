import Foundation
import TestThreads
import Testing
import Vellum

/// Defects V9 to V13 of the original library, which this package does not have.
@Suite(.ownThreads)
struct MoreDefectTests {
    class Note: Archivable {
        var primaryKey: String { title }
        var title = ""
        var text = ""

        init(_ title: String, text: String = "") {
            self.title = title
            self.text = text
        }

        func archive() throws -> Data { Data("\(title)\n\(text)".utf8) }

        static func deArchive(fromData data: Data) throws -> Archivable {
            let parts = String(decoding: data, as: UTF8.self).components(separatedBy: "\n")
            return Note(parts[0], text: parts[1])
        }
    }

    struct Counted: Archivable {
        static let encodes = Tally()
        var primaryKey: String

        func archive() throws -> Data {
            Self.encodes.add()
            return Data(primaryKey.utf8)
        }

        static func deArchive(fromData data: Data) throws -> Archivable {
            Counted(primaryKey: String(decoding: data, as: UTF8.self))
        }
    }

    let temporary = TemporaryArchives()

    @Test func v9ListingDoesNotAffectTheEvictionOrder() throws {
        let archives = try temporary.factory.archives(
            for: Parcel.self,
            trySetMaxMemorySize: 200,
            trySetMaxDiskSize: 400
        )
        for key in ["a", "b", "c", "d"] { archives.record(Parcel(key, size: 100)) }
        temporary.clock.advance(bySeconds: 60)

        _ = archives.accessAll()
        _ = archives.accessAll(limitedBy: 3)
        _ = archives.latestAccessedTime(for: "a")
        _ = archives.currentSize

        #expect(
            archives.latestAccessedTime(for: "a") == temporary.clock.now.addingTimeInterval(-60)
        )
        archives.record(Parcel("e", size: 100))
        #expect(archives.accessAll().map(\.primaryKey) == ["e", "d", "c", "b"])
    }

    @Test func v10TheLeastRecentlyUsedObjectIsEvictedFirst() throws {
        let archives = try temporary.factory.archives(
            for: Parcel.self,
            trySetMaxMemorySize: 500,
            trySetMaxDiskSize: 5000
        )
        let keys = (0..<50).map { "\($0)" }
        archives.insert(all: keys.map { Parcel($0, size: 100) })
        // Access in an order that differs from the order of recording.
        let used = (0..<50).map { "\($0 * 7 % 50)" }
        for key in used { _ = archives.access(archiveWithKey: key) }

        for number in 0..<20 { archives.record(Parcel("new-\(number)", size: 100)) }

        #expect(archives.accessAll().map(\.primaryKey).suffix(30) == used.suffix(30).reversed())
        #expect(try archives.store.statistics().disk.bytes == 5000)
    }

    @Test func v11ThreadsMayRecordAndAccessConcurrently() async throws {
        let archives = try temporary.factory.archives(for: Note.self)

        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<25 {
                        archives.record(Note("\(task)-\(number)", text: "\(number)"))
                        archives.record(Note("shared", text: "\(number)"))
                        _ = archives.access(archiveWithKey: "shared")
                    }
                }
            }
        }

        #expect(try archives.store.count() == 201)
        #expect(archives.access(archiveWithKey: "7-24")?.text == "24")
    }

    @Test func v11ChangingAnObjectDoesNotChangeTheArchive() throws {
        let archives = try temporary.factory.archives(for: Note.self)
        let note = Note("note", text: "as recorded")
        archives.record(note)

        note.text = "changed after recording"
        #expect(archives.access(archiveWithKey: "note")?.text == "as recorded")

        archives.access(archiveWithKey: "note")?.text = "changed after accessing"
        archives.accessAll().first?.text = "changed after listing"
        #expect(archives.access(archiveWithKey: "note")?.text == "as recorded")
    }

    @Test func v12TheEvictionOrderDoesNotDependOnFileDates() throws {
        let archives = try temporary.factory.archives(for: Parcel.self)
        for key in ["a", "b", "c"] { archives.record(Parcel(key, size: 100)) }
        _ = archives.access(archiveWithKey: "a")
        let used = archives.latestAccessedTime(for: "a")
        try temporary.factory.close()

        // File dates as after restoring a backup on a machine whose clock went back.
        for file in try FileManager.default.contentsOfDirectory(atPath: temporary.directory.path) {
            let path = temporary.directory.appendingPathComponent(file).path
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1)],
                ofItemAtPath: path
            )
        }
        temporary.clock.advance(bySeconds: -86400)

        let reopened = try temporary.factory.archives(for: Parcel.self)
        #expect(reopened.latestAccessedTime(for: "a") == used)
        #expect(reopened.accessAll().map(\.primaryKey) == ["a", "c", "b"])
    }

    @Test func v13AnObjectIsEncodedOnceForEachWrite() throws {
        let archives = try temporary.factory.archives(for: Counted.self)

        archives.record(Counted(primaryKey: "a"))
        archives.update(Counted(primaryKey: "a"))
        archives.insert(Counted(primaryKey: "b"), Counted(primaryKey: "c"))
        _ = archives.currentSize
        archives.delete(Counted(primaryKey: "a"))

        #expect(Counted.encodes.count == 4)
    }
}
