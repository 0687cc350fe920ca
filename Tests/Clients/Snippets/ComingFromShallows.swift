// Removing, for those who come from Shallows.

import Foundation
import Shallows

let storage = MemoryStorage<Filename, Data>().asRemovableStorage()
    .combined(with: DiskStorage.main.folder("images", in: .cachesDirectory))  // RemovableStorage<Filename, Data>
try await storage.remove(forKey: "kitten")
let plain: Storage<Filename, Data> = storage.asStorage()
print(plain.storageName)
