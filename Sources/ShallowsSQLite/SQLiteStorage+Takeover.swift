public import Foundation
public import Shallows
internal import VellumCore
internal import VellumEngine

extension SQLiteStorage {
    /// Moves the values of a folder of files into this storage. Takes no thread of the caller's; what is asked of the storage
    /// meanwhile, and is not in memory, waits until it is done, so that nobody misses what is still to be moved.
    ///
    /// ```swift
    /// let folder = DiskStorage.main.folder("cities", in: .cachesDirectory)
    /// try await SQLiteStorage<City>("cities", in: .cachesDirectory).takeOver(folder)
    /// ```
    ///
    /// A file is removed only once its value is in the storage and safe from power loss, so that the move may be ended at
    /// any point, by a crash or by cancelling it, and be made again: nothing is lost, and nothing is moved twice. A value that is in
    /// the storage already is the newer one and stays; nothing that is in it has to leave. What is moved counts as set now, in the
    /// order of the keys.
    ///
    /// The storage does not remember what it had: where a value expired or was removed while its file was still in the folder, the
    /// file's value comes back. So take a folder over before the storage is used. What the folder cannot list, because it may not be
    /// read, stays there without being told of.
    ///
    /// - Parameters:
    ///   - folder: The folder. Nothing may be set in it meanwhile.
    ///   - decode: Makes a value of a file's bytes; by default `Data` of anything, and other values of JSON or CBOR.
    /// - Complexity: O(m log n) for m files, with a transaction and a sync of the disk for every so many.
    /// - Throws: ``Shallows/ShallowsError`` if the folder cannot be listed, the storage fails, or the task is cancelled. What was
    ///   moved until then is moved.
    @discardableResult
    public func takeOver(
        _ folder: DiskFolderStorage, decoding decode: (@Sendable (Data) throws -> Value)? = nil
    ) async throws(ShallowsError) -> FolderTakeover {
        let files = folder.asRemovableStorage().makeSyncStorage()
        return try await takeOver(
            MovableFiles(
                keys: { try folder.keysAtOnce() }, read: { try files.retrieveIfPresent(forKey: $0) },
                remove: { try files.remove(forKey: $0) }),
            decoding: decode)
    }

    /// The same, of whatever is like a folder.
    @discardableResult
    package func takeOver(
        _ files: MovableFiles, decoding decode: (@Sendable (Data) throws -> Value)? = nil
    ) async throws(ShallowsError) -> FolderTakeover {
        let codec = StorageCodec<Value>(layer.place.format)
        return try await storage.cancelling { call in
            layer.whole(call) { [layer, expiration] (store) throws(StoreError) in
                let mover = FileMover(
                    files: files, decode: decode ?? { try codec.decode($0) }, store: store,
                    expiration: expiration == .never ? nil : expiration, layer: layer.name)
                return try mover.moveAll { call.isCancelled }
            }
        }.get()
    }
}
