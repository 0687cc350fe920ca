internal import Foundation
internal import VellumCore
internal import VellumEngine

/// The file of a manager, opened when it is first needed, and again when that failed.
final class CacheFile: Sendable {
    let url: URL
    let durability: Durability
    let format: CodableFormat
    private let clock: WallClock
    private let file: Locked<FileHold?> = Locked(nil)
    /// What a cache may hold that nobody ever gave a size.
    static let defaults = DatabaseFile.DefaultLimits(
        memory: Capacity(bytes: 1.megaByte.bytes, entries: .max), disk: Capacity(bytes: 20.megaByte.bytes, entries: .max))

    init(url: URL, durability: Durability, format: CodableFormat, clock: WallClock) {
        self.url = url
        self.durability = durability
        self.format = format
        self.clock = clock
    }

    /// The engine of a cache: the one place where it is opened.
    func openEngine(_ place: CachePlace, memory: Capacity?, disk: Capacity?) throws(StoreError) -> StoreHold<CachedValue> {
        try StoreHold.open { () throws(StoreError) in
            try open().hold(
                named: place.archiveName, codec: CachedValueCodec(), inVersionGroup: place.name, memory: memory, disk: disk,
                defaults: Self.defaults, caching: .values, durability: durability, whenDifferent: .share)
        }
    }

    /// The file, if it is open.
    var opened: DatabaseFile? {
        file.withLock { hold in hold.flatMap { $0.file.isClosed ? nil : $0.file } }
    }

    private func open() throws(StoreError) -> DatabaseFile {
        if let opened { return opened }
        let hold = try FileHold.open(at: url, kind: .caches, ifNotADatabase: .setAsideAlways, takingOver: .miniCache, clock: clock)
        // Released outside the lock.
        let before = file.withLock { file in
            defer { file = hold }
            return file
        }
        withExtendedLifetime(before) {}
        return hold.file
    }

    /// Removes what every archive of the file holds, those of caches that no one has asked for included.
    func removeAll() throws(StoreError) {
        // What was never made need not be made to be empty.
        guard opened != nil || FileManager.default.fileExists(atPath: url.path) else { return }
        let file = try open()
        var transaction = StoreTransaction()
        // Held until the transaction is over: no one else may hold them.
        var stores: [Store<CachedValue>] = []
        for name in try file.archiveNames() {
            let store: Store<CachedValue>
            if let open = try file.openStore(named: name, of: CachedValue.self) {
                store = open
            } else {
                // Another caller may ask for it at this moment, and share it.
                store = try file.store(
                    named: name, codec: CachedValueCodec(), inVersionGroup: CachePlace.name(ofArchive: name), defaults: Self.defaults,
                    caching: .values, durability: durability, whenDifferent: .share)
            }
            transaction.removeAll(in: store)
            stores.append(store)
        }
        try transaction.commit()
        withExtendedLifetime(stores) {}
    }

    func close() throws(StoreError) {
        let hold = file.withLock { $0 }
        try hold?.close()
        // Another thread may have opened it anew meanwhile. Released outside the lock.
        let closed = file.withLock { file -> FileHold? in
            guard file === hold else { return nil }
            defer { file = nil }
            return file
        }
        withExtendedLifetime(closed) {}
    }
}

/// What makes two handles one cache: its name and its version.
@usableFromInline
struct CachePlace: Hashable, Sendable {
    let name: String
    let version: String

    /// One archive for each version, so that versions never meet. No name may hold what stands between the two.
    var archiveName: String {
        let name = name.unicodeScalars.reduce(into: "") { name, scalar in
            switch scalar.value {
            case 0: name += "\u{1}0"
            case 1: name += "\u{1}1"
            default: name.unicodeScalars.append(scalar)
            }
        }
        return name + "\u{0}" + version
    }

    /// The name of the cache that an archive is one version of.
    static func name(ofArchive archiveName: String) -> String {
        let name = String(String.UnicodeScalarView(archiveName.unicodeScalars.prefix { $0 != "\u{0}" }))
        return name.replacingOccurrences(of: "\u{1}0", with: "\u{0}").replacingOccurrences(of: "\u{1}1", with: "\u{1}")
    }
}
