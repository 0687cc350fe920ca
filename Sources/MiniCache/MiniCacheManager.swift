public import Foundation
public import Tiers
internal import TiersSQLite

/// Where caches come from: any number of them, separate from one another, in one file.
///
/// ```swift
/// extension MiniCacheManager {
///     static let shared = MiniCacheManager(name: "MiniCache")
/// }
/// ```
///
/// Works from any thread. Makes nothing until a cache is asked for. Two managers on one file share what is in it.
public final class MiniCacheManager: Sendable {
    /// What the file is named for.
    public let name: String
    /// The file of the caches.
    public var url: URL { file.url }
    /// What an acknowledged write survives.
    public var durability: Durability { file.durability }
    /// What values become when they are set. Those of every format are read.
    public var format: CodableFormat { file.format }

    private let file: CacheFile
    private let cores = Locked<[CachePlace: CacheCore]>([:])

    /// A manager whose file is `NAME.sqlite` in the user's caches folder.
    public convenience init(name: String) {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first ?? FileManager.default.temporaryDirectory
        self.init(name: name, directory: caches)
    }

    /// A manager whose file is `NAME.sqlite` in a folder of your own.
    ///
    /// - Parameters:
    ///   - name: Any string; what a file's name cannot hold is written as `%2F` and the like.
    ///   - directory: Made with mode 0700 if it is missing.
    ///   - durability: What an acknowledged write survives.
    ///   - format: What values become when they are set. Those of every format are read, whatever this says.
    ///   - clock: Where instants come from; for tests.
    public init(
        name: String, directory: URL, durability: Durability = .crashSafe, format: CodableFormat = .cbor, clock: WallClock = .system
    ) {
        self.name = name
        file = CacheFile(url: directory.appendingPathComponent(Self.fileName(name)), durability: durability, format: format, clock: clock)
    }

    private static func fileName(_ name: String) -> String {
        let escapes: [(String, String)] = [("%", "%25"), ("/", "%2F"), ("\0", "%00")]
        return escapes.reduce(name) { $0.replacingOccurrences(of: $1.0, with: $1.1) } + ".sqlite"
    }

    // MARK: Caches

    /// The cache of that name and version: the one there is, or a new one.
    ///
    /// ```swift
    /// let cache: MiniCache<String, Int> = manager.cache(cacheName: "Counter", cacheVersion: .appVersion, maxAge: .days(7))
    /// ```
    ///
    /// Opens the file, for which it blocks. If that fails, or a limit or an age makes no sense, the cache is there all the same:
    /// its subscript reads nil and reports why, its throwing verbs throw it.
    ///
    /// - Parameters:
    ///   - cacheName: Any string. Caches of different names are separate.
    ///   - cacheVersion: Caches of one name and different versions are separate, too.
    ///   - maxAge: For how long this handle takes values that were set without an age of their own. Handles on one cache may
    ///     have different ages: each judges by its own.
    ///   - memoryLimit: How many bytes of encoded values memory may hold; nil for what is open, or 1 MB. It can be raised while the cache
    ///     is open, and not lowered.
    ///   - diskLimit: How many bytes of encoded values the disk may hold; the least recently used leave for new ones. The limit belongs to
    ///     the cache and is stored in its file: nil for what it has, or 20 MB where nobody ever gave it one. A larger one is granted at
    ///     any time; a smaller one counts for the first handle in a process, and is reported and does not count while the cache is open.
    public func cache<Key: Codable, Value: Codable>(
        cacheName: String, cacheVersion: CacheVersion, maxAge: CacheMaxAge, memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil
    ) -> MiniCache<Key, Value> {
        makeCache(cacheName, cacheVersion, maxAge, memoryLimit, diskLimit, keepingValues: false)
    }

    /// The same; memory keeps decoded values, where their type is no class.
    public func cache<Key: Codable, Value: Codable & Sendable>(
        cacheName: String, cacheVersion: CacheVersion, maxAge: CacheMaxAge, memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil
    ) -> MiniCache<Key, Value> {
        makeCache(cacheName, cacheVersion, maxAge, memoryLimit, diskLimit, keepingValues: !(Value.self is AnyObject.Type))
    }

