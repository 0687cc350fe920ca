public import Foundation
public import VellumCore
package import VellumEngine

/// A file of caches. Caches of different names are independent.
///
/// ```swift
/// extension MiniCacheManager {
///     static let shared = MiniCacheManager(name: "MiniCache")
/// }
/// ```
///
/// A manager works from any thread. It creates no file until a cache is requested. Managers of one
/// file share its contents.
public final class MiniCacheManager: Sendable {
    /// The name of the file, without its extension.
    public let name: String
    /// The file of the caches.
    public var url: URL { file.url }
    /// What an acknowledged write survives.
    public var durability: Durability { file.durability }
    /// The format of new values. Values of every format are read.
    public var format: CodableFormat { file.format }

    let file: CacheFile
    private let cores = Locked<[CacheLocation: CacheCore]>([:])

    /// Creates a manager whose file is `NAME.sqlite` in the user's caches folder.
    public convenience init(name: String) {
        self.init(name: name, directory: FileSystem.cachesFolder)
    }

    /// Creates a manager whose file is `NAME.sqlite` in the user's caches folder. Any thread may
    /// use it, whatever `ownerThread` is.
    @available(
        *,
        deprecated,
        message: "Write 'MiniCacheManager(name:)'. A manager works from any thread."
    )
    public convenience init(name: String, ownerThread: Thread) { self.init(name: name) }

    /// Creates a manager whose file is `NAME.sqlite` in a folder.
    ///
    /// - Parameters:
    ///   - name: Any string; equal ones name one file. Characters that file names cannot contain
    ///     are percent-encoded.
    ///   - directory: The folder. Created with mode 0700 if it is missing.
    ///   - durability: What an acknowledged write survives.
    ///   - format: The format of new values. Values of every format are read.
    ///   - clock: The source of dates, for tests.
    public convenience init(
        name: String,
        directory: URL,
        durability: Durability = .crashSafe,
        format: CodableFormat = .cbor,
        clock: WallClock = .system
    ) {
        self.init(
            name,
            CacheFile(
                Self.file(name, in: directory),
                durability: durability,
                format: format,
                clock: clock
            )
        )
    }

    /// Creates a manager whose file is `NAME.sqlite` in a folder, of which Apple platforms are told
    /// when its files can be read, and whether they are backed up.
    ///
    /// ```swift
    /// let manager = MiniCacheManager(
    ///     name: "Tokens", directory: folder,
    ///     fileProtection: .completeUnlessOpen, excludedFromBackup: true)
    /// ```
    ///
    /// Both belong to the folder, so that the log and the other side files of the database have
    /// them: give it a folder that has nothing else. With `.complete`, suspend before the device is
    /// locked: the system cannot read SQLite's files then, also where they are mapped into memory.
    /// Set when the file is opened. Without effect on Linux.
    ///
    /// - Parameters:
    ///   - name: Any string; equal ones name one file. Characters that file names cannot contain
    ///     are percent-encoded.
    ///   - directory: The folder. Created with mode 0700 if it is missing.
    ///   - durability: What an acknowledged write survives.
    ///   - fileProtection: When the files can be read. `nil` leaves what they have. Calls on a
    ///     locked device throw ``VellumError/Code/deviceLocked``, if the protection forbids them.
    ///   - excludedFromBackup: Whether backups leave out the folder. `false` leaves what it has.
    ///   - clock: The source of dates, for tests.
    @_disfavoredOverload
    public convenience init(
        name: String,
        directory: URL,
        durability: Durability = .crashSafe,
        fileProtection: FileProtectionType? = nil,
        excludedFromBackup: Bool = false,
        clock: WallClock = .system
    ) {
        let attributes = FolderAttributes(
            fileProtection: fileProtection,
            excludedFromBackup: excludedFromBackup
        )
        self.init(
            name,
            CacheFile(
                Self.file(name, in: directory),
                attributes: attributes,
                durability: durability,
                clock: clock
            )
        )
    }

    /// Creates a manager whose caches are gone with it and with the last of their handles: for
    /// tests and previews.
    ///
    /// ```swift
    /// let manager = MiniCacheManager.inMemory()
    /// ```
    ///
    /// No other manager and no other process has them. Everything else is as with a file, because
    /// it is one in a folder among the system's temporary ones. What a process leaves that is
    /// killed is removed by the next that uses this.
    ///
    /// - Parameter clock: The source of dates.
    public static func inMemory(clock: WallClock = .system) -> MiniCacheManager {
        let folder = TemporaryFolder()
        return MiniCacheManager(
            "Caches",
            CacheFile(file("Caches", in: folder.url), temporary: folder, clock: clock)
        )
    }

    /// The open file, which is created if it is missing.
    package func openFile() throws(VellumError) -> DatabaseFile { try file.open() }

    private init(_ name: String, _ file: CacheFile) {
        self.name = name
        self.file = file
    }

    private static func file(_ name: String, in directory: URL) -> URL {
        directory.appendingPathComponent(
            EntryKey(name).normalized.percentEncoding("/\0") + ".sqlite"
        )
    }

    // MARK: Caches

