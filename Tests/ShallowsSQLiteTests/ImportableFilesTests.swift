import Foundation
import ShallowsSQLite
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// Importing a folder of files into a storage.
@Suite(.timeLimit(.minutes(1)))
struct ImportableFilesTests {
    let temporary: TemporaryStorages

    init() throws { temporary = try TemporaryStorages() }

    private func files(_ range: Range<Int>, bytes: Int = 10) -> [(Filename, Data)] {
        range.map { (Filename(rawValue: "\($0)"), Data(repeating: UInt8($0 & 255), count: bytes)) }
    }

    // MARK: Moving

    @Test func everyValueIsImportedAndTheFolderIsEmpty() async throws {
        let folder = FakeFolder(files(0..<1000))
        let storage = temporary.storage(of: Data.self)
        let result = try await storage.importFiles(folder.importable)
        #expect(result.imported == 1000 && result.superseded == 0 && result.remaining.isEmpty)
        #expect(folder.keys.isEmpty)
        try await storage.close()
        let reopened = temporary.storage(of: Data.self)
        for (key, value) in files(0..<1000) { #expect(try await reopened.retrieve(forKey: key) == value) }
    }

    @Test func valuesOtherThanDataAreDecoded() async throws {
        let folder = try FakeFolder(["kharkiv": .kharkiv, "lviv": .lviv])
        let cities = temporary.storage()
        #expect(try await cities.importFiles(folder.importable).imported == 2)
        #expect(try await cities.retrieve(forKey: "lviv") == .lviv)
    }

    @Test func filesOfEveryFormatAreImportedAndStoredInTheFormatOfTheStorage() async throws {
        let folder = FakeFolder([
            ("kharkiv", try CodableFormat.cbor.encode(City.kharkiv)), ("lviv", try CodableFormat.json.encode(City.lviv)),
        ])
        let cities = temporary.storage()
        #expect(try await cities.importFiles(folder.importable).imported == 2)
        #expect(try await cities.retrieve(forKey: "kharkiv") == .kharkiv)
        #expect(try await cities.retrieve(forKey: "lviv") == .lviv)
        try await cities.close()
        let raw = temporary.storage(of: Data.self)
        #expect(try await raw.retrieve(forKey: "lviv") == CodableFormat.cbor.encode(City.lviv))
    }

    /// The size that counts is that of the stored bytes, whichever storage opened the file.
    @Test func nothingIsEvictedForAnImportThroughAStorageOfAnotherFormat() async throws {
        let size = try CodableFormat.json.encode(City.kharkiv).count
        let limit = DataSize(bytes: 4 * size)
        let json = temporary.storage(diskLimit: limit, format: .json)
        for number in 0..<3 { try await json.set(.kharkiv, forKey: Filename(rawValue: "\(number)")) }
        let folder = try FakeFolder(["a": .kharkiv, "b": .kharkiv])
        let result = try await temporary.storage(diskLimit: limit, format: .cbor).importFiles(folder.importable)
        #expect(result.imported == 1 && result.remaining.map(\.error.code) == [.noRoom])
        #expect(try await json.keys().count == 4)
    }

    @Test func aUserSuppliedDecoderReadsWhatATransformWrote() async throws {
        let folder = FakeFolder([("lviv", data("Lviv 1256"))])
        let cities = temporary.storage()
        let result = try await cities.importFiles(folder.importable) { data in
            let words = String(decoding: data, as: UTF8.self).split(separator: " ")
            return City(name: String(words[0]), foundationYear: try Int(words[1]).unwrap())
        }
        #expect(result.imported == 1)
        #expect(try await cities.retrieve(forKey: "lviv") == .lviv)
    }

    @Test func anEmptyFolderHasNothingToImport() async throws {
        let result = try await temporary.storage().importFiles(FakeFolder([]).importable)
        #expect(result.imported == 0 && result.remaining.isEmpty)
    }

    @Test func anImportedValueExpiresLikeOneThatIsSet() async throws {
        let storage = temporary.storage(of: Data.self, expiration: .after(.seconds(60)))
        try await storage.importFiles(FakeFolder(files(0..<1)).importable)
        #expect(try await storage.retrieveIfPresent(forKey: "0") != nil)
        temporary.clock.advance(by: .seconds(60))
        #expect(try await storage.retrieveIfPresent(forKey: "0") == nil)
    }

    @Test func aCallDuringAnImportMissesNoValue() async throws {
        let folder = FakeFolder(files(0..<600))
        let storage = temporary.storage(of: Data.self)
        let isMoving = AsyncStream.makeStream(of: Void.self)
        folder.beforeRemoving { _ in isMoving.continuation.yield() }
        async let result = storage.importFiles(folder.importable)
        for await _ in isMoving.stream { break }
        #expect(try await storage.retrieve(forKey: "599") == files(599..<600)[0].1)
        #expect(try await result.imported == 600)
    }

    // MARK: Newer values

    @Test func aValueThatExistsIsNewerAndStays() async throws {
        let folder = FakeFolder([("key", data("old")), ("other", data("other"))])
        let storage = temporary.storage(of: Data.self)
        try await storage.set(data("new"), forKey: "key")
        let result = try await storage.importFiles(folder.importable)
        #expect(result.imported == 1 && result.superseded == 1 && result.remaining.isEmpty)
        #expect(folder.keys.isEmpty)
        try await storage.close()
        #expect(try await temporary.storage(of: Data.self).retrieve(forKey: "key") == data("new"))
    }

    @Test func aNewerValueInMemoryOnlyKeepsTheFile() async throws {
        let folder = FakeFolder([("a", data("old")), ("key", data("old")), ("z", data("old"))])
        let storage = temporary.storage(of: Data.self, memoryLimit: 1000, diskLimit: 20)
        try await storage.set(Data(count: 100), forKey: "key")
        let result = try await storage.importFiles(folder.importable)
        #expect(result.imported == 2 && result.remaining.map(\.key) == ["key"])
        #expect(folder.keys == ["key"])
        #expect(try await storage.retrieve(forKey: "key") == Data(count: 100))
    }

    // MARK: Ended and made again

    @Test func aFileIsRemovedOnlyAfterItsValueIsInTheDatabase() async throws {
        let folder = FakeFolder(files(0..<600))
        let storage = temporary.storage(of: Data.self, durability: .relaxed)
        // Over a copy of what is on the disk at that moment, as a crash would leave it.
        let (file, copy) = (temporary.file.path, temporary.folder.file("copy.sqlite").path)
        let found = Locked<[Filename: Data]>([:])
        folder.beforeRemoving { key in
            guard ["0", "255", "256", "599"].contains(key) else { return }
            for suffix in ["", "-wal"] {
                if FileManager.default.fileExists(atPath: copy + suffix) { try FileManager.default.removeItem(atPath: copy + suffix) }
                // Another process: reading the file by itself in this one would drop SQLite's locks (P50).
                let copying = Process()
                copying.executableURL = URL(fileURLWithPath: "/bin/cp")
                copying.arguments = [file + suffix, copy + suffix]
                try copying.run()
                copying.waitUntilExit()
            }
            let crashed = SQLiteStorage<Data>(fileURL: URL(fileURLWithPath: copy))
            let value = try crashed.makeSyncStorage().retrieve(forKey: key)
            found.withLock { $0[key] = value }
            try crashed.closeAndWait()
        }
        #expect(try await storage.importFiles(folder.importable).imported == 600)
        #expect(
            found.withLock { $0 } == Dictionary(uniqueKeysWithValues: files(0..<600).filter { ["0", "255", "256", "599"].contains($0.0) }))
    }

