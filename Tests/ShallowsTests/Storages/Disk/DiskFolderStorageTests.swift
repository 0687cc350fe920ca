import Foundation
import Shallows
import TestThreads
import Testing
import VellumTestSupport

@Suite(.ownThreads)
struct DiskFolderStorageTests {
    private let temporary: TemporaryDirectory
    private let folder: DiskFolderStorage

    init() throws {
        temporary = try TemporaryDirectory()
        folder = DiskFolderStorage(
            folderURL: temporary.url.appendingPathComponent("folder", isDirectory: true)
        )
    }

    /// In a function that is not `async`: there, the one that is would be called.
    private func setWithoutWaiting(_ value: Data, _ key: Filename) {
        folder.set(value, forKey: key)
    }

    @Test func aRetrievalFindsAValueThatWasSetBeforeWithoutWaiting() async throws {
        for number in 0..<100 {
            setWithoutWaiting(Data([UInt8(number)]), "a")
            #expect(try await folder.retrieve(forKey: "a") == Data([UInt8(number)]))
        }
        let sync = folder.makeSyncStorage()
        for number in 0..<100 {
            setWithoutWaiting(Data([UInt8(number)]), "a")
            #expect(try sync.retrieve(forKey: "a") == Data([UInt8(number)]))
        }
    }

    /// A storage that is made at each use, as one finds it in code of users.
    @Test func storagesOnOneFolderShareTheOrderOfCalls() async throws {
        let url = folder.folderURL
        let spellings = [
            url, url.appendingPathComponent("../folder", isDirectory: true),
            URL(fileURLWithPath: url.path),
        ]
        for number in 0..<200 {
            DiskFolderStorage(folderURL: spellings[number % 3]).set(
                Data([UInt8(number)]),
                forKey: "a",
                completion: { _ in }
            )
            let found = try await DiskFolderStorage(folderURL: spellings[(number + 1) % 3])
                .retrieve(forKey: "a")
            #expect(found == Data([UInt8(number)]))
        }
    }

