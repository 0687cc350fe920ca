internal import Foundation
internal import VellumCore
internal import VellumEngine

/// Which file, with which limits: all that must be known to open it.
struct SQLitePlace: Sendable {
    let url: URL
    let memoryLimit: DataSize?
    let diskLimit: DataSize?
    let durability: Durability
    let format: CodableFormat
    let clock: WallClock
    private let hasFolder: Bool

    /// What memory may hold where nobody says: 1 MB.
    private static let defaultMemory = Capacity(bytes: 1.megaByte.bytes, entries: .max)

    /// - Parameter folder: `nil` if the system has no such folder; then opening fails.
    init(
        file: String, in folder: URL?, memoryLimit: DataSize?, diskLimit: DataSize?, durability: Durability, format: CodableFormat,
        clock: WallClock
    ) {
        url = (folder ?? FileManager.default.temporaryDirectory).appendingPathComponent(file)
        hasFolder = folder != nil
        self.memoryLimit = memoryLimit
        self.diskLimit = diskLimit
        self.durability = durability
        self.format = format
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
        let memory = try Capacity(optional: memoryLimit)
        let disk = try Capacity(optional: diskLimit)
        var fileHold: FileHold?
        let hold = try StoreHold<Value>.open { () throws(StoreError) in
            let file = try FileHold.open(at: url, kind: .storage, clock: clock)
            fileHold = file
            return try file.file.hold(
                named: "Storage", codec: StorageCodec<Value>(format), memory: memory, disk: disk,
                defaults: .init(memory: memory ?? Self.defaultMemory, disk: .unlimited), caching: .values, durability: durability,
                whenDifferent: .refuse)
        }
        guard let fileHold else { throw .closed }
        return OpenFile(file: fileHold, hold: hold)
    }
}

/// A file that is open, and the one store in it.
struct OpenFile<Value>: Sendable {
    private let fileHold: FileHold
    private let hold: StoreHold<Value>

    init(file: FileHold, hold: StoreHold<Value>) {
        fileHold = file
        self.hold = hold
    }

    var file: DatabaseFile { fileHold.file }
    var store: Store<Value> { hold.store }

    func close() throws(StoreError) {
        try hold.close()
        try fileHold.close()
    }
}
