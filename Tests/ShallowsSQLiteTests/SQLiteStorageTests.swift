import Foundation
import ShallowsSQLite
import Synchronization
import TestThreads
import Testing
import VellumTestSupport

@Suite(.ownThreads)
struct SQLiteStorageTests {
    let temporary: TemporaryStorages

    init() throws { temporary = try TemporaryStorages() }

    // MARK: Values

    @Test func aValueThatWasSetIsRetrieved() async throws {
        let cities = temporary.storage(of: City.self)
        try await cities.set(.kharkiv, forKey: "kharkiv")
        #expect(try await cities.retrieve(forKey: "kharkiv") == .kharkiv)
        try await cities.set(.lviv, forKey: "kharkiv")
        #expect(try await cities.retrieve(forKey: "kharkiv") == .lviv)
    }

    /// P42.
    @Test func aSuspendedStorageRefusesTheDiskUntilItIsResumed() async throws {
        let cities = temporary.storage(of: City.self)
        try await cities.set(.kharkiv, forKey: "kharkiv")
        try await cities.suspend()
        #expect(try await cities.retrieve(forKey: "kharkiv") == .kharkiv)
        let error = await #expect(throws: ShallowsError.self) {
            try await cities.set(.lviv, forKey: "lviv")
        }
        #expect(error?.code == .suspended)
        try await cities.resume()
        try await cities.set(.lviv, forKey: "lviv")
        #expect(try await cities.retrieve(forKey: "lviv") == .lviv)
    }

    @Test func aStorageIsSuspendedAndResumedWithoutATask() async throws {
        let cities = temporary.storage(of: City.self)
        try await cities.set(.kharkiv, forKey: "kharkiv")
        try cities.suspendAndWait()
        #expect(await code { try await cities.set(.lviv, forKey: "lviv") } == .suspended)
        try cities.resumeAndWait()
        try await cities.set(.lviv, forKey: "lviv")
        #expect(try await cities.retrieve(forKey: "lviv") == .lviv)
        try cities.resumeAndWait()
    }

    @Test func resumingAFileThatVanishedIsAFailure() async throws {
        let cities = temporary.storage(of: City.self)
        try await cities.set(.kharkiv, forKey: "kharkiv")
        try cities.suspendAndWait()
        try FileManager.default.removeItem(at: temporary.file)
        let error = #expect(throws: ShallowsError.self) { try cities.resumeAndWait() }
        #expect(error?.code == .vanished && error?.layer == "sqlite-storage")
    }

    @Test func aMissIsAMissWithItsKey() async throws {
        let cities = temporary.storage()
        #expect(try await cities.retrieveIfPresent(forKey: "nowhere") == nil)
        let error = await #expect(throws: ShallowsError.self) {
            try await cities.retrieve(forKey: "nowhere")
        }
        #expect(error?.isMiss == true && error?.code == .miss && error?.layer == "sqlite-storage")
        #expect(error?.key as? Filename == "nowhere")
    }

    @Test func emptyDataIsAValueAndNoMiss() async throws {
        let storage = temporary.storage(of: Data.self)
        try await storage.set(Data(), forKey: "")
        #expect(try await storage.retrieve(forKey: "") == Data())
        try await storage.close()
        #expect(try await temporary.storage(of: Data.self).retrieve(forKey: "") == Data())
    }

    @Test func nilIsAValueOfAnOptionalType() async throws {
        let storage = temporary.storage(of: Int?.self, memoryLimit: 1)
        try await storage.set(nil, forKey: "none")
        #expect(try await storage.retrieve(forKey: "none") == nil)
        #expect(try await storage.retrieveIfPresent(forKey: "none") == .some(.none))
        #expect(try await storage.retrieveIfPresent(forKey: "other") == nil)
    }

    /// FS6: the file would lie outside of the user's folder, or have a name that ends before it
    /// seems to.
    @Test(arguments: ["../x", "../../x", "a/../../x", "./../x", "a/../b", "../\u{301}x", "nul\0x"])
    func aNameThatLeadsElsewhereIsRefused(name: String) async throws {
        let storage = SQLiteStorage<Int>(name, in: .cachesDirectory)
        let error = await #expect(throws: ShallowsError.self) {
            try await storage.set(1, forKey: "a")
        }
        #expect(error?.code == .cannotOpen)
        #expect(!FileManager.default.fileExists(atPath: storage.fileURL.path))
    }

    @Test(arguments: ["", "a/b", "../..", "nul\0", "🛶", String(repeating: "long", count: 16_384)])
    func everyStringIsAKey(key: String) async throws {
        let storage = temporary.storage(of: String.self)
        try await storage.set("other", forKey: "other")
        try await storage.set(key, forKey: Filename(rawValue: key))
        #expect(try await storage.retrieve(forKey: Filename(rawValue: key)) == key)
        #expect(try await storage.retrieve(forKey: "other") == "other")
    }

    @Test func equalKeysAreOneKeyHoweverTheyWereTyped() async throws {
        let storage = temporary.storage(of: Int.self)
        try await storage.set(1, forKey: "e\u{301}")
        #expect(try await storage.retrieve(forKey: "é") == 1)
    }

    @Test func dataIsStoredAsItIsSoThatBothKindsOfStorageReadEachOther() async throws {
        let raw = temporary.storage(of: Data.self)
        try await raw.set(JSONEncoder().encode(City.kharkiv), forKey: "kharkiv")
        #expect(try await raw.statistics().disk.bytes == JSONEncoder().encode(City.kharkiv).count)
        try await raw.close()
        let cities = temporary.storage(of: City.self)
        #expect(try await cities.retrieve(forKey: "kharkiv") == .kharkiv)
    }

    @Test(arguments: [CodableFormat.cbor, .json])
    func valuesAreWrittenInTheFormatAndReadInEveryOne(_ format: CodableFormat) async throws {
        for (key, written) in [("in cbor", CodableFormat.cbor), ("in json", .json)]
            as [(Filename, CodableFormat)]
        {
            let cities = temporary.storage(format: written)
            try await cities.set(.kharkiv, forKey: key)
            try await cities.close()
            let raw = temporary.storage(of: Data.self, format: format)
            let bytes = try await raw.retrieve(forKey: key)
            // JSON has the keys of an object in any order.
            #expect(
                try bytes.count == written.encode(City.kharkiv).count
                    && bytes.first == written.encode(City.kharkiv).first
            )
            try await raw.close()
        }
        let cities = temporary.storage(format: format)
        for key in ["in cbor", "in json"] as [Filename] {
            #expect(try await cities.retrieve(forKey: key) == .kharkiv)
        }
    }

    @Test func valuesAreCBORUnlessTheFormatSaysOtherwise() async throws {
        let cities = SQLiteStorage<City>(
            fileURL: temporary.file,
            options: .init(clock: temporary.clock.wallClock)
        )
        try await cities.set(.kharkiv, forKey: "kharkiv")
        #expect(
            try await cities.statistics().disk.bytes
                == CodableFormat.cbor.encode(City.kharkiv).count
        )
        try await cities.close()
        #expect(
            try await temporary.storage(of: Data.self).retrieve(forKey: "kharkiv")
                == CodableFormat.cbor.encode(City.kharkiv)
        )
    }

    @Test func closingAStorageKeepsItsSettings() async throws {
        let size = try CodableFormat.json.encode(City.kharkiv).count
        var options = SQLiteStorageOptions()
        options.memoryLimit = DataSize(bytes: 2 * size)
        options.diskLimit = DataSize(bytes: 3 * size)
        options.expiration = .after(.seconds(60))
        options.durability = .powerSafe
        options.format = .json
        options.clock = temporary.clock.wallClock

        // A closed storage stays closed: the second round opens the file with another one.
        for _ in 0..<2 {
            let cities = SQLiteStorage<City>(fileURL: temporary.file, options: options)
            for number in 0..<5 {
                try await cities.set(.kharkiv, forKey: Filename(rawValue: "\(number)"))
            }
            let statistics = try await cities.statistics()
            #expect(statistics.memory.bytes <= 2 * size && statistics.disk.bytes == 3 * size)
            let crashSafe = SQLiteStorage<City>(fileURL: temporary.file)
            #expect(await code { try await crashSafe.open() } == .contradiction)

            try await cities.close()

            #expect(await code { try await cities.open() } == .closed)
            #expect(
                cities.storageName == "sqlite-storage"
                    && cities.underlyingStorage.storageName == "sqlite-storage"
            )
            #expect(cities.fileURL == temporary.file)
            #expect(cities.expiration == .after(.seconds(60)))
        }

        temporary.clock.advance(by: .seconds(60))
        #expect(
            try await SQLiteStorage<City>(fileURL: temporary.file, options: options).keys() == []
        )
    }

    @Test func genericCodeMakesTheSameFile() async throws {
        func set<Value: Codable & Sendable>(_ value: Value) async throws {
            let storage = temporary.storage(of: Value.self)
            try await storage.set(value, forKey: "key")
            try await storage.close()
        }
        try await set(data("bytes"))
        #expect(try await temporary.storage(of: Data.self).retrieve(forKey: "key") == data("bytes"))
    }

    // MARK: Transforms and compositions

    @Test func valuesAndKeysAreMapped() async throws {
        enum Key: String { case kharkiv }
        let storage = temporary.storage(of: Data.self)
        let cities = storage.mapValues(
            to: City.self,
            transformIn: { try JSONDecoder().decode(City.self, from: $0) },
            transformOut: { try JSONEncoder().encode($0) }
        )
        .usingStringKeys().mapKeys(toRawRepresentableType: Key.self)
        try await cities.set(.kharkiv, forKey: .kharkiv)
        #expect(try await cities.retrieve(forKey: .kharkiv) == .kharkiv)
        #expect(try await storage.keys() == ["kharkiv"])
        let one = temporary.storage(of: Data.self).singleKey("settings")
        try await one.set(data("on"))
        #expect(try await one.retrieve() == data("on"))
    }

    @Test func memoryInFrontIsFilledAndBothAreSet() async throws {
        let memory = MemoryStorage<Filename, City>()
        let sqlite = temporary.storage()
        let combined = memory.combined(with: sqlite)
        #expect(combined.storageName == "memory-storage-Filename:City<->sqlite-storage")
        try await combined.set(.kharkiv, forKey: "kharkiv")
        #expect(try await sqlite.retrieve(forKey: "kharkiv") == .kharkiv)
        memory.storage = [:]
        #expect(try await combined.retrieve(forKey: "kharkiv") == .kharkiv)
        #expect(memory.storage == ["kharkiv": .kharkiv])
    }

    @Test func aMissAsksTheNextLayerAndAFailureStops() async throws {
        let source = MemoryStorage<Filename, City>(storage: ["lviv": .lviv])
        let cached = temporary.storage().backed(by: source)
        #expect(try await cached.retrieve(forKey: "lviv") == .lviv)
        #expect(try await temporary.storage().retrieve(forKey: "lviv") == .lviv)

        let unopenable = SQLiteStorage<City>(
            fileURL: temporary.folder.url.appendingPathComponent("a.sqlite"),
            options: .init(memoryLimit: 0)
        )
        #expect(
            await code { _ = try await unopenable.combined(with: source).retrieve(forKey: "lviv") }
                == .invalidLimit
        )
    }

    @Test func updatesOfAKeyThroughTwoStoragesExcludeEachOther() async throws {
        try await temporary.storage(of: Int.self).set(0, forKey: "count")
        let storages = [temporary.storage(of: Int.self), temporary.storage(of: Int.self)]
        try await withThrowingTaskGroup { group in
            for number in 0..<100 {
                group.addTask { try await storages[number % 2].update(forKey: "count") { $0 += 1 } }
            }
            try await group.waitForAll()
        }
        #expect(try await storages[0].retrieve(forKey: "count") == 100)
    }

    // MARK: Removing

    @Test func aRemovedValueStaysRemoved() async throws {
        let cities = temporary.storage()
        try await cities.set(.kharkiv, forKey: "kharkiv")
        try await cities.set(.lviv, forKey: "lviv")
        try await cities.remove(forKey: "kharkiv")
        try await cities.remove(forKey: "nowhere")
        #expect(try await cities.retrieveIfPresent(forKey: "kharkiv") == nil)
        try await cities.removeAll()
        #expect(try await cities.retrieveIfPresent(forKey: "lviv") == nil)
        try await cities.close()
        #expect(try await temporary.storage().keys().isEmpty)
    }

    @Test func oneLayerIsClearedAlone() async throws {
        let memory = MemoryStorage<Filename, City>()
        let both = memory.asRemovableStorage().combined(with: temporary.storage())
        try await both.set(.kharkiv, forKey: "kharkiv")
        try await both.layers[1].removeAll()
        #expect(memory.storage == ["kharkiv": .kharkiv])
        try await both.removeAll()
        #expect(memory.storage.isEmpty)
    }

    // MARK: The whole

    @Test func acknowledgedValuesSurviveReopening() async throws {
        var cities: SQLiteStorage<City>? = temporary.storage()
        try await cities?.set(.kharkiv, forKey: "kharkiv")
        cities = nil
        #expect(try await temporary.storage().retrieve(forKey: "kharkiv") == .kharkiv)
    }

    @Test func keysAreListedInTheOrderOfUse() async throws {
        let storage = temporary.storage(of: Int.self)
        for key in ["a", "b", "c"] { try await storage.set(1, forKey: Filename(rawValue: key)) }
        _ = try await storage.retrieve(forKey: "a")
        #expect(try await storage.keys() == ["a", "c", "b"])
        #expect(try await storage.keys(limit: 1) == ["a"])
    }

    @Test func namesAndFoldersAreThoseOfAFolderOfFiles() throws {
        let storage = SQLiteStorage<Data>("cities/ukraine", in: .cachesDirectory)
        let caches = try #require(
            FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        )
        #expect(storage.fileURL == caches.appendingPathComponent("cities/ukraine.sqlite"))
        #expect(storage.storageName == "sqlite-ukraine")
        #expect(!FileManager.default.fileExists(atPath: storage.fileURL.path))
    }

    @Test func aStorageThatWasNeverUsedMakesNoFile() async throws {
        let storage = temporary.storage()
        #expect(!FileManager.default.fileExists(atPath: temporary.file.path))
        try await storage.open()
        #expect(FileManager.default.fileExists(atPath: temporary.file.path))
    }
}

/// Apart from the others, and one after another, because it counts for all.
@Suite(.ownThreads, .serialized)
struct SQLiteStorageWorkTests {
    let temporary: TemporaryStorages

    init() throws { temporary = try TemporaryStorages() }

    @Test func aWriteEncodesOnceAndAHitInMemoryDecodesNothing() async throws {
        let storage = temporary.storage(of: Counted.self)
        // A debug build decodes the first value of a type, to compare it.
        try await storage.set(Counted(0), forKey: "first")
        let (encodes, decodes) = (
            Counted.encodes.load(ordering: .relaxed), Counted.decodes.load(ordering: .relaxed)
        )
        try await storage.set(Counted(1), forKey: "one")
        for _ in 0..<10 { #expect(try await storage.retrieve(forKey: "one").number == 1) }
        #expect(Counted.encodes.load(ordering: .relaxed) - encodes == 1)
        #expect(Counted.decodes.load(ordering: .relaxed) - decodes == 0)
        try await storage.close()
        let reopened = temporary.storage(of: Counted.self)
        for _ in 0..<10 { #expect(try await reopened.retrieve(forKey: "one").number == 1) }
        #expect(Counted.decodes.load(ordering: .relaxed) - decodes == 1)
    }
}
