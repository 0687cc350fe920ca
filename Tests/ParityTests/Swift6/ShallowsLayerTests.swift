import Foundation
import Shallows
import TestThreads
import Testing

private nonisolated struct MyObject: Codable, Equatable, Sendable {
    var name: String
}

/// A server of a user's own that knows only bytes, with completions that it calls later, as a
/// library of a vendor's does.
private final class RemoteStorage: StorageProtocol {
    static let main = RemoteStorage()

    private let queue = DispatchQueue(label: "remote")
    let documents = MemoryStorage<Filename, Data>()
    let questions = Tally()
    let isDown: Bool

    init(isDown: Bool = false) { self.isDown = isDown }

    func collection(_ name: String) -> Storage<Filename, Data> {
        mapKeys { Filename(rawValue: name + "/" + $0.rawValue) }
    }

    func retrieve(forKey key: Filename, completion: @escaping @Sendable (Result<Data, Error>) -> ())
    {
        questions.add()
        queue.async {
            if self.isDown { return completion(.failure(Broken(reason: "no network"))) }
            self.documents.retrieve(forKey: key, completion: completion)
        }
    }

    func set(
        _ value: Data,
        forKey key: Filename,
        completion: @escaping @Sendable (Result<Void, Error>) -> ()
    ) {
        queue.async {
            if self.isDown { return completion(.failure(Broken(reason: "no network"))) }
            self.documents.set(value, forKey: key, completion: completion)
        }
    }
}

/// "3-layer composition?": what users asked for, in one expression, of storages of every sort.
@Suite(.ownThreads)
struct ShallowsLayerTests {
    private let remote = RemoteStorage()
    private let disk = MemoryStorage<Filename, Data>()

    /// The expression of the thread, in which the folder of a disk is a dictionary. With a disk it
    /// is in the file of the disk's blocks.
    @Test func threeLayersAreOneExpression() async throws {
        let cache = MemoryStorage<Filename, MyObject>()
            .combined(with: disk.mapJSONObject(MyObject.self))
            .combined(with: remote.collection("myObjects").mapJSONObject(MyObject.self))
        let typed: Storage<Filename, MyObject> = cache

        try await typed.set(MyObject(name: "one"), forKey: "1")
        #expect(disk.storage["1"] == Data(#"{"name":"one"}"#.utf8))
        #expect(remote.documents.storage["myObjects/1"] == disk.storage["1"])

        disk.storage = [:]
        try await cache.layers[0].set(MyObject(name: "nearer"), forKey: "1")
        #expect(try await cache.retrieve(forKey: "1").name == "nearer")
        #expect(remote.questions.count == 0)
        #expect(cache.layers.count == 3)
    }

    @Test func layersMayBeNestedEitherWay() async throws {
        let (first, second, third) = (
            MemoryStorage<String, Int>(), MemoryStorage<String, Int>(),
            MemoryStorage<String, Int>(storage: ["a": 1])
        )
        let right = first.combined(with: second.combined(with: third))
        #expect(try await right.retrieve(forKey: "a") == 1)
        #expect(first.storage == ["a": 1])
        #expect(second.storage == ["a": 1])
        #expect(right.layers.count == 3)
        let fiveLayers = first.combined(with: second).combined(with: third)
            .combined(
                with: MemoryStorage<Int, String>().mapKeys { try Int($0).unwrap() }.mapValues(
                    transformIn: { $0.count },
                    transformOut: { "\($0)" }
                )
            )
            .backed(by: MemoryStorage().asReadOnlyStorage()).pushing(
                to: MemoryStorage().asWriteOnlyStorage()
            )
        #expect(try await fiveLayers.retrieve(forKey: "a") == 1)
    }

    /// A failure of a server's, of which nothing is known, does not hide what another layer has;
    /// nor does it invent anything.
    @Test func aServerThatIsDownFailsWithItsOwnError() async throws {
        let down = RemoteStorage(isDown: true)
        let memory = MemoryStorage<Filename, Data>(storage: ["here": Data()])
        let cache = memory.combined(with: disk).combined(with: down)
        #expect(try await cache.retrieve(forKey: "here") == Data())
        await #expect(throws: Broken(reason: "no network")) {
            try await cache.retrieve(forKey: "elsewhere")
        }
        #expect(memory.storage["elsewhere"] == nil)
    }

    @Test func aValueThatNotEveryLayerTookSaysWhichDid() async throws {
        let down = RemoteStorage(isDown: true)
        let memory = MemoryStorage<Filename, Data>()
        let cache = memory.renaming(to: "memory").combined(with: disk.renaming(to: "disk"))
            .combined(with: down.renaming(to: "server"))
        let error = try await #require(throws: ShallowsError.self) {
            try await cache.set(Data(), forKey: "a")
        }
        #expect(error.code == .partiallySet)
        #expect(error.succeededLayers == ["memory", "disk"])
        #expect(error.cause as? Broken == Broken(reason: "no network"))
    }

    /// "remove an item from a memoryCache, while leaving it in the diskCache", "clear the
    /// MemoryStorage completely"
    @Test func oneLayerIsClearedByItself() async throws {
        let memory = MemoryStorage<Filename, Data>(storage: ["a": Data(), "b": Data()])
        disk.storage = memory.storage
        let cache = memory.asRemovableStorage().combined(with: disk)
        try await cache.layers[0].remove(forKey: "a")
        #expect(memory.storage == ["b": Data()])
        try await cache.layers[0].removeAll()
        #expect(memory.storage == [:])
        #expect(disk.storage.count == 2)
        #expect(try await cache.retrieve(forKey: "a") == Data())
        try await cache.remove(forKey: "a")
        #expect(memory.storage == [:])
        #expect(disk.storage == ["b": Data()])
        try await cache.removeAll()
        #expect(disk.storage == [:])
    }

    /// However many ask at a time, a server is asked once.
    @Test func oneQuestionAtATimeIsAskedOfTheServer() async throws {
        let (requests, gate) = (Tally(), Answers<Void>())
        let articles = MemoryStorage<Int, String>().loading { id in
            requests.add()
            _ = await gate.first
            return "article \(id)"
        }
        let answers = Answers<String>()
        func callSite() {
            for _ in 0..<50 {
                articles.retrieve(forKey: 7) { result in
                    answers.give((try? result.get()) ?? "none")
                }
            }
            gate.give(())
        }
        callSite()
        #expect(await Set(answers.first(50)) == ["article 7"])
        #expect(requests.count == 1)
        #expect(try await articles.retrieve(forKey: 7) == "article 7")
        #expect(requests.count == 1)
    }

    /// A miss is told from a failure by one error, whoever's layers they are.
    @Test func aMissIsNoFailure() async throws {
        let cache = MemoryStorage<Filename, Data>().combined(with: remote)
        #expect(try await cache.retrieveIfPresent(forKey: "nowhere") == nil)
        let down = MemoryStorage<Filename, Data>().combined(with: RemoteStorage(isDown: true))
        let error = await #expect(throws: ShallowsError.self) {
            try await down.retrieveIfPresent(forKey: "nowhere")
        }
        #expect(error?.isMiss == false)
        #expect(error?.layer == "RemoteStorage")
    }
}
