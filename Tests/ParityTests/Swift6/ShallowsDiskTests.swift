import Foundation
import Shallows
import TestThreads
import Testing

/// The blocks of the document that keep values in files. Their folders bear the names of the
/// document's and a number, because the tests of three modes run at the same time.
@Suite(.ownThreads)
struct ShallowsDiskTests {
    nonisolated struct City: Codable {
        let name: String
        let foundationYear: Int
    }

    enum ImageKeys: String {
        case kitten, puppy, fish
    }

    /// "Usage"
    @Test func aCodableValueIsKeptOnDisk() async throws {
        let (answers, folder) = (Answers<String>(), OwnFolder("cities"))
        func callSite() {
            let diskStorage = DiskStorage.main.folder(folder.name, in: .cachesDirectory)
                .mapJSONObject(City.self)  // Storage<Filename, City>

            let kharkiv = City(name: "Kharkiv", foundationYear: 1654)
            diskStorage.set(kharkiv, forKey: "kharkiv")

            diskStorage.retrieve(forKey: "kharkiv") { (result) in
                if let city = try? result.get() { answers.give(city.name) }
            }
        }
        callSite()
        #expect(await answers.first == "Kharkiv")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
        let again: Storage<Filename, City> = DiskStorage.main.folder(
            folder.name,
            in: .cachesDirectory
        ).mapJSONObject(City.self)
        #expect(try await again.retrieve(forKey: "kharkiv").foundationYear == 1654)
    }

    /// "Keys and values can be mapped"
    @Test func imagesAreKeptOnDisk() async throws {
        let (answers, folder) = (Answers<String>(), OwnFolder("images"))
        func callSite() {
            // Storage<Filename, Data>
            let storage = DiskStorage.main.folder(folder.name, in: .cachesDirectory)
            let images =
                storage
                .mapValues(
                    to: UIImage.self,
                    transformIn: { data in try UIImage.init(data: data).unwrap() },
                    // Storage<Filename, UIImage>
                    transformOut: { image in try UIImagePNGRepresentation(image).unwrap() }
                )

            let keyedImages =
                images
                .usingStringKeys()
                .mapKeys(toRawRepresentableType: ImageKeys.self)  // Storage<ImageKeys, UIImage>

            storage.set(Data("PNG a kitten".utf8), forKey: "kitten")
            storage.set(Data("no image".utf8), forKey: "puppy")
            keyedImages.retrieve(
                forKey: .kitten,
                completion: { result in
                    answers.give("kitten: \((try? result.get())?.pixels ?? "none")")
                }
            )
            keyedImages.retrieve(
                forKey: .puppy,
                completion: { result in
                    answers.give("puppy: \((try? result.get())?.pixels ?? "none")")
                }
            )
            keyedImages.retrieve(
                forKey: .fish,
                completion: { result in
                    answers.give("fish: \((try? result.get())?.pixels ?? "none")")
                }
            )
        }
        callSite()
        // Files are read in this order; completions are called as threads come to it.
        #expect(await Set(answers.first(3)) == ["kitten: a kitten", "puppy: none", "fish: none"])
    }

    /// "you can compose MemoryStorage and FileSystemStorage"
    @Test func memoryIsInFrontOfTheDisk() async throws {
        let folder = OwnFolder("images")
        let disk = DiskStorage.main.folder(folder.name, in: .cachesDirectory)
        let imageStorage = disk.mapValues(
            to: UIImage.self,
            transformIn: { data in try UIImage.init(data: data).unwrap() },
            transformOut: { image in try UIImagePNGRepresentation(image).unwrap() }
        )
        let memory = MemoryStorage<Filename, UIImage>()
        let efficient = memory.combined(with: imageStorage)
        _ = MemoryStorage<Filename, UIImage>().combined(with: imageStorage)

        let kitten = try UIImage(data: Data("PNG a kitten".utf8)).unwrap()
        try await efficient.set(kitten, forKey: "kitten")
        #expect(memory.storage == ["kitten": kitten])
        #expect(try await disk.retrieve(forKey: "kitten") == Data("PNG a kitten".utf8))
        memory.storage = [:]
        #expect(try await efficient.retrieve(forKey: "kitten") == kitten)
        #expect(memory.storage == ["kitten": kitten])
    }