    @Test(arguments: [0, 1, 255, 256, 300, 599])
    func anImportThatEndedAnywhereContinuesAndLosesNothing(removals: Int) async throws {
        let folder = FakeFolder(files(0..<600))
        let removed = Locked(0)
        // From here on nothing happens to the folder any more: as if the process had ended.
        folder.beforeRemoving { _ in
            let isOver = removed.withLock { removed in
                defer { removed += 1 }
                return removed >= removals
            }
            if isOver { throw FakeFolder.Failure() }
        }
        let storage = temporary.storage(of: Data.self)
        #expect(try await storage.importFiles(folder.importable).imported == removals)
        #expect(folder.keys.count == 600 - removals)
        try await storage.close()

        folder.beforeRemoving { _ in }
        let reopened = temporary.storage(of: Data.self)
        try await reopened.set(data("newer"), forKey: "300")
        let again = try await reopened.importFiles(folder.importable)
        #expect(again.imported == 0 && again.superseded == 600 - removals && folder.keys.isEmpty)
        for (key, value) in files(0..<600) {
            #expect(try await reopened.retrieve(forKey: key) == (key == "300" ? data("newer") : value))
        }
    }

    @Test func aCancelledImportContinues() async throws {
        let folder = FakeFolder(files(0..<1000))
        let storage = temporary.storage(of: Data.self)
        let started = AsyncStream.makeStream(of: Void.self)
        let isFirst = Locked(true)
        let mayGoOn = DispatchSemaphore(value: 0)
        folder.beforeRemoving { _ in
            guard
                isFirst.withLock({ isFirst in
                    defer { isFirst = false }; return isFirst
                })
            else { return }
            started.continuation.yield()
            mayGoOn.wait()
        }
        let task = Task { try await storage.importFiles(folder.importable) }
        for await _ in started.stream { break }
        task.cancel()
        mayGoOn.signal()
        let error = await #expect(throws: ShallowsError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(folder.keys.count == 1000 - 256)
        #expect(try await storage.importFiles(folder.importable).imported == 1000 - 256)
        #expect(try await storage.keys().count == 1000)
    }

