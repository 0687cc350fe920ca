// Removing, for those who come from Shallows.

import Foundation
import Shallows

let storage = MemoryStorage<Filename, Data>().asRemovableStorage()
    // RemovableStorage<Filename, Data>
    .combined(
        with: DiskStorage.main.folder("images", in: .cachesDirectory)
    )
try await storage.remove(forKey: "kitten")
let plain: Storage<Filename, Data> = storage.asStorage()
print(plain.storageName)