    /// "Read-only storages can also be mapped and composed"
    @Test func aReadOnlyStorageIsMappedAndComposed() async throws {
        let folder = OwnFolder("immutable", in: .applicationSupportDirectory)
        let immutableFileStorage = DiskStorage.main.folder(
            folder.name,
            in: .applicationSupportDirectory
        )
        .mapString(withEncoding: .utf8)
        .asReadOnlyStorage()
        let storage = MemoryStorage<Filename, String>()
            .backed(by: immutableFileStorage)
            .asReadOnlyStorage()  // ReadOnlyStorage<Filename, String>
        try await DiskStorage.main.folder(folder.name, in: .applicationSupportDirectory).set(
            Data("text".utf8),
            forKey: "a"
        )
        let typed: ReadOnlyStorage<Filename, String> = storage
        #expect(try await typed.retrieve(forKey: "a") == "text")
        #expect(try await typed.retrieveIfPresent(forKey: "b") == nil)
    }

    /// "Single element storage"
    @Test func oneElementIsKeptOnDisk() async throws {
        let (answers, folder) = (
            Answers<String>(), OwnFolder("settings", in: .applicationSupportDirectory)
        )
        func callSite() {
            let settings = DiskStorage.main.folder(folder.name, in: .applicationSupportDirectory)
                .mapJSONDictionary()
                .singleKey("settings")  // Storage<Void, [String: any Sendable]>
            settings.set(["volume": 0.5, "name": "a"])
            settings.retrieve { (result) in
                if let settings = try? result.get() {
                    answers.give(settings["name"] as? String ?? "none")
                }
            }
        }
        callSite()
        #expect(await answers.first == "a")
    }

    /// "Synchronous storage"
    @Test func stringsAreKeptSynchronously() throws {
        let folder = OwnFolder("strings")
        let strings = DiskStorage.main.folder(folder.name, in: .cachesDirectory)
            .mapString(withEncoding: .utf8)
            .makeSyncStorage()  // SyncStorage<Filename, String>
        try strings.set("hello", forKey: "hello")
        let existing = try strings.retrieve(forKey: "hello")
        try strings.set(existing.uppercased(), forKey: "hello")
        #expect(try strings.retrieve(forKey: "hello") == "HELLO")
    }

    /// "3-layer composition?": the expression of the thread.
    @Test func threeLayersAreOneExpression() async throws {
        let (folder, remote) = (OwnFolder("myObjects"), MemoryStorage<Filename, Data>())
        let cache = MemoryStorage<Filename, City>()
            .combined(
                with: DiskStorage.main.folder(folder.name, in: .cachesDirectory).mapJSONObject(
                    City.self
                )
            )
            .combined(
                with: remote.mapKeys { Filename(rawValue: "collection/" + $0.rawValue) }
                    .mapJSONObject(City.self)
            )
        remote.storage["collection/kharkiv"] = Data(
            #"{"name":"Kharkiv","foundationYear":1654}"#.utf8
        )
        #expect(try await cache.retrieve(forKey: "kharkiv").foundationYear == 1654)
        remote.storage = [:]
        let disk = DiskStorage.main.folder(folder.name, in: .cachesDirectory).mapJSONObject(
            City.self
        )
        #expect(try await disk.retrieve(forKey: "kharkiv").name == "Kharkiv")
    }
}

/// Names that the shipped code has for files.
@Suite(.ownThreads)
struct ShallowsFolderTests {
    private let own = OwnFolder("folder")

