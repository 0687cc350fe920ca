import Foundation
import Shallows
import TestThreads
import Testing

// What programs that use Shallows have of their own: extensions of its protocols and of its types,
// functions that take storages, and properties that hold them.

private struct City: Equatable, Sendable {
    let name: String
    let foundationYear: Int
}

extension StorageProtocol where Value == Data {
    fileprivate func mapImage() -> Storage<Key, UIImage> {
        mapValues(
            transformIn: { data in try UIImage(data: data).unwrap() },
            transformOut: { image in try UIImagePNGRepresentation(image).unwrap() }
        )
    }
}

extension StorageProtocol where Key: Hashable {
    fileprivate func inMemory() -> Storage<Key, Value> {
        let memory = MemoryStorage<Key, Value>()
        return memory.combined(with: self)
    }
}

extension StorageProtocol where Key == Void, Value == [Int] {
    fileprivate func append(_ number: Int) { update { $0.append(number) } }
}

extension ReadOnlyStorageProtocol {
    fileprivate func counting(_ tally: Tally) -> ReadOnlyStorage<Key, Value> {
        return ReadOnlyStorage(
            storageName: self.storageName,
            retrieve: { (key, completion) in
                tally.add()
                self.retrieve(
                    forKey: key,
                    completion: { (result) in
                        completion(result)
                    }
                )
            }
        )
    }

    fileprivate static func alwaysFailing(with error: Error) -> ReadOnlyStorage<Key, Value> {
        return ReadOnlyStorage(
            storageName: "failing",
            retrieve: { _, completion in completion(.failure(error)) }
        )
    }
}

extension ReadOnlyStorageProtocol where Value == Data {
    fileprivate func mapText() -> ReadOnlyStorage<Key, String> {
        mapValues { data in try String(data: data, encoding: .utf8).unwrap() }
    }
}

extension WriteOnlyStorageProtocol {
    fileprivate func telling(
        _ tell: @escaping @Sendable (Value) -> Void
    ) -> WriteOnlyStorage<Key, Value> {
        return WriteOnlyStorage<Key, Value>(
            storageName: self.storageName,
            set: { (value, key, completion) in
                self.set(
                    value,
                    forKey: key,
                    completion: { (result) in
                        tell(value)
                        completion(result)
                    }
                )
            }
        )
    }
}

extension Storage where Key == Filename {
    fileprivate func named(_ name: String) -> Storage<String, Value> {
        renaming(to: name).usingStringKeys()
    }
}

extension Storage where Key == Filename, Value == City {
    fileprivate var isForCities: Bool { true }
}

extension Storage {
    fileprivate static func alwaysSucceeding(with value: Value) -> Storage<Key, Value> {
        return Storage<Key, Value>(
            storageName: "succeeding",
            retrieve: { (_, completion) in
                completion(.success(value))
            },
            set: { (_, _, completion) in
                completion(.success(()))
            }
        )
    }
}

extension ReadOnlyStorage where Key == Filename {
    fileprivate func namedForReading(_ name: String) -> ReadOnlyStorage<Filename, Value> {
        renaming(to: name)
    }
}

/// Properties with their types written.
private struct Cities {
    let storage: Storage<Filename, City>
    let names: ReadOnlyStorage<String, String>
    var archive: WriteOnlyStorage<Filename, City>?

    init(_ storage: Storage<Filename, City>) {
        self.storage = storage
        self.names = storage.asReadOnlyStorage().usingStringKeys().mapValues { $0.name }
    }
}

private func founded<CityStorage: StorageProtocol>(
    in storage: CityStorage,
    _ key: CityStorage.Key
) async throws -> Int where CityStorage.Value == City {
    try await storage.retrieve(forKey: key).foundationYear
}

private func copy<Source: ReadableStorageProtocol, Target: WritableStorageProtocol>(
    _ key: Source.Key,
    from source: Source,
    to target: Target
) async throws where Source.Key == Target.Key, Source.Value == Target.Value {
    try await target.set(source.retrieve(forKey: key), forKey: key)
}

