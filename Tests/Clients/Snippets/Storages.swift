// The first steps with Shallows.

import Shallows

let storage = MemoryStorage<String, Int>(storage: ["1": 1, "2": 2])
// Storage<Int, Int>
let numbers = storage.mapKeys { (number: Int) in String(number) }
let cached = MemoryStorage<Int, Int>().combined(with: numbers)
cached.retrieve(forKey: 1) { result in print(result) }
let one = try await cached.retrieve(forKey: 1)
let two = try cached.makeSyncStorage().retrieve(forKey: 2)
print(one + two)
