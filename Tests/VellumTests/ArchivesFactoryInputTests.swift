import Foundation
import TestThreads
import Testing
import Vellum

/// Invalid limits, folders and files.
@Suite(.ownThreads)
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
            {
                _ = try ArchivesFactory(directory: directory, defaultMaxMemorySize: limit).store(
                    for: User.self
                )
            },
            {
                _ = try ArchivesFactory(directory: directory, defaultMaxDiskSize: limit).archives(
                    for: User.self
                )
            },
        ]
        for attempt in attempts {
            let error = #expect(throws: VellumError.self) { try attempt() }
            #expect(error?.code == .invalidLimit)
        }
        #expect(!FileManager.default.fileExists(atPath: directory.path))
    }

    @Test func aFolderThatCannotBeMadeIsAnError() throws {
        try FileManager.default.createDirectory(
            at: temporary.directory,
            withIntermediateDirectories: true
        )
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
        #expect(
            try Data(contentsOf: temporary.directory.appendingPathComponent("file"))
                == Data("a file".utf8)
        )
    }

    @Test func aFolderInPlaceOfTheFileIsAnErrorAndIsKept() throws {
        try FileManager.default.createDirectory(
            at: temporary.file,
            withIntermediateDirectories: true
        )

        #expect(throws: VellumError.self) { _ = try temporary.factory.store(for: User.self) }
        #expect(throws: VellumError.self) { _ = try temporary.factory.archives(for: User.self) }

        var isFolder: ObjCBool = false
        #expect(FileManager.default.fileExists(atPath: temporary.file.path, isDirectory: &isFolder))
        #expect(isFolder.boolValue)
    }

    // MARK: Files that are not databases

    private let letter = Data(
        String(repeating: "Dear Ann, this is a letter and no database. ", count: 100).utf8
    )

    /// It is somebody else's: neither interface changes it, nor begins a file beside it.
    @Test func aFileThatIsNotADatabaseIsRefusedAndKept() throws {
        try temporary.put(letter)
        let factory = temporary.factory

        let attempts: [() throws -> Void] = [
            { _ = try factory.store(for: User.self) }, { _ = try factory.archives(for: User.self) },
            { _ = try factory.store(for: Note.self) }, { _ = try factory.archives(for: Note.self) },
            { _ = try factory.archives().count },
        ]
        for attempt in attempts {
            let error = #expect(throws: VellumError.self) { try attempt() }
            #expect(error?.code == .notADatabase)
        }
        #expect(try Data(contentsOf: temporary.file) == letter)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: factory.directory.path) == [
                "Archives.sqlite"
            ]
        )
    }

    @Test func aPropertyWhoseFileIsNotADatabaseReadsNilAndKeepsIt() throws {
        try temporary.put(letter)
        let user = Archived<User>(initialPrimaryKey: "ann", in: temporary.factory)

        user.wrappedValue = User(name: "ann")

        #expect(Archived<User>(initialPrimaryKey: "ann", in: temporary.factory).wrappedValue == nil)
        #expect(try Data(contentsOf: temporary.file) == letter)
    }

    /// A file of ours is recognized by its header, of which up to eight bytes may be wrong.
    private func damageHeader() throws {
        try temporary.factory.store(for: User.self).record(User(name: "ann"))
        try temporary.factory.close()
        var bytes = try Data(contentsOf: temporary.file)
        for offset in 0..<8 { bytes[offset] ^= 0xFF }
        try temporary.put(bytes)
    }

    @Test(arguments: [false, true])
    func aDamagedFileIsRenamedAndSalvagedByBothInterfaces(throwing: Bool) async throws {
        try damageHeader()

        let factory = temporary.factory
        let users =
            try throwing ? factory.store(for: User.self) : factory.archives(for: User.self).store
        let events = users.events
        #expect(try users.access(archiveWithKey: "ann") == User(name: "ann"))
        try users.close()

        var salvaged: [Int] = []
        for await case .setAside(_, let count) in events { salvaged.append(count) }
        #expect(salvaged == [1])
    }

    @Test func renamingAFileIsReported() async throws {
        try damageHeader()

        let users = try temporary.factory.archives(for: User.self)
        let failures = users.failures
        users.record(User(name: "bob"))
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
