import Foundation
import Testing
import Vellum

/// Invalid limits, folders and files.
@Suite(.timeLimit(.minutes(60)))
struct ArchivesFactoryInputTests {
    let temporary = TemporaryArchives()

    @Test(arguments: [DataSize.zero, -1, .bytes(.min), 0.0, .bits(-8)])
    func aLimitOfZeroOrLessIsAnError(limit: DataSize) {
        let factory = temporary.factory
        let directory = factory.directory
        let attempts: [() throws -> Void] = [
            { _ = try factory.store(for: User.self, memoryLimit: limit) },
            { _ = try factory.store(for: User.self, diskLimit: limit) },
            { _ = try ArchiveManager<User>(maxMemorySize: limit, maxDiskSize: 1.megaByte) },
            { _ = try ArchiveManager<Note>(maxMemorySize: 1.megaByte, maxDiskSize: limit) },
            { _ = try ArchivesFactory(directory: directory, defaultMaxMemorySize: limit).store(for: User.self) },
            { _ = try ArchivesFactory(directory: directory, defaultMaxDiskSize: limit).archives(for: User.self) },
        ]
        for attempt in attempts {
            let error = #expect(throws: VellumError.self) { try attempt() }
            #expect(error?.code == .invalidLimit)
        }
        #expect(!FileManager.default.fileExists(atPath: directory.path))
    }

    @Test func aFolderThatCannotBeMadeIsAnError() throws {
        try FileManager.default.createDirectory(at: temporary.directory, withIntermediateDirectories: true)
        try Data("a file".utf8).write(to: temporary.directory.appendingPathComponent("file"))
        let factory = temporary.anotherFactory("file/below")

        let attempts: [() throws -> Void] = [
            { _ = try factory.store(for: User.self) }, { _ = try factory.archives(for: User.self) },
            { _ = try factory.store(for: Note.self) }, { _ = try factory.archives(for: Note.self) },
        ]
        for attempt in attempts {
            let error = #expect(throws: VellumError.self) { try attempt() }
            #expect(error?.code == .cannotOpen)
        }
        #expect(try Data(contentsOf: temporary.directory.appendingPathComponent("file")) == Data("a file".utf8))
    }

    @Test func aFolderInPlaceOfTheFileIsAnErrorAndIsKept() throws {
        try FileManager.default.createDirectory(at: temporary.file, withIntermediateDirectories: true)

        #expect(throws: VellumError.self) { _ = try temporary.factory.store(for: User.self) }
        #expect(throws: VellumError.self) { _ = try temporary.factory.archives(for: User.self) }

        var isFolder: ObjCBool = false
        #expect(FileManager.default.fileExists(atPath: temporary.file.path, isDirectory: &isFolder))
        #expect(isFolder.boolValue)
    }

    @Test func aDirectoryURLOfAnotherHostIsAnError() throws {
        let factory = ArchivesFactory(directory: try #require(URL(string: "https://example.com/archives")))

        let error = #expect(throws: VellumError.self) { _ = try factory.archives(for: User.self) }

        #expect(error?.code == .cannotOpen)
    }

    // MARK: Files that are not databases

    private let letter = Data(String(repeating: "Dear Ann, this is a letter and no database. ", count: 100).utf8)

    @Test func openingAStoreDoesNotReplaceAFileThatIsNotADatabase() throws {
        try temporary.put(letter)

        let error = #expect(throws: VellumError.self) { _ = try temporary.factory.store(for: User.self) }

        #expect(error?.code == .notADatabase)
        #expect(try Data(contentsOf: temporary.file) == letter)
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.factory.directory.path) == ["Archives.sqlite"])
    }

    @Test func openingAManagerRenamesAFileThatIsNotADatabase() throws {
        try temporary.put(letter)

        let users = try temporary.factory.archives(for: User.self)
        users.record(User(name: "ann"))

        #expect(users.access(archiveWithKey: "ann") == User(name: "ann"))
        let names = try FileManager.default.contentsOfDirectory(atPath: temporary.factory.directory.path)
        let aside = try #require(names.filter { $0.contains(".damaged-") }.min { $0.count < $1.count })
        #expect(try Data(contentsOf: temporary.factory.directory.appendingPathComponent(aside)) == letter)
    }

    @Test func renamingAFileIsReported() async throws {
        try temporary.put(letter)

        let users = try temporary.factory.archives(for: User.self)
        let failures = users.failures
        users.record(User(name: "ann"))
        try users.store.close()

        var codes: [VellumError.Code] = []
        for await failure in failures { codes.append(failure.code) }
        #expect(codes == [.damagedFile])
    }

    @Test func anEmptyFileIsANewArchive() throws {
        try temporary.put(Data())

        try temporary.factory.store(for: User.self).record(User(name: "ann"))

        #expect(try temporary.factory.store(for: User.self).count() == 1)
    }
}
