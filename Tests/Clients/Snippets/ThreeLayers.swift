// Memory, a disk and a server in one storage: the example of the README, and what its rules are.

import Foundation
import Shallows

struct City: Codable {
    var name: String
    var foundationYear: Int
}

struct CityServer: AsyncStorageProtocol {
    func retrieve(forKey key: Filename) async throws -> City { try await download(key) }
    func set(_ city: City, forKey key: Filename) async throws { try await upload(city, key) }
}

let files = DiskStorage.main.folder("cities", in: .cachesDirectory)
let cities = MemoryStorage<Filename, City>()
    .combined(with: files.mapJSONObject(City.self))
    .combined(with: CityServer())  // Storage<Filename, City>

func useCities() async throws {
    try await cities.set(City(name: "Kharkiv", foundationYear: 1654), forKey: "kharkiv")
    print(try await cities.retrieve(forKey: "kharkiv"))
    print(try await cities.retrieveIfPresent(forKey: "atlantis") as Any)  // nil, no failure
}
// snippet.hide

try await useCities()

func download(_ key: Filename) async throws -> City {
    switch try await request("GET", "/cities/\(key.rawValue)") {
    case (200, let body): try JSONDecoder().decode(City.self, from: body)
    case (404, _): throw NoSuchCity()
    case (let status, _): throw ServerError(status: status)
    }
}

func upload(_ city: City, _ key: Filename) async throws {
    let (status, _) = try await request(
        "PUT",
        "/cities/\(key.rawValue)",
        JSONEncoder().encode(city)
    )
    guard status == 200 else { throw ServerError(status: status) }
}

/// There is no such city: the next layer would be asked, were there one.
struct NoSuchCity: Error, StorageMiss {}

/// Something went wrong.
struct ServerError: Error, StorageMiss {
    var status: Int
    var isMiss: Bool { false }
}

// Stands for the network.
func request(
    _ method: String,
    _ path: String,
    _ body: Data = Data()
) async throws -> (status: Int, body: Data) {
    (method == "GET" ? 404 : 200, Data())
}

// What each layer is called, and what went wrong in which.

let named = MemoryStorage<Filename, City>().renaming(to: "memory")
    .combined(
        with: DiskStorage.main.folder("cities", in: .cachesDirectory)
            .mapJSONObject(City.self).renaming(to: "disk")
    )
    .combined(with: CityServer().renaming(to: "server"))
    .reporting { report in print(report) }

print(named.storageName)  // memory<->disk<->server

func keep(_ city: City, _ key: Filename) async throws {
    do {
        try await named.set(city, forKey: key)
    } catch let error as ShallowsError where error.code == .partiallySet {
        let cause = error.cause ?? error
        print("\(error.succeededLayers) have it, the next not: \(cause)")
    }
}

try await keep(City(name: "Kyiv", foundationYear: 482), "kyiv")

// Removing, from every layer and from one.

extension CityServer: AsyncRemovableStorageProtocol {
    func remove(forKey key: Filename) async throws {
        _ = try await request("DELETE", "/cities/\(key.rawValue)")
    }
    func removeAll() async throws { throw ServerError(status: 405) }
}

let memory = MemoryStorage<Filename, City>()
let folder = DiskStorage.main.folder("cities", in: .cachesDirectory)
let cache = memory.asRemovableStorage()
    .combined(with: folder.asRemovableStorage().mapJSONObject(City.self))
    .combined(with: CityServer())  // RemovableStorage<Filename, City>

// From memory, the disk and the server.
try await cache.remove(forKey: "kharkiv")
try await cache.layers[0].removeAll()  // From memory alone.
try await cache.layers[1].remove(forKey: "kyiv")  // From the disk alone.

// A server that is only read.

let articles = MemoryStorage<Filename, City>()
    .combined(with: folder.mapJSONObject(City.self))
    .loading { key in try await download(key) }
print(try await articles.retrieveIfPresent(forKey: "odesa")?.name ?? "nowhere")

// Limits and ages.

let bounded = try LRUStorage<Filename, City>(maxCount: 500)
    .combined(
        with: folder.expiring(after: .seconds(7 * 86_400))
            .mapJSONObject(City.self)
    )
    .combined(with: CityServer())
print(try await bounded.retrieveIfPresent(forKey: "odesa")?.name ?? "nowhere")
