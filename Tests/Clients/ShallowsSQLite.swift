// The examples of the page of ShallowsSQLite.

import ShallowsSQLite

struct City: Codable {
    var name: String
}

struct NoSuchCity: Error, StorageMiss {}

struct CityServer: AsyncStorageProtocol {
    func retrieve(forKey key: Filename) async throws -> City { throw NoSuchCity() }
    func set(_ city: City, forKey key: Filename) async throws {}
}

let cities = SQLiteStorage<City>(
    "cities",
    in: .cachesDirectory,
    options: .init(diskLimit: 200.megaBytes)
)

func use(_ bern: City) async throws -> String {
    try await cities.set(bern, forKey: "bern")
    let city = try await cities.retrieve(forKey: "bern")
    return city.name
}

func compose(_ server: CityServer) -> Storage<Filename, City> {
    let cached = cities.combined(with: server)
    return cached
}

func copy(_ folder: DiskFolderStorage) async throws {
    let files = folder.mapJSONObject(City.self)
    for key in try await folder.keys() {
        let city = try await files.retrieve(forKey: key)
        try await cities.set(city, forKey: key)
    }
}

try await copy(DiskStorage.main.folder("cities", in: .cachesDirectory))
print(try await use(City(name: "Bern")), compose(CityServer()).storageName)
