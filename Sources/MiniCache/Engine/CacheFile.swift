internal import Foundation
internal import Originals
internal import VellumCore
internal import VellumEngine

/// The file of a manager. Opened on first use, and again after opening failed or the file was
/// closed.
final class CacheFile: Sendable {
    let url: URL
    let durability: Durability
    let format: CodableFormat
    private let clock: WallClock
    private let attributes: FolderAttributes
    /// The folder of a manager in memory.
    private let temporary: TemporaryFolder?
    private let file: Locked<FileHold?> = Locked(nil)
    /// The limits of a cache without given sizes.
    static let defaults = DatabaseFile.DefaultLimits(
        memory: Capacity(bytes: 1.megaByte.bytes, entries: .max),
        disk: Capacity(bytes: 20.megaByte.bytes, entries: .max)
    )

    init(
        _ url: URL,
        attributes: FolderAttributes = .unchanged,
        temporary: TemporaryFolder? = nil,
        durability: Durability = .crashSafe,
        format: CodableFormat = .cbor,
        clock: WallClock
    ) {
        self.url = url
        self.attributes = attributes
        self.temporary = temporary
        self.durability = durability
        self.format = format
        self.clock = clock
    }

    deinit {
        guard temporary != nil else { return }
        // Before the folder is removed, so that nothing looks for its file.
        do throws(VellumError) {
            try close()
        } catch {
            Report.failure(error, operation: "close")
        }
    }

    /// Opens the store of a cache, and the file if necessary. If the cache holds another version,
    /// it is emptied.
    ///
    /// - Parameter mayReplaceVersion: Whether it may be emptied; otherwise opening another version
    ///   fails.
    func openStore(
        _ location: CacheLocation,
        memory: Capacity?,
        disk: Capacity?,
        mayReplaceVersion: Bool
    ) throws(VellumError) -> StoreHold<CachedValue> {
        var options = options
        options.memory = memory
        options.disk = disk
        options.cacheVersion = location.version
        options.mayReplaceVersion = mayReplaceVersion
        return try StoreHold.open { [options] () throws(VellumError) in
            try open().hold(named: location.name, codec: CachedValueCodec(), options)
        }
    }

    private var options: StoreOptions<CachedValue> {
        var options = StoreOptions<CachedValue>()
        options.defaults = Self.defaults
        options.caching = .values
        options.durability = durability
        options.policy = .share
        return options
    }

    /// Imports the entries of the original MiniCache whose keys can be decoded as the type. Their
    /// values stay JSON.
    func importOriginal<Key: Codable>(
        _ location: CacheLocation,
        keyedBy type: Key.Type,
        into store: Store<CachedValue>
    ) throws(VellumError) {
        guard let originals = OriginalCaches(besides: url) else { return }
        guard let file = opened else { throw .closed }
        try originals.importEntries(
            of: (location.name, location.version),
            into: store,
            of: file,
            key: { CacheKey.decodingOriginal($0, as: Key.self) },
            value: { json in CachedValue(EncodedForm(try JSONText.checked(json))) }
        )
    }

    /// Removes all entries of a cache, also those of the original MiniCache that wait for a handle
    /// of their type.
    func removeAll(of name: String, in store: Store<CachedValue>) throws(VellumError) {
        guard let originals = OriginalCaches(besides: url), let file = opened else {
            return try store.removeAll()
        }
        var transaction = StoreTransaction()
        transaction.removeAll(in: store)
        try originals.commit(transaction, forgetting: name, of: file)
    }

    /// Whether the file is open or exists.
    var exists: Bool { opened != nil || FileManager.default.fileExists(atPath: url.path) }

    /// The file, if it is open.
    var opened: DatabaseFile? {
        file.withLock { hold in hold.flatMap { $0.file.isClosed ? nil : $0.file } }
    }

    /// The file, if any manager of this process has it open.
    var openedByAnybody: DatabaseFile? { opened ?? DatabaseFile.opened(at: url) }

    func open() throws(VellumError) -> DatabaseFile {
        if let opened { return opened }
        // A folder in memory belongs to the process that made it.
        guard temporary?.isOfThisProcess ?? true else { throw .forked }
        temporary?.make()
        let hold = try FileHold.open(
            at: url,
            kind: .caches,
            ifNotADatabase: .setAside,
            movingAside: OriginalCaches.moveAside,
            clock: clock,
            attributes: attributes
        )
        // The previous one is released outside the lock.
        withExtendedLifetime(file.withLock { exchange(&$0, with: hold) }) {}
        return hold.file
    }

    /// Removes all entries of the file, including those of caches that are not open.
    func removeAll() throws(VellumError) {
        // A file that does not exist is not created only to be emptied.
        guard exists else { return }
        let file = try open()
        var triesLeft = 20
        while true {
            triesLeft -= 1
            do throws(VellumError) {
                return try removeAll(in: file)
            } catch {
                // Another process opened a cache with another version just now.
                guard error.code == .cacheVersionChanged, triesLeft > 0 else { throw error }
            }
        }
    }

    private func removeAll(in file: DatabaseFile) throws(VellumError) {
        var transaction = StoreTransaction()
        // Kept alive until the transaction is committed.
        var stores: [Store<CachedValue>] = []
        for name in try file.archiveNames() where name != importProgressName {
            // The open one, of whatever version, or one that is shared with a caller that opens the
            // same cache now.
            let store = try file.store(named: name, codec: CachedValueCodec(), options)
            transaction.removeAll(in: store)
            stores.append(store)
        }
        if let originals = OriginalCaches(besides: url) {
            try originals.commit(transaction, forgetting: nil, of: file)
        } else {
            try transaction.commit()
        }
        withExtendedLifetime(stores) {}
    }

    /// Closes the file if no other manager has it open.
    func close() throws(VellumError) {
        let hold = file.withLock { $0 }
        try hold?.close()
        // Another thread may have opened the file again. The hold is released outside the lock.
        file.withLock { if $0 === hold { $0 = nil } }
        withExtendedLifetime(hold) {}
    }
}

/// Any JSON text, of which only the syntax is checked.
private struct JSONText: Decodable {
    init(from decoder: any Decoder) {}

    static func checked(_ text: String) throws -> Data {
        let data = Data(text.utf8)
        _ = try JSONCoders.decoder.decode(JSONText.self, from: data)
        return data
    }
}