    /// Returns the cache of a name and version, and creates it if necessary.
    ///
    /// ```swift
    /// let cache: MiniCache<String, Int> = manager.cache(
    ///     cacheName: "Counter", cacheVersion: .appVersion, maxAge: .days(7))
    /// ```
    ///
    /// Blocks for opening the file. If that fails, or a limit or the age is invalid, the subscript
    /// of the returned cache reads `nil` and reports why, and its throwing methods throw the error.
    /// A file that could not be opened is tried again on each use.
    ///
    /// If the original MiniCache had a file of this name, the first call for a cache imports its
    /// entries, which takes O(n log n) for n of them. Those with keys of other types wait for a
    /// call with their type.
    ///
    /// - Parameters:
    ///   - cacheName: Any string.
    ///   - cacheVersion: The version. A cache that holds another version is emptied, and handles of
    ///     that version find nothing any more.
    ///   - maxAge: How long values without an age of their own are valid for this handle. Handles
    ///     on one cache may have different ages.
    ///   - window: How long an expired value is kept for loads that accept old ones, whoever set
    ///     it. Stored in the file: it holds for every program, until a week after the last that
    ///     gives it had the cache open. The longest counts; zero or less is none.
    ///   - memoryLimit: The limit of memory in bytes of encoded values; `nil` for the present one,
    ///     or 1 MB. It can be raised while the cache is open, but not lowered.
    ///   - diskLimit: The limit of the disk in bytes of encoded values, beyond which the least
    ///     recently used values are evicted. The limit belongs to the cache and is stored in its
    ///     file: `nil` for the stored one, or 20 MB. A larger limit applies immediately; a smaller
    ///     one applies to the first handle in a process, and is reported and ignored while the
    ///     cache is open.
    public func cache<Key: Codable, Value: Codable>(
        cacheName: String,
        cacheVersion: CacheVersion,
        maxAge: CacheMaxAge,
        keepExpiredFor window: Duration = .zero,
        memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil
    ) -> MiniCache<Key, Value> {
        makeCache(
            cacheName,
            cacheVersion,
            maxAge.expiration,
            window,
            (memoryLimit, diskLimit),
            isSendable: false
        )
    }

    /// Returns the cache of a name and version, and creates it if necessary. Memory keeps decoded
    /// values, unless their type is a class.
    ///
    /// Everything else is as for values that are not `Sendable`.
    public func cache<Key: Codable, Value: Codable & Sendable>(
        cacheName: String,
        cacheVersion: CacheVersion,
        maxAge: CacheMaxAge,
        keepExpiredFor window: Duration = .zero,
        memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil
    ) -> MiniCache<Key, Value> {
        makeCache(
            cacheName,
            cacheVersion,
            maxAge.expiration,
            window,
            (memoryLimit, diskLimit),
            isSendable: true
        )
    }

    /// Returns the cache of a name and version, and creates it if necessary: with the signature of
    /// the original, to which code refers that conforms a manager to a protocol.
    ///
    /// Everything else is as for a cache with limits.
    @_disfavoredOverload
    public func cache<Key: Codable, Value: Codable>(
        cacheName: String,
        cacheVersion: CacheVersion,
        maxAge: CacheMaxAge
    ) -> MiniCache<Key, Value> {
        makeCache(cacheName, cacheVersion, maxAge.expiration, .zero, (nil, nil), isSendable: false)
    }

    /// Returns the cache of a name and version, and creates it if necessary, with an age that
    /// counts from the last use, for example.
    ///
    /// ```swift
    /// let sessions: MiniCache<String, Session> = manager.cache(
    ///     cacheName: "Sessions", cacheVersion: .custom("1"),
    ///     expiration: .unused(for: .seconds(1800), atMost: .seconds(86_400)))
    /// ```
    ///
    /// Everything else is as for a cache with a `maxAge`.
    public func cache<Key: Codable, Value: Codable>(
        cacheName: String,
        cacheVersion: CacheVersion,
        expiration: Expiration,
        keepExpiredFor window: Duration = .zero,
        memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil
    ) -> MiniCache<Key, Value> {
        makeCache(
            cacheName,
            cacheVersion,
            expiration,
            window,
            (memoryLimit, diskLimit),
            isSendable: false
        )
    }

    /// Returns the cache of a name and version, and creates it if necessary, with an age that
    /// counts from the last use, for example. Memory keeps decoded values, unless their type is a
    /// class.
    ///
    /// Everything else is as for a cache with a `maxAge`.
    public func cache<Key: Codable, Value: Codable & Sendable>(
        cacheName: String,
        cacheVersion: CacheVersion,
        expiration: Expiration,
        keepExpiredFor window: Duration = .zero,
        memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil
    ) -> MiniCache<Key, Value> {
        makeCache(
            cacheName,
            cacheVersion,
            expiration,
            window,
            (memoryLimit, diskLimit),
            isSendable: true
        )
    }

    // MARK: All caches