    @Test func aFileAndItsFolderShareTheOrderOfCalls() async throws {
        let url = folder.folderURL.appendingPathComponent("YQ==")
        for number in 0..<100 {
            DiskStorage.main.set(Data([UInt8(number)]), forKey: url, completion: { _ in })
            #expect(
                try await DiskFolderStorage(folderURL: folder.folderURL).retrieve(forKey: "a")
                    == Data([UInt8(number)])
            )
        }
    }

    @Test func aFilesDurabilityIsAskedFor() async throws {
        let url = folder.folderURL.appendingPathComponent("file")
        let storage = DiskStorage(durability: .powerSafe)
        #expect(storage.durability == .powerSafe && DiskStorage.main.durability == .crashSafe)
        try await storage.set(Data([1]), forKey: url)
        #expect(try await storage.retrieve(forKey: url) == Data([1]))
    }

    /// S4: a completion that waits for the storage that called it.
    @Test func aCompletionMayWaitForTheSameFolder() async throws {
        let sync = folder.makeSyncStorage()
        try sync.set(Data([1]), forKey: "a")
        let value: Data? = await withCheckedContinuation { continuation in
            folder.retrieve(forKey: "a") { [folder] _ in
                folder.set(Data([2]), forKey: "a")
                continuation.resume(returning: try? sync.retrieve(forKey: "a"))
            }
        }
        #expect(value == Data([2]))
    }

    @Test func keysAreListedAndRemoved() async throws {
        for key in ["a", "é", "", "../x", "a/b"] as [Filename] {
            try await folder.set(Data([1]), forKey: key)
        }
        #expect(try await Set(folder.keys()) == ["a", "é", "", "../x", "a/b"])
        try await folder.remove(forKey: "a/b")
        try await folder.remove(forKey: "a/b")
        #expect(try await folder.retrieveIfPresent(forKey: "a/b") == nil)
        #expect(try await folder.keys().count == 4)
        try await folder.removeAll()
        #expect(try await folder.keys().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder.folderURL.path))
    }

    @Test func aFileIsNamedAsTheEncoderSays() throws {
        let sync = folder.makeSyncStorage()
        try sync.set(Data([1]), forKey: "kharkiv")
        #expect(
            folder.fileURL(forFilename: "kharkiv").lastPathComponent
                == Filename("kharkiv").base64Encoded()
        )
        #expect(try Data(contentsOf: folder.fileURL(forFilename: "kharkiv")) == Data([1]))
        let plain = DiskFolderStorage(folderURL: folder.folderURL, filenameEncoder: .noEncoding)
        #expect(plain.fileURL(forFilename: "kharkiv").lastPathComponent == "kharkiv")
        let custom = DiskFolderStorage(
            folderURL: folder.folderURL,
            filenameEncoder: .custom { $0.rawValue + ".json" }
        )
        #expect(custom.fileURL(forFilename: "kharkiv").lastPathComponent == "kharkiv.json")
    }

    @Test func aMissNamesItsKeyAndAFailureItsCause() async throws {
        let miss = await #expect(throws: ShallowsError.self) {
            try await folder.retrieve(forKey: "nothing")
        }
        #expect(
            miss?.isMiss == true && miss?.key as? Filename == "nothing"
                && miss?.layer == "disk-folder"
        )
        try FileManager.default.createDirectory(
            at: temporary.url,
            withIntermediateDirectories: true
        )
        try Data().write(to: folder.folderURL)
        let failure = await #expect(throws: ShallowsError.self) {
            try await folder.set(Data(), forKey: "secret")
        }
        #expect(
            failure?.isMiss == false && failure?.code == .inputOutput
                && failure?.cause is POSIXError
        )
        #expect(
            failure.map { !"\($0)".contains("secret") && "\($0)".contains(temporary.url.path) }
                == true
        )
    }

    @Test func clearRunsAfterEarlierCallsAndReportsFailures() async throws {
        setWithoutWaiting(Data([1]), "a")
        folder.clear()
        #expect(try await folder.retrieveIfPresent(forKey: "a") == nil)
    }

    @Test func aFolderIsClearedWhenNoOneHoldsItAnyMore() throws {
        let url = temporary.url.appendingPathComponent("transient", isDirectory: true)
        var sync: SyncStorage<Filename, Data>?
        do {
            let transient = DiskFolderStorage(folderURL: url)
            transient.clearsOnDeinit = true
            sync = transient.makeSyncStorage()
        }
        try sync?.set(Data([1]), forKey: "a")
        #expect(try sync?.retrieve(forKey: "a") == Data([1]))
        sync = nil
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func aFolderIsNotMadeUnlessAskedFor() async throws {
        let storage = DiskFolderStorage(
            folderURL: temporary.url.appendingPathComponent("missing"),
            creatingDirectories: false
        )
        await #expect(throws: ShallowsError.self) { try await storage.set(Data(), forKey: "a") }
        #expect(!FileManager.default.fileExists(atPath: storage.folderURL.path))
        let files = DiskStorage(creatingDirectories: false)
        await #expect(throws: ShallowsError.self) {
            try await files.set(Data(), forKey: storage.folderURL.appendingPathComponent("a"))
        }
    }

    @Test(arguments: [
        FileManager.SearchPathDirectory.cachesDirectory, .applicationSupportDirectory,
        .documentDirectory,
    ])
    func theDomainMaskIsHonoured(directory: FileManager.SearchPathDirectory) {
        for mask in [FileManager.SearchPathDomainMask.userDomainMask, .localDomainMask] {
            let storage = DiskStorage.main.folder("name", in: directory, domainMask: mask)
            let parent =
                FileManager.default.urls(for: directory, in: mask).first
                ?? FileManager.default.temporaryDirectory
            #expect(storage.folderURL == parent.appendingPathComponent("name", isDirectory: true))
        }
    }

    @Test func singleFilesAreStoragesByTheirURLs() async throws {
        let url = temporary.url.appendingPathComponent("deep/down/settings.txt")
        let settings = DiskStorage.main.mapString().singleKey(url)
        await #expect { try await settings.retrieve() } throws: {
            ($0 as? any StorageMiss)?.isMiss == true
        }
        try await settings.set("x")
        #expect(try String(contentsOf: url, encoding: .utf8) == "x")
        #expect(
            DiskStorage.directoryURL(of: url)
                == temporary.url.appendingPathComponent("deep/down", isDirectory: true)
        )
    }

    @Test func powerSafetyIsAskedFor() async throws {
        let storage = DiskFolderStorage(folderURL: folder.folderURL, durability: .powerSafe)
        try await storage.set(Data(count: 100_000), forKey: "a")
        #expect(try await storage.retrieve(forKey: "a").count == 100_000)
    }

    @Test func aStackOnDiskPurgesMemoryAndKeepsTheDisk() async throws {
        let memory = MemoryStorage<Filename, String>()
        let cache = memory.asRemovableStorage().combined(
            with: folder.asRemovableStorage().mapString()
        )
        try await cache.set("x", forKey: "a")
        try await cache.layers[0].removeAll()
        #expect(memory.storage.isEmpty)
        #expect(try await cache.retrieve(forKey: "a") == "x")
        try await cache.remove(forKey: "a")
        #expect(try await cache.retrieveIfPresent(forKey: "a") == nil)
    }
}
