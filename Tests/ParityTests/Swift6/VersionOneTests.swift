import Foundation
import TestThreads
import Testing
import Vellum

/// Types written for version 1, which have only `archiveData()` and `decode(archive:)`.
@Suite(.ownThreads)
struct VersionOneTests {
    @available(*, deprecated)
    struct Song: Archivable, Equatable {
        var primaryKey: String { title }
        var title: String

        func archiveData() throws -> Data { Data(title.utf8) }

        static func decode(archive data: Data) throws -> Archivable {
            Song(title: String(decoding: data, as: UTF8.self))
        }
    }

    @available(*, deprecated)
    class Album: Archivable {
        var primaryKey: String { title }
        var title = ""

        func archiveData() throws -> Data { Data(title.utf8) }

        static func decode(archive data: Data) throws -> Archivable {
            let album = Album()
            album.title = String(decoding: data, as: UTF8.self)
            return album
        }
    }

    /// A `Codable` type that writes its own data.
    struct Label: ArchiveCodable, Equatable {
        var primaryKey: String { name }
        var name: String

        func archiveData() throws -> Data { Data("label:\(name)".utf8) }

        static func decode(archive data: Data) throws -> Archivable {
            Label(name: String(decoding: data.dropFirst("label:".utf8.count), as: UTF8.self))
        }
    }

    let temporary = TemporaryArchives()

    @available(*, deprecated)
    @Test func aStructOfVersionOneIsRecordedAndAccessed() throws {
        let songs = try temporary.factory.archives(for: Song.self)

        songs.record(Song(title: "Alina"))

        #expect(songs.access(archiveWithKey: "Alina") == Song(title: "Alina"))
        #expect(Song(title: "Alina").sizeOfData == 5.bytes)
    }

    @available(*, deprecated)
    @Test func aClassOfVersionOneIsRecordedAndAccessed() throws {
        let albums = try temporary.factory.archives(for: Album.self)
        let album = Album()
        album.title = "Tabula rasa"

        albums.record(album)

        #expect(albums.access(archiveWithKey: "Tabula rasa")?.title == "Tabula rasa")
    }

    @available(*, deprecated)
    @Test func objectsOfVersionOneAreReadFromDisk() throws {
        try temporary.factory.archives(for: Song.self).record(Song(title: "Alina"))
        try temporary.factory.close()

        #expect(
            try temporary.factory.archives(for: Song.self).access(archiveWithKey: "Alina")
                == Song(title: "Alina")
        )
    }

    @Test func aCodableTypeStillHasTheOldNames() throws {
        let word = BasicUsageTests.Word(text: "vellum")

        #expect(
            try BasicUsageTests.Word.decode(archive: word.archiveData()) as? BasicUsageTests.Word
                == word
        )
    }

    @Test func aCodableTypeMayWriteItsOwnData() throws {
        let labels = try temporary.factory.store(for: Label.self)

        try labels.record(Label(name: "ECM"))

        #expect(try labels.metadata(forKey: "ECM")?.size == DataSize(bytes: "label:ECM".utf8.count))
        #expect(try labels.access(archiveWithKey: "ECM") == Label(name: "ECM"))
    }
}
