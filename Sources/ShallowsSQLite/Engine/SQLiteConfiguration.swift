internal import Foundation
internal import VellumCore
internal import VellumEngine

/// The file of a storage and its options: all that is needed to open it.
struct SQLiteConfiguration: Sendable {
    let url: URL
    let options: SQLiteStorageOptions
    private let hasFolder: Bool
    /// Whether the file may lie outside of the folder, or its name ends before it seems to.
    private let isOutside: Bool

    private static let defaultMemory = Capacity(bytes: 1.megaByte.bytes, entries: .max)

    /// - Parameter folder: `nil` if the system has no such folder; then opening fails.
    init(file: String, in folder: URL?, _ options: SQLiteStorageOptions) {
        url = (folder ?? FileManager.default.temporaryDirectory).appendingPathComponent(file)
        hasFolder = folder != nil
        // By scalars: a mark behind a slash is one character with it.
        let parts = file.unicodeScalars.split(separator: "/").map(String.init)
        isOutside = parts.contains("..") || file.utf8.contains(0)
        self.options = options
    }

    /// The name of a storage on the file.
    var storageName: String { "sqlite-" + url.deletingPathExtension().lastPathComponent }

    /// Opens the file, or creates it. Blocks for the disk.
    func open<Value: Codable & Sendable>() throws(VellumError) -> OpenFile<Value> {
        guard hasFolder else {
            throw VellumError(
                .cannotOpen,
                "The system has no folder of that kind. Choose another, or give the URL of a file."
            )
        }
        guard !isOutside else {
            throw VellumError(
                .cannotOpen,
                """
                The name of a storage must not contain '..' or U+0000. Choose another, or give the \
                URL of a file.
                """
            )
        }
        // Before anything is created.
        let memory = try Capacity(optional: options.memoryLimit, as: "memory")
        let disk = try Capacity(optional: options.diskLimit, as: "disk")
        let attributes = FolderAttributes(
            fileProtection: options.fileProtection,
            excludedFromBackup: options.excludedFromBackup
        )
        var fileHold: FileHold?
        let hold = try StoreHold<Value>.open { () throws(VellumError) in
            let file = try FileHold.open(
                at: url,
                kind: .storage,
                clock: options.clock,
                attributes: attributes
            )
            fileHold = file
            var store = StoreOptions<Value>()
            store.memory = memory
            store.disk = disk
            store.caching = .values
            store.durability = options.durability
            store.defaults = .init(memory: memory ?? Self.defaultMemory, disk: .unlimited)
            return try file.file.hold(
                named: "Storage",
                codec: StorageCodec<Value>(format: options.format),
                store
            )
        }
        guard let fileHold else { throw .closed }
        return OpenFile(fileHold: fileHold, hold: hold)
    }
}

/// A file that is open, and the one store in it.
struct OpenFile<Value>: Sendable {
    let fileHold: FileHold
    let hold: StoreHold<Value>

    var file: DatabaseFile { fileHold.file }
    var store: Store<Value> { hold.store }

    func close() throws(VellumError) {
        try hold.close()
        try fileHold.close()
    }
}

/// Encodes `Data` as it is, and other values in the format. Decodes every format.
///
/// The type is checked at run time, so that generic code that knows `Value` only as `Codable`
/// writes the same bytes.
struct StorageCodec<Value: Codable>: Codec {
    let format: CodableFormat

    func encode(_ value: Value) throws -> Data {
        if Value.self == Data.self, let data = value as? Data { return data }
        let bytes = try format.encode(value)
        try RoundTrip.check(value) { try decode(bytes) }
        return bytes
    }

    func decode(_ bytes: Data) throws -> Value {
        if Value.self == Data.self, let value = bytes as? Value { return value }
        return try CodableFormat.decode(Value.self, from: bytes)
    }
}
