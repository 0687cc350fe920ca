// Mistakes of a reader of the page of Shallows, and the diagnostics that must follow: these and no
// others.

import Shallows

struct City: Codable, Sendable {
    var name: String
}

let numbers = MemoryStorage<String, Int>()
// expected-swift6-error@+4 {{write 'try await' inside an async function}}
// expected-swift5-warning@+3 {{write 'try await' inside an async function}}
// expected-warning@+2 {{no 'async' operations occur within 'await' expression}}
// expected-warning@+1 {{no calls to throwing functions occur within 'try' expression}}
try await numbers.set(1, forKey: "one")

func storages(_ folder: DiskFolderStorage) async throws {
    // expected-error@+1 {{'DiskFolderStorage.Key' (aka 'Filename') be equivalent}}
    _ = MemoryStorage<String, City>().combined(with: folder.mapJSONObject(City.self))
    // expected-error@+1 {{type 'DiskFolderStorage.Value' (aka 'Data') to specified type 'City'}}
    let _: City = try await folder.retrieve(forKey: "bern")
    // expected-error@+1 {{missing argument label 'forKey:' in call}}
    _ = try await folder.retrieve("bern")
}