    /// Removes all values of all caches of the file. Failures are logged and sent to the caches'
    /// `failures`.
    public func clearAll() {
        do throws(MiniCacheError) {
            try removeAll()
        } catch {
            Report.failure(error, operation: "clearAll")
            for core in heldCores {
                core.failures.send(error)
            }
        }
    }

    /// Removes all values of all caches of the file, whatever their versions are, in one
    /// transaction.
    ///
    /// - Throws: ``MiniCacheError`` if the disk fails; then nothing is removed.
    public func removeAll() throws(MiniCacheError) { try file.removeAll() }

    /// Makes all acknowledged writes and the eviction order survive power loss. Blocks for the
    /// disk.
    ///
    /// - Throws: ``MiniCacheError`` if the disk fails.
    public func flush() throws(MiniCacheError) {
        for core in heldCores where !core.isClosed {
            try core.opened?.flush()
        }
    }

    /// Finds out whether the caches can be read and written: for a route that says whether this
    /// process is ready to serve.
    ///
    /// Reads from the device, and writes a page that is rolled back: nothing is announced, counted
    /// or evicted, but relaxed writes that wait are committed. Opens the file, and creates a
    /// missing one. Blocks for a fraction of a millisecond, or while others write.
    ///
    /// - Parameter timeout: How long to wait for others that write, at most an hour. Zero or less
    ///   does not wait.
    /// - Complexity: O(1) of an open file.
    /// - Throws: ``MiniCacheError`` if the file cannot be opened or read, is suspended or has just
    ///   vanished. What else fails is in the result.
    public func check(timeout: Duration = .milliseconds(250)) throws(MiniCacheError) -> FileHealth {
        try FileHealth(of: file.open(), timeout: timeout)
    }

    /// Closes all caches of this manager, and the file if no other manager has it open.
    ///
    /// Later calls of the caches fail with ``VellumError/Code/closed``; caches of other managers go
    /// on. All acknowledged writes survive power loss. Requesting a cache opens the file again.
    ///
    /// - Throws: ``MiniCacheError`` if the disk fails.
    public func close() throws(MiniCacheError) {
        var failure: MiniCacheError?
        for core in heldCores {
            do throws(MiniCacheError) {
                try core.close()
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        try file.close()
        cores.withLock { $0 = [:] }
    }

    /// Commits open transactions and releases all locks and files until ``resume()``. Call it
    /// before the app is suspended, because the system terminates suspended apps that hold a lock.
    ///
    /// Values in memory are still found; calls that need the disk fail with
    /// ``VellumError/Code/suspended``. Blocks until running calls have finished. Suspending twice
    /// has no effect.
    ///
    /// - Throws: ``MiniCacheError`` if a transaction cannot be committed; then nothing is
    ///   suspended.
    public func suspend() throws(MiniCacheError) { try file.openedByAnybody?.suspend() }

    /// Opens the file again after ``suspend()``.
    ///
    /// - Throws: ``MiniCacheError`` if it cannot be opened; ``VellumError/Code/vanished`` if it was
    ///   removed.
    public func resume() throws(MiniCacheError) { try file.openedByAnybody?.resume() }

    private var heldCores: [CacheCore] { cores.withLock { Array($0.values) } }

    // MARK: Making

    private func makeCache<Key: Codable, Value: Codable>(
        _ name: String,
        _ version: CacheVersion,
        _ expiration: Expiration,
        _ window: Duration,
        _ limits: (memory: DataSize?, disk: DataSize?),
        isSendable: Bool
    ) -> MiniCache<Key, Value> {
        let location = CacheLocation(name: name, version: version.text)
        let core: CacheCore
        do throws(VellumError) {
            try expiration.check()
            try ValueCoding<Value>(format).check()
            core = self.core(
                location,
                memory: try Capacity(optional: limits.memory, as: "memory"),
                disk: try Capacity(optional: limits.disk, as: "disk")
            )
            core.keepExpired(for: window)
        } catch {
            // The manager does not keep this core: it only reports the error.
            let core = CacheCore(location, memory: nil, disk: nil, in: file)
            return MiniCache(core, .invalid(error), expiration, isSendable: isSendable)
        }
        do throws(VellumError) {
            let hold = try core.hold(for: expiration, keyedBy: Key.self)
            return MiniCache(core, .opened(hold), expiration, isSendable: isSendable)
        } catch {
            core.log(error, "cache")
            return MiniCache(core, .failed, expiration, isSendable: isSendable)
        }
    }

    /// Returns the core of a cache. The manager keeps it, so that its contents in memory outlive
    /// the handles.
    private func core(_ location: CacheLocation, memory: Capacity?, disk: Capacity?) -> CacheCore {
        cores.withLock { $0[location] }?.lookForReplacement()
        let (core, isNew) = cores.withLock { cores -> (CacheCore, Bool) in
            // One whose file has vanished goes on in a new file, with its handles.
            if let core = cores[location], !core.isClosedForGood, !core.isReplaced {
                return (core, false)
            }
            let core = CacheCore(location, memory: memory, disk: disk, in: file)
            cores[location] = core
            return (core, true)
        }
        if !isNew {
            core.willBeRequested()
            core.requestLimits(memory: memory, disk: disk)
        }
        return core
    }
}