private func name(of storage: any StorageDesign) -> String { storage.storageName }

private func store(_ city: City, in storage: Storage<Filename, City>) async throws {
    try await storage.set(city, forKey: Filename(rawValue: city.name))
}

@Suite(.ownThreads)
struct ShallowsExtensionTests {
    private let kharkiv = City(name: "Kharkiv", foundationYear: 1654)

    @Test func protocolsAreExtended() async throws {
        let data = MemoryStorage<Filename, Data>(storage: ["kitten": Data("PNG kitten".utf8)])
        let images: Storage<Filename, UIImage> = data.mapImage().inMemory()
        #expect(try await images.retrieve(forKey: "kitten").pixels == "kitten")
        #expect(
            try await data.asStorage().mapImage().usingStringKeys().retrieve(forKey: "kitten")
                .pixels == "kitten"
        )

        let tally = Tally()
        let counted = data.asReadOnlyStorage().counting(tally).mapText()
        #expect(try await counted.retrieve(forKey: "kitten") == "PNG kitten")
        #expect(tally.count == 1)
        await #expect(throws: Broken()) {
            try await ReadOnlyStorage<String, Int>.alwaysFailing(with: Broken()).retrieve(
                forKey: ""
            )
        }

        let answers = Answers<Int>()
        let told = MemoryStorage<String, Int>().asWriteOnlyStorage().telling { answers.give($0) }
        try await told.set(1, forKey: "one")
        #expect(await answers.first == 1)

        let numbers = MemoryStorage<String, [Int]>(storage: ["all": [1]])
        numbers.singleKey("all").append(2)
        #expect(numbers.storage == ["all": [1, 2]])
    }

    @Test func typesAreExtended() async throws {
        let cities = MemoryStorage<Filename, City>(storage: ["kharkiv": kharkiv])
        #expect(cities.asStorage().isForCities)
        #expect(try await cities.asStorage().named("cities").retrieve(forKey: "kharkiv") == kharkiv)
        #expect(cities.asReadOnlyStorage().namedForReading("reading").storageName == "reading")
        #expect(
            try await Storage<String, Int>.alwaysSucceeding(with: 1).retrieve(forKey: "any") == 1
        )
    }

    @Test func propertiesHoldStoragesOfWrittenTypes() async throws {
        let memory = MemoryStorage<Filename, City>()
        let cities = Cities(memory.asStorage())
        try await store(kharkiv, in: cities.storage)
        try await store(City(name: "Kyiv", foundationYear: 482), in: memory.asStorage())
        #expect(try await cities.names.retrieve(forKey: "Kharkiv") == "Kharkiv")
        #expect(memory.storage.count == 2)
    }

    @Test func genericFunctionsTakeStoragesOfEveryKind() async throws {
        let (memory, other) = (
            MemoryStorage<Filename, City>(storage: ["kharkiv": kharkiv]),
            MemoryStorage<Filename, City>()
        )
        #expect(try await founded(in: memory, "kharkiv") == 1654)
        #expect(try await founded(in: memory.usingStringKeys(), "kharkiv") == 1654)
        try await copy("kharkiv", from: memory.asReadOnlyStorage(), to: other.asWriteOnlyStorage())
        #expect(other.storage == ["kharkiv": kharkiv])
        try await copy("kharkiv", from: memory.asStorage(), to: other.asRemovableStorage())
        #expect(name(of: memory.renaming(to: "cities")) == "cities")
    }

    @Test func storagesAreErasedByInitializersToo() async throws {
        let memory = MemoryStorage<Filename, City>(storage: ["kharkiv": kharkiv])
        let storage = Storage(memory)
        let (reading, writing) = (ReadOnlyStorage(memory), WriteOnlyStorage(memory))
        try await writing.set(storage.retrieve(forKey: "kharkiv"), forKey: "copy")
        #expect(try await reading.retrieve(forKey: "copy") == kharkiv)
    }
}