    // MARK: All caches

    /// Removes everything from every cache of this file, whatever its name and version. What fails is logged and reported.
    public func clearAll() {
        do throws(MiniCacheError) {
            try removeAll()
        } catch {
            Report.failure(error, verb: "clearAll")
            for core in cores.withLock({ Array($0.values) }) { core.failures.send(error) }
        }
    }

    /// Removes everything from every cache of this file, whatever its name and version, in one transaction.
    public func removeAll() throws(MiniCacheError) {
        try strictly { () throws(StoreError) in try file.removeAll() }
    }

    /// Makes everything acknowledged before it survive power loss, the order of use included. Blocks for the disk.
    public func flush() throws(MiniCacheError) {
        try strictly { () throws(StoreError) in
            for core in cores.withLock({ Array($0.values) }) where !core.isClosed { try core.opened?.flush() }
        }
    }

    /// Closes every cache of this manager, and the file if no other manager has it open: what the caches are asked afterwards fails with
    /// ``StoreError/Code/closed``. Those of other managers go on. Everything acknowledged survives power loss then. Asking this manager
    /// for a cache opens the file again.
    public func close() throws(MiniCacheError) {
        try strictly { () throws(StoreError) in
            for core in cores.withLock({ Array($0.values) }) { try core.close() }
            try file.close()
        }
        cores.withLock { $0 = [:] }
    }

    /// Commits what is open and lets go of every lock and file, until ``resume()``: for an app that is about to be suspended, because
    /// the system kills those that hold a lock then.
    ///
    /// What memory holds is still found; what needs the disk meanwhile fails with ``StoreError/Code/suspended``. Blocks for those who
    /// use the file now. Suspending twice is suspending once.
    ///
    /// - Throws: ``MiniCacheError`` if what is open cannot be committed; then nothing is suspended.
    public func suspend() throws(MiniCacheError) {
        try strictly { () throws(StoreError) in try file.opened?.suspend() }
    }

    /// Takes the file up again after ``suspend()``.
    ///
    /// - Throws: ``MiniCacheError`` if it cannot be opened again; ``StoreError/Code/vanished`` if it is no longer there.
    public func resume() throws(MiniCacheError) {
        try strictly { () throws(StoreError) in try file.opened?.resume() }
    }

    private func strictly(_ body: () throws(StoreError) -> Void) throws(MiniCacheError) {
        do throws(StoreError) {
            try body()
        } catch {
            throw MiniCacheError(error)
        }
    }

    // MARK: Making

    private func makeCache<Key: Codable, Value: Codable>(
        _ name: String, _ version: CacheVersion, _ maxAge: CacheMaxAge, _ memory: DataSize?, _ disk: DataSize?, keepingValues: Bool
    ) -> MiniCache<Key, Value> {
        let place = CachePlace(name: name, version: version.text)
        let core: CacheCore
        do throws(StoreError) {
            core = self.core(place, memory: try Capacity(optional: memory), disk: try Capacity(optional: disk))
        } catch {
            // Invalid limits: the cache is not registered, and every call of it fails.
            let core = CacheCore(place, memory: nil, disk: nil, in: file)
            return MiniCache(core, maxAge.expiration, MiniCacheError(error), keepsValues: keepingValues)
        }
        do throws(StoreError) {
            _ = try core.store(claiming: maxAge.expiration)
        } catch {
            Report.failure(MiniCacheError(error), verb: "cache")  // The next call tries again and reports.
        }
        return MiniCache(core, maxAge.expiration, nil, keepsValues: keepingValues)
    }

    /// What handles on one cache share. Strongly held, so that it and what its engine remembers outlive the handles.
    private func core(_ place: CachePlace, memory: Capacity?, disk: Capacity?) -> CacheCore {
        let (core, isNew) = cores.withLock { cores -> (CacheCore, Bool) in
            if let core = cores[place], !core.isClosed { return (core, false) }
            let core = CacheCore(place, memory: memory, disk: disk, in: file)
            cores[place] = core
            return (core, true)
        }
        if !isNew { core.ask(memory: memory, disk: disk) }
        return core
    }
}
