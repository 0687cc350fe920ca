import Foundation
import ShallowsSQLite
import TestThreads
import Testing
import VellumTestSupport

/// Files that are not what they should be, and storages that were closed.
@Suite(.ownThreads)
struct SQLiteStorageFailureTests {
    let temporary: TemporaryStorages

    init() throws { temporary = try TemporaryStorages() }

    // MARK: Opening

    @Test func aFileThatIsNotADatabaseIsRefusedAndUnchanged() async throws {
        let text = data(String(repeating: "a letter to a friend ", count: 500))
        try text.write(to: temporary.file)
        let storage = temporary.storage()
        #expect(await code { try await storage.open() } == .notADatabase)
        #expect(await code { _ = try await storage.retrieve(forKey: "kharkiv") } == .notADatabase)
        #expect(await code { try await storage.set(.kharkiv, forKey: "kharkiv") } == .notADatabase)
        #expect(throws: ShallowsError.self) {
            try storage.makeSyncStorage().set(.kharkiv, forKey: "kharkiv")
        }
        #expect(try Data(contentsOf: temporary.file) == text)
    }

    @Test func aFailureIsNotAMiss() async throws {
        try data(String(repeating: "xyz", count: 5000)).write(to: temporary.file)
        let storage = temporary.storage()
        await #expect(throws: ShallowsError.self) {
            try await storage.retrieveIfPresent(forKey: "kharkiv")
        }
        let error = await #expect(throws: ShallowsError.self) {
            try await storage.retrieve(forKey: "kharkiv")
        }
        #expect(
            error?.isMiss == false && error?.layer == "sqlite-storage"
                && error?.key as? Filename == "kharkiv"
        )
        #expect((error?.cause as? VellumError)?.code == .notADatabase)
        #expect(!"\(String(describing: error))".contains("kharkiv"))
    }

    @Test func openingIsTriedAgainByTheNextCall() async throws {
        let folder = temporary.folder.file("folder")
        try data("in the way").write(to: folder)
        let storage = SQLiteStorage<Int>(fileURL: folder.appendingPathComponent("storage.sqlite"))
        #expect(await code { try await storage.set(1, forKey: "number") } == .cannotOpen)
        try FileManager.default.removeItem(at: folder)
        try await storage.set(1, forKey: "number")
        #expect(try await storage.retrieve(forKey: "number") == 1)
    }

    @Test(arguments: [(0, 1), (1, 0), (-1, 1), (1, -1)])
    func aLimitThatHoldsNothingIsAnErrorAndMakesNoFile(memory: Int, disk: Int) async throws {
        let storage = temporary.storage(
            of: Int.self,
            memoryLimit: DataSize(bytes: memory),
            diskLimit: DataSize(bytes: disk)
        )
        #expect(await code { try await storage.open() } == .invalidLimit)
        #expect(!FileManager.default.fileExists(atPath: temporary.file.path))
    }

    // MARK: Values

    @Test func aValueThatCannotBeDecodedIsAFailureWithItsKey() async throws {
        let raw = temporary.storage(of: Data.self)
        try await raw.set(data("no city"), forKey: "kharkiv")
        try await raw.close()
        let cities = temporary.storage()
        let error = await #expect(throws: ShallowsError.self) {
            try await cities.retrieve(forKey: "kharkiv")
        }
        #expect(
            error?.code == .notDecodable && error?.isMiss == false
                && error?.key as? Filename == "kharkiv"
        )
        try await cities.set(.kharkiv, forKey: "kharkiv")
        #expect(try await cities.retrieve(forKey: "kharkiv") == .kharkiv)
    }

    @Test func aValueThatCannotBeEncodedIsAFailure() async throws {
        struct Unencodable: Codable, Sendable {
            struct Failure: Error {}
            func encode(to encoder: any Encoder) throws { throw Failure() }
        }
        let storage = temporary.storage(of: Unencodable.self)
        #expect(await code { try await storage.set(Unencodable(), forKey: "key") } == .notEncodable)
        #expect(try await storage.keys().isEmpty)
    }

    // MARK: Closing

    @Test func aClosedStorageFailsAndANewOneHasItAll() async throws {
        let storage = temporary.storage()
        storage.set(.kharkiv, forKey: "kharkiv") { _ in }
        try await storage.close()
        try await storage.close()
        #expect(await code { _ = try await storage.retrieve(forKey: "kharkiv") } == .closed)
        #expect(await code { try await storage.set(.lviv, forKey: "lviv") } == .closed)
        #expect(await code { _ = try await storage.keys() } == .closed)
        #expect(try await temporary.storage().retrieve(forKey: "kharkiv") == .kharkiv)
    }

    @Test func closingAStorageLeavesAnotherOnTheFile() async throws {
        let (one, other) = (temporary.storage(), temporary.storage())
        try await one.set(.kharkiv, forKey: "kharkiv")
        _ = try await other.retrieve(forKey: "kharkiv")
        try other.closeAndWait()
        #expect(await code { _ = try await other.retrieve(forKey: "kharkiv") } == .closed)
        #expect(try await one.retrieve(forKey: "kharkiv") == .kharkiv)
        try await one.set(.lviv, forKey: "lviv")
        try one.closeAndWait()
        try FileManager.default.removeItem(at: temporary.file)
        #expect(try await temporary.storage().keys().isEmpty)
    }

    @Test func aStorageThatIsClosedBeforeItOpensNeverOpens() async throws {
        let storage = temporary.storage()
        try storage.closeAndWait()
        #expect(await code { try await storage.open() } == .closed)
        #expect(!FileManager.default.fileExists(atPath: temporary.file.path))
    }

    @Test func aCancelledTaskIsSparedTheWork() async throws {
        let storage = temporary.storage(of: Int.self)
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: CancellationError.self) {
                try await storage.set(1, forKey: "number")
            }
        }.value
        #expect(try await storage.retrieveIfPresent(forKey: "number") == nil)
    }

    @Test func flushingWorksWithAndWithoutATask() async throws {
        let storage = temporary.storage(of: Int.self, durability: .relaxed)
        storage.set(1, forKey: "number") { _ in }
        try storage.flushAndWait()
        try await storage.flush()
        #expect(try await storage.retrieve(forKey: "number") == 1)
    }
}