    // MARK: What is left

    @Test func aFileThatCannotBeReadRemainsAndIsReported() async throws {
        let folder = FakeFolder(files(0..<5))
        folder.makeUnreadable("2")
        let storage = temporary.storage(of: Data.self)
        let result = try await storage.importFiles(folder.importable)
        #expect(result.imported == 4 && result.remaining.map(\.key) == ["2"] && result.remaining[0].error.code == .unreadableFile)
        #expect(folder.keys == ["2"])
        #expect(try await storage.retrieveIfPresent(forKey: "2") == nil)
        #expect(result.remaining[0].error.layer == "sqlite-storage")
    }

    @Test func aFileThatCannotBeDecodedRemainsAndIsReported() async throws {
        let folder = try FakeFolder(["kharkiv": .kharkiv])
        folder.put(data("no city"), "kharkiv")
        let result = try await temporary.storage().importFiles(folder.importable)
        #expect(result.remaining.map(\.error.code) == [.notDecodable] && folder.keys == ["kharkiv"])
    }

    @Test func aFileThatCannotBeRemovedIsReportedAndItsValueIsImported() async throws {
        let folder = FakeFolder(files(0..<3))
        folder.makeUnremovable("1")
        let storage = temporary.storage(of: Data.self)
        let result = try await storage.importFiles(folder.importable)
        #expect(result.imported == 2 && result.remaining.map(\.error.code) == [.unremovedFile])
        #expect(try await storage.retrieve(forKey: "1") == files(1..<2)[0].1)
    }

    @Test func aValueLargerThanTheDiskLimitRemainsEvenIfMemoryHasRoom() async throws {
        let folder = FakeFolder([("small", data("small")), ("large", Data(count: 101))])
        let storage = temporary.storage(of: Data.self, memoryLimit: 1.megaByte, diskLimit: 100)
        let result = try await storage.importFiles(folder.importable)
        #expect(result.imported == 1 && result.remaining.map(\.key) == ["large"] && result.remaining[0].error.code == .tooLarge)
        #expect(folder.keys == ["large"])
    }

    @Test func nothingIsEvictedForAnImport() async throws {
        let folder = FakeFolder(files(0..<20, bytes: 100))
        let storage = temporary.storage(of: Data.self, diskLimit: 1000)
        try await storage.set(Data(count: 100), forKey: "present")
        let result = try await storage.importFiles(folder.importable)
        #expect(result.imported == 9 && result.remaining.count == 11 && result.remaining.allSatisfy { $0.error.code == .noRoom })
        #expect(folder.keys.count == 11)
        #expect(try await storage.keys().count == 10)
        // A full storage still knows what it has.
        folder.put(files(0..<1)[0].1, "0")
        #expect(try await storage.importFiles(folder.importable).superseded == 1)
    }

    @Test func aFolderThatCannotBeListedFailsTheImport() async throws {
        let files = ImportableFiles(keys: { throw FakeFolder.Failure() }, read: { _ in nil }, remove: { _ in })
        let storage = temporary.storage()
        #expect(await code { try await storage.importFiles(files) } == .inputOutput)
    }

    @Test func aStorageThatCannotBeOpenedTouchesNoFile() async throws {
        try data(String(repeating: "no database ", count: 1000)).write(to: temporary.file)
        let folder = FakeFolder(files(0..<5))
        let storage = temporary.storage(of: Data.self)
        #expect(await code { try await storage.importFiles(folder.importable) } == .notADatabase)
        #expect(folder.keys.count == 5 && folder.reads == 0)
    }

    @Test func aFileThatIsRemovedMeanwhileIsSkipped() async throws {
        let files = ImportableFiles(keys: { ["gone"] }, read: { _ in nil }, remove: { _ in })
        let result = try await temporary.storage().importFiles(files)
        #expect(result.imported == 0 && result.remaining.isEmpty)
    }

    @Test func descriptionsHoldNoKey() async throws {
        let folder = FakeFolder([("secret", data("x"))])
        folder.makeUnreadable("secret")
        let result = try await temporary.storage(of: Data.self).importFiles(folder.importable)
        #expect(!"\(result) \(result.remaining)".contains("secret"))
    }
}
