internal import Foundation
internal import Tiers
internal import TiersSQLite

/// Which file, with which limits: all that must be known to open it.
struct SQLitePlace: Sendable {
    let url: URL
    let memoryLimit: DataSize
    let diskLimit: DataSize?
    let durability: Durability
    let clock: WallClock
    private let hasFolder: Bool

    /// - Parameter folder: `nil` if the system has no such folder; then opening fails.
    init(file: String, in folder: URL?, memoryLimit: DataSize, diskLimit: DataSize?, durability: Durability, clock: WallClock) {
        url = (folder ?? FileManager.default.temporaryDirectory).appendingPathComponent(file)
        hasFolder = folder != nil
        self.memoryLimit = memoryLimit
        self.diskLimit = diskLimit
        self.durability = durability
        self.clock = clock
    }

    /// What a storage there is called.
    var storageName: String { "sqlite-" + url.deletingPathExtension().lastPathComponent }

    /// Opens the file, or makes it. Blocks for the disk.
    func open<Value: Codable & Sendable>() throws(StoreError) -> OpenFile<Value> {
        guard hasFolder else {
            throw StoreError(.cannotOpen, "The system has no folder of that kind. Choose another, or give the URL of a file.")
        }
        // Before anything is made.
        let memory = try Capacity(memoryLimit)
        let disk = if let diskLimit { try Capacity(diskLimit) } else { Capacity.unlimited }
        let file = try SQLiteFile.open(at: url, ifNotADatabase: .refuse, clock: clock)
        let store = try file.store(
            named: "Storage", codec: StorageCodec<Value>(), memory: memory, disk: disk, remembering: .values, durability: durability,
            whenDifferent: .refuse)
        return OpenFile(file: file, store: store)
    }
}

/// A file that is open, and the one store in it.
struct OpenFile<Value>: Sendable {
    let file: SQLiteFile
    let store: TieredStore<Value>

    func close() throws(StoreError) {
        try store.close()
        try file.close()
    }
}