    /// Names, as the original gives them.
    @Test func aFolderHasAFileForEachKey() async throws {
        let folder: DiskFolderStorage = DiskStorage.main.folder(
            own.name,
            in: .cachesDirectory,
            domainMask: .userDomainMask,
            filenameEncoder: .base64
        )
        #expect(folder.folderURL.standardizedFileURL.path == own.url.standardizedFileURL.path)
        try await folder.set(Data("a".utf8), forKey: "key")
        let file = folder.fileURL(forFilename: "key")
        #expect(file.lastPathComponent == "a2V5")
        #expect(try Data(contentsOf: file) == Data("a".utf8))
        #expect(
            try await folder.asReadOnlyStorage().retrieve(forKey: Filename(rawValue: "key"))
                == Data("a".utf8)
        )
        folder.clear()
        #expect(try await folder.retrieveIfPresent(forKey: "key") == nil)
    }

    @Test(arguments: [
        (Filename.Encoder.base64, "a2V5"), (.base64URL, "a2V5"), (.noEncoding, "key"),
        (.custom { "own-" + $0.rawValue }, "own-key"),
    ])
    func namesAreEncodedAsTold(_ encoder: Filename.Encoder, _ name: String) async throws {
        let folder = DiskStorage.main.folder(
            own.name,
            in: .cachesDirectory,
            filenameEncoder: encoder
        )
        try await folder.set(Data("a".utf8), forKey: "key")
        #expect(folder.fileURL(forFilename: "key").lastPathComponent == name)
        #expect(try Data(contentsOf: own.url.appendingPathComponent(name)) == Data("a".utf8))
    }

    @Test func aFolderIsMadeByItsURL() async throws {
        let durability: Durability = .powerSafe
        let folder = DiskFolderStorage(folderURL: own.url, durability: durability)
        try await folder.set(Data("a".utf8), forKey: "key")
        #expect(
            try await folder.mapString(withEncoding: .utf8).usingStringKeys().retrieve(
                forKey: "key"
            ) == "a"
        )
    }

    @Test func aFolderMayBeClearedWhenNobodyHasItAnyMore() throws {
        func use() throws {
            let folder = DiskFolderStorage(folderURL: own.url)
            folder.clearsOnDeinit = true
            try folder.makeSyncStorage().set(Data("a".utf8), forKey: "key")
            #expect(FileManager.default.fileExists(atPath: folder.fileURL(forFilename: "key").path))
        }
        try use()
        #expect(
            !FileManager.default.fileExists(atPath: own.url.appendingPathComponent("a2V5").path)
        )
    }

    @Test func theDiskItselfIsAStorageOfURLs() async throws {
        let file = own.url.appendingPathComponent("deep/er/file")
        let disk: Storage<URL, Data> = DiskStorage.main.asStorage()
        try await disk.set(Data("a".utf8), forKey: file)
        #expect(try Data(contentsOf: file) == Data("a".utf8))
        #expect(try await DiskStorage.main.retrieve(forKey: file) == Data("a".utf8))
        #expect(
            try await disk.retrieveIfPresent(forKey: own.url.appendingPathComponent("none")) == nil
        )
    }

    /// Base64 has a character that no file name may have: a file under such a name is found again.
    @Test(arguments: ["???", "a/b", "..", "", "ключ", String(repeating: "long", count: 200)])
    func everyKeyIsAFile(_ key: String) async throws {
        let strings = DiskFolderStorage(folderURL: own.url).usingStringKeys()
        try await strings.set(Data(key.utf8), forKey: key)
        #expect(try await strings.retrieve(forKey: key) == Data(key.utf8))
        #expect(try await strings.retrieveIfPresent(forKey: key + "?") == nil)
    }

    @Test func filesAreRemoved() async throws {
        let folder = DiskFolderStorage(folderURL: own.url)
        let memory = MemoryStorage<Filename, Data>()
        let storage = memory.asRemovableStorage().combined(with: folder)
        try await storage.set(Data(), forKey: "a")
        try await storage.set(Data(), forKey: "b")
        try await storage.layers[1].remove(forKey: "a")
        #expect(try await folder.retrieveIfPresent(forKey: "a") == nil)
        #expect(memory.storage.count == 2)
        try await storage.removeAll()
        #expect(try await folder.retrieveIfPresent(forKey: "b") == nil)
        #expect(memory.storage == [:])
    }
}
