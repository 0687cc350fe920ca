public import Foundation
public import Shallows
internal import VellumCore

extension SQLiteStorage {
    /// Imports a folder of files: moves its values into this storage.
    ///
    /// ```swift
    /// let folder = DiskStorage.main.folder("cities", in: .cachesDirectory)
    /// try await SQLiteStorage<City>("cities", in: .cachesDirectory).importFolder(folder)
    /// ```
    ///
    /// Runs on a thread of the storage's. Calls on the storage that memory cannot answer wait until the import ends, so that none of them
    /// misses a value that is still to be imported.
    ///
    /// A file is removed only after its value is in the storage and survives power loss. So the import may be ended at any point, by a crash
    /// or by cancelling it, and called again: no value is lost or imported twice. A value that is in the storage already is newer and stays,
    /// and nothing is evicted. Imported values count as set now, in the order of the keys.
    ///
    /// Import the folder before the storage is used: the file of a value that expired or was removed from the storage would bring that value
    /// back. Files that the folder cannot list stay there and are not reported.
    ///
    /// - Parameters:
    ///   - folder: The folder. No value may be set in it meanwhile.
    ///   - decode: Decodes the bytes of a file. By default `Data` is taken as it is, and other values are decoded from JSON or CBOR.
    /// - Returns: The counts of imported and superseded files, and the files that remain.
    /// - Complexity: O(m log n) for m files, with one transaction and one sync for up to 256 files or a megabyte.
    /// - Throws: ``ShallowsError`` if the folder cannot be listed, the storage fails, or the task is cancelled. Values that were
    ///   imported until then are in the storage.
    @discardableResult
    public func importFolder(
        _ folder: DiskFolderStorage, decoding decode: (@Sendable (Data) throws -> Value)? = nil
    ) async throws(ShallowsError) -> FolderImport {
        let files = folder.asRemovableStorage().makeSyncStorage()
        return try await importFiles(
            ImportableFiles(
                keys: { try folder.keysAndWait() }, read: { try files.retrieveIfPresent(forKey: $0) },
                remove: { try files.remove(forKey: $0) }),
            decoding: decode)
    }

    /// Imports files that are like those of a folder.
    @discardableResult
    package func importFiles(
        _ files: ImportableFiles, decoding decode: (@Sendable (Data) throws -> Value)? = nil
    ) async throws(ShallowsError) -> FolderImport {
        let codec = StorageCodec<Value>(layer.configuration.options.format)
        return try await underlyingStorage.cancelling { call in
            layer.whole(call) { [layer, expiration] (store) throws(VellumError) in
                let importer = FolderImporter(
                    files: files, decode: decode ?? { try codec.decode($0) }, store: store,
                    expiration: expiration == .never ? nil : expiration, layer: layer.name)
                return try importer.importAll { call.isCancelled }
            }
        }.get()
    }
}
