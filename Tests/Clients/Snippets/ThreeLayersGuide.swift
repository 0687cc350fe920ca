// Memory, a disk and a server in one storage: the example of the README as the guide shows it, in
// shorter lines.

import Foundation
import Shallows

struct City: Codable {
    var name: String
    var foundationYear: Int
}

struct CityServer: AsyncStorageProtocol {
    func retrieve(forKey key: Filename) async throws -> City {
        try await download(key)
    }
    func set(_ city: City, forKey key: Filename) async throws {
        try await upload(city, key)
    }
}

let cities = MemoryStorage<Filename, City>()
    .combined(
        with: DiskStorage.main.folder("cities", in: .cachesDirectory)
            .mapJSONObject(City.self)
    )
    .combined(with: CityServer())  // Storage<Filename, City>

func useCities() async throws {
    let kharkiv = City(name: "Kharkiv", foundationYear: 1654)
    try await cities.set(kharkiv, forKey: "kharkiv")
    print(try await cities.retrieve(forKey: "kharkiv"))
    // nil: a miss is no failure.
    print(try await cities.retrieveIfPresent(forKey: "atlantis") as Any)
}
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
