import Foundation
import TestThreads
import Testing
import Vellum

/// The code blocks of "Basic Usage", "Archivable" and "ArchiveCodable".
@Suite(.ownThreads)
struct BasicUsageTests {
    struct MyArchivable: Archivable, Codable, Equatable {
        var primaryKey: String { key }
        var key: String
        var text: String
    }

    class UserObject: Archivable {

        var primaryKey: String { userName }
        var userName: String = ""
        var fullName: String = ""
        var age: Int = 0

        func archive() throws -> Data {
            Data("\(userName)\n\(fullName)\n\(age)".utf8)
        }

        static func deArchive(fromData data: Data) throws -> Archivable {
            let parts = String(decoding: data, as: UTF8.self).components(separatedBy: "\n")
            let user = UserObject()
            user.userName = parts[0]
            user.fullName = parts[1]
            user.age = Int(parts[2]) ?? 0
            return user
        }
    }

    struct User: Codable, Archivable {
        var primaryKey: String { userName }
        var userName: String
        var fullName: String
        var age: Int
    }

    struct Word: ArchiveCodable, Equatable {
        var primaryKey: String { text }
        var text: String
    }

    let temporary = TemporaryArchives()

    @Test func theFirstBlockRecordsAnObjectAndAccessesIt() {
        let myObject = MyArchivable(key: "object_key", text: "Recorded as the document records it.")

        // As the document writes it.
        // swift-format-ignore: NeverUseForceTry
        let archives = try! ArchivesFactory.shared.archives(
            for: MyArchivable.self,
            trySetMaxMemorySize: 10.megaByte,
            trySetMaxDiskSize: 20.megaByte
        )
        defer { archives.deleteAll() }

        // will insert object
        archives.record(myObject)

        let object = archives.access(archiveWithKey: "object_key")

        #expect(object == myObject)
        #expect(archives.maxSize == 30.megaByte)
    }

    @Test func aClassThatWritesItsOwnDataIsRecorded() throws {
        let archives = try temporary.factory.archives(for: UserObject.self)
        let user = UserObject()
        (user.userName, user.fullName, user.age) = ("ann", "Ann Lee", 37)

        archives.record(user)

        let found = try #require(archives.access(archiveWithKey: "ann"))
        #expect((found.userName, found.fullName, found.age) == ("ann", "Ann Lee", 37))
    }

    @Test func aClassIsReadFromDiskAfterReopening() throws {
        let user = UserObject()
        (user.userName, user.fullName) = ("ann", "Ann Lee")
        try temporary.factory.archives(for: UserObject.self).record(user)
        try temporary.factory.close()

        #expect(
            try temporary.factory.archives(for: UserObject.self).access(archiveWithKey: "ann")?
                .fullName == "Ann Lee"
        )
    }

    @Test func aCodableTypeNeedsOnlyAKey() throws {
        let archives = try temporary.factory.archives(for: User.self)

        archives.record(User(userName: "ann", fullName: "Ann Lee", age: 37))

        let found = try #require(archives.access(archiveWithKey: "ann"))
        #expect((found.userName, found.fullName, found.age) == ("ann", "Ann Lee", 37))
    }

    @Test func archiveCodableIsArchivableAndCodable() throws {
        let archives = try temporary.factory.archives(for: Word.self)

        archives.record(Word(text: "vellum"))

        #expect(archives.access(archiveWithKey: "vellum") == Word(text: "vellum"))
    }

    @Test func anObjectCanBeEncodedAndDecodedManually() throws {
        let word = Word(text: "vellum")

        let data = try word.archive()

        #expect(try Word.deArchive(fromData: data) as? Word == word)
        #expect(word.sizeOfData == data.dataSize)
    }

    @Test func anUnknownKeyReturnsNil() throws {
        #expect(
            try temporary.factory.archives(for: Word.self).access(archiveWithKey: "nothing") == nil
        )
    }
}
