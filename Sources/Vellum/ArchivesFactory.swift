public import Foundation
internal import Originals
public import VellumCore
internal import VellumEngine

/// Opens archives: one per type, all in one file in one folder.
///
/// ```swift
/// let archives = try ArchivesFactory.shared.archives(
///     for: User.self, trySetMaxMemorySize: 10.megaByte,
///     trySetMaxDiskSize: 20.megaByte)
/// ```
///
/// Opening the archive of a type again returns another handle on the same archive. All methods may
/// be called from any thread.
///
/// **The disk limit** belongs to the archive and is stored in its file: an archive that is opened
/// without a limit keeps the one it has. The first opening in a process may raise or lower it; what
/// is evicted for it is logged and reported as ``StoreEvent/limitLowered(_:)``. An archive that was
/// never given a limit has the default of the factory, and logs a warning when it first evicts.
/// ``DataSize/unlimited`` keeps everything. **The memory limit** belongs to the open archive.
///
/// **While the archive is open**, `archives(for:trySetMaxMemorySize:trySetMaxDiskSize:)` and
/// ``Archived`` change a limit only if nobody gave one since the archive was opened, memory and
/// disk each for itself; another size is ignored, and one notice is logged. `store(for:…)` raises a
/// limit at any time, and throws ``VellumError/Code/contradiction`` for a smaller one.
public final class ArchivesFactory: Sendable {
    /// The archives of this program: in the user's caches folder, in a folder named after the
    /// program.
    ///
    /// Objects that version 1 of Vellum kept in the caches folder are imported when the archive of
    /// their type is first opened.
    public static let shared = ArchivesFactory(
        directory: defaultDirectory,
        importing: FileSystem.cachesFolder
    )

    /// The folder of the file.
    public let directory: URL
    /// What an acknowledged write survives.
    public let durability: Durability
    /// The limit of memory of an archive that is opened without one from now on: 1 MB unless given.
    public var defaultMaxMemorySize: DataSize {
        get { defaults.withLock { $0.memory } }
        set { defaults.withLock { $0.memory = newValue } }
    }
    /// The limit of the disk of an archive that was never given one and is opened from now on: 2 MB
    /// unless given. A default below the current limit has no effect.
    public var defaultMaxDiskSize: DataSize {
        get { defaults.withLock { $0.disk } }
        set { defaults.withLock { $0.disk = newValue } }
    }

    /// When objects of older versions (``VersionedArchive``) are replaced in the file, in archives
    /// that are opened from now on: immediately unless set. Of several openings, also by other
    /// factories and processes, the earliest beginning counts.
    ///
    /// ```swift
    /// archives.migrates = .onRead  // while old programs run
    /// ```
    public var migrates: MigrationTiming {
        get { defaults.withLock { $0.migrates } }
        set { defaults.withLock { $0.migrates = newValue } }
    }

    let clock: WallClock
    let state = Locked(State())
    let place: Place
    private let defaults: Locked<(memory: DataSize, disk: DataSize, migrates: MigrationTiming)>

    struct State {
        /// A weak reference to a handle.
        typealias Handle = @Sendable () -> (any ClosableHandle)?

        var file: FileHold?
        /// The handles that were not closed. Closing the factory closes them.
        var handles: [ObjectIdentifier: Handle] = [:]
        /// The number of handles at which released ones are removed.
        var handleCountToPrune = 64
        /// The store of each type. Kept so that its memory outlives the handles.
        var stores: [ObjectIdentifier: any AnyObject & Sendable] = [:]
        /// The types of which nothing of version 1 is left to import.
        var importedTypes: Set<ObjectIdentifier> = []
    }

    /// Creates a factory whose archives are in a folder of your choice. Creates no folder and no
    /// file until an archive is opened.
    ///
    /// - Parameters:
    ///   - directory: Created with mode 0700 if it does not exist.
    ///   - durability: What an acknowledged write survives.
    ///   - defaultMaxMemorySize: The limit of memory of an archive that is opened without one.
    ///   - defaultMaxDiskSize: The limit of the disk of an archive that was never given one.
    ///   - clock: The source of the current time. Tests may pass their own.
    public convenience init(
        directory: URL,
        durability: Durability = .crashSafe,
        defaultMaxMemorySize: DataSize = 1.megaByte,
        defaultMaxDiskSize: DataSize = 2.megaByte,
        clock: WallClock = .system
    ) {
        self.init(
            Place(folder: directory),
            durability,
            memory: defaultMaxMemorySize,
            disk: defaultMaxDiskSize,
            clock: clock
        )
    }

    /// Creates a factory whose archives are in a folder of your choice, of which Apple platforms
    /// are told when its files can be read, and whether they are backed up.
    ///
    /// ```swift
    /// let archives = ArchivesFactory(
    ///     directory: folder, fileProtection: .completeUnlessOpen,
    ///     excludedFromBackup: true)
    /// ```
    ///
    /// Both belong to the folder, so that the log and the other side files of the database have
    /// them: give it a folder that has nothing else. With `.complete`, suspend before the device is
    /// locked: the system cannot read SQLite's files then, also where they are mapped into memory.
    /// Set when a file is opened. Without effect on Linux.
    ///
    /// - Parameters:
    ///   - directory: Created with mode 0700 if it does not exist.
    ///   - durability: What an acknowledged write survives.
    ///   - fileProtection: When the files can be read. `nil` leaves what they have. Calls on a
    ///     locked device throw ``VellumError/Code/deviceLocked``, if the protection forbids them.
    ///   - excludedFromBackup: Whether backups leave out the folder. `false` leaves what it has.
    ///   - clock: The source of the current time. Tests may pass their own.
    @_disfavoredOverload
    public convenience init(
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
            Place(folder: directory, attributes: attributes),
            durability,
            clock: clock
        )
    }

    /// Creates a factory that only reads a file: one that is shipped with the program, or lies
    /// where nobody writes.
    ///
    /// ```swift
    /// let file = bundle.url(
    ///     forResource: "Airports", withExtension: "sqlite")
    /// guard let file else { return nil }
    /// let factory = ArchivesFactory(readingOnly: file)
    /// return try factory.store(for: Airport.self)
    /// ```
    ///
    /// Archives are opened, read, queried and observed as those of any factory. Nothing is created,
    /// repaired, migrated or evicted, in the file or beside it, so the folder may be read-only.
    /// Every write throws ``VellumError/Code/readOnly``, and the methods of an ``ArchiveManager``
    /// report it. An archive keeps the disk limit that the file has, whatever is asked for. Objects
    /// of an older version of their type are migrated when they are read. Indexes that the type
    /// declares are used if the file has them; otherwise queries read every object. Uses are not
    /// written down.
    ///
    /// Make the file by `backup(to:)` of the library VellumFiles: it is one file that needs no log.
    /// A file that was closed by ``close()`` can be read, too, but SQLite needs two side files for
    /// it while it is open, unless nobody can write its folder.
    ///
    /// No program may write the file while it is open here: values in memory would be outdated.
    /// Opens nothing itself and blocks for nothing; opening an archive throws
    /// ``VellumError/Code/cannotOpen`` if there is no file or it has a log with data, and
    /// ``VellumError/Code/readOnly`` if it has no archive of the type.
    ///
    /// - Parameters:
    ///   - file: The file itself, with any name.
    ///   - clock: The source of the current time, which decides which objects have expired.
    public convenience init(readingOnly file: URL, clock: WallClock = .system) {
        let place = Place(folder: file.deletingLastPathComponent(), shippedFile: file)
        self.init(place, clock: clock)
    }

    /// Creates a factory whose archives are gone with it and with the last of its handles: for
    /// tests and previews.
    ///
    /// ```swift
    /// let archives = ArchivesFactory.inMemory()
    /// ```
    ///
    /// No other factory and no other process has them. Everything else is as with files, because it
    /// is a folder among the system's temporary ones. A process that is killed leaves the folder to
    /// the system.
    ///
    /// - Parameter clock: The source of the current time.
    public static func inMemory(clock: WallClock = .system) -> ArchivesFactory {
        let folder = TemporaryFolder()
        return ArchivesFactory(
            Place(folder: folder.url, temporary: folder),
            clock: clock
        )
    }

    /// - Parameter originals: The folder in which version 1 of Vellum kept a folder for each type.
    package convenience init(
        directory: URL,
        importing originals: URL?,
        durability: Durability = .crashSafe,
        clock: WallClock = .system
    ) {
        self.init(
            Place(folder: directory, originals: originals),
            durability,
            clock: clock
        )
    }

    /// Where the file is.
    struct Place {
        var folder: URL
        /// The folder in which version 1 kept a folder for each type; `nil` if nothing is imported.
        var originals: URL?
        var attributes = FolderAttributes.unchanged
        /// The file of a factory that only reads.
        var shippedFile: URL?
        /// The folder of a factory in memory.
        var temporary: TemporaryFolder?
    }

    private init(
        _ place: Place,
        _ durability: Durability = .crashSafe,
        memory: DataSize = 1.megaByte,
        disk: DataSize = 2.megaByte,
        clock: WallClock
    ) {
        directory = place.folder
        self.place = place
        self.durability = durability
        defaults = Locked((memory, disk, .immediately))
        self.clock = clock
    }

    deinit {
        guard place.temporary != nil else { return }
        // Before the folder is removed, so that nothing looks for its file.
        do {
            try close()
        } catch {
            Report.notClosed(error)
        }
    }

    // MARK: Archives with methods that do not throw

    /// Opens the archive of a type, with methods that do not throw. Memory keeps encoded objects.
    ///
    /// Blocks for the disk.
    ///
    /// - Parameters:
    ///   - type: The type; may be omitted if the result type determines it.
    ///   - memory: The limit of memory, in bytes of encoded objects. The first size that is given
    ///     while the archive is open decides. `nil`, zero or less: the limit of the open archive,
    ///     or the default.
    ///   - disk: The limit of the disk, in bytes of encoded objects. The first size that is given
    ///     while the archive is open decides. `nil`, zero or less: the limit stored in the archive,
    ///     or the default.
    ///   - expiration: How long an object is valid that is recorded through this handle. `nil`:
    ///     forever.
    ///   - window: How long an expired object is kept for loads that accept old ones, whoever
    ///     recorded it. Stored in the file: it holds for every program, until a week after the last
    ///     that gives it had the archive open. The longest counts; zero or less is none.
    /// - Throws: ``VellumError`` if the type is private or local and has no
    ///   ``Archivable/archiveName``, or the file cannot be opened or is not a file of archives. The
    ///   file is not changed.
    public func archives<Archive: Archivable>(
        for type: Archive.Type = Archive.self,
        trySetMaxMemorySize memory: DataSize? = nil,
        trySetMaxDiskSize disk: DataSize? = nil,
        expiration: Expiration? = nil,
        keepExpiredFor window: Duration = .zero
    ) throws -> ArchiveManager<Archive> {
        ArchiveManager(
            try makeStore(
                memory?.ifPositive,
                disk?.ifPositive,
                expiration,
                keepExpiredFor: window,
                .bytes,
                .nonThrowing
            )
        )
    }

    /// Opens the archive of a type, with methods that do not throw. Memory keeps decoded values,
    /// unless the type is a class.
    ///
    /// Blocks for the disk.
    ///
    /// - Parameters:
    ///   - type: The type; may be omitted if the result type determines it.
    ///   - memory: The limit of memory, in bytes of encoded objects. The first size that is given
    ///     while the archive is open decides. `nil`, zero or less: the limit of the open archive,
    ///     or the default.
    ///   - disk: The limit of the disk, in bytes of encoded objects. The first size that is given
    ///     while the archive is open decides. `nil`, zero or less: the limit stored in the archive,
    ///     or the default.
    ///   - expiration: How long an object is valid that is recorded through this handle. `nil`:
    ///     forever.
    ///   - window: How long an expired object is kept for loads that accept old ones, whoever
    ///     recorded it. Stored in the file: it holds for every program, until a week after the last
    ///     that gives it had the archive open. The longest counts; zero or less is none.
    /// - Throws: ``VellumError`` if the type is private or local and has no
    ///   ``Archivable/archiveName``, or the file cannot be opened or is not a file of archives. The
    ///   file is not changed.
    public func archives<Archive: Archivable & Sendable>(
        for type: Archive.Type = Archive.self,
        trySetMaxMemorySize memory: DataSize? = nil,
        trySetMaxDiskSize disk: DataSize? = nil,
        expiration: Expiration? = nil,
        keepExpiredFor window: Duration = .zero
    ) throws -> ArchiveManager<Archive> {
        ArchiveManager(
            try makeStore(
                memory?.ifPositive,
                disk?.ifPositive,
                expiration,
                keepExpiredFor: window,
                .values,
                .nonThrowing
            )
        )
    }

    // The signatures of version 1, to which code refers that conforms a factory to a protocol.
    // Other calls prefer those above.

    /// Opens the archive of a type, with methods that do not throw. Memory keeps encoded objects.
    ///
    /// Everything else is as with an expiration.
    @_disfavoredOverload
    public func archives<Archive: Archivable>(
        for type: Archive.Type,
        trySetMaxMemorySize memory: DataSize = .zero,
        trySetMaxDiskSize disk: DataSize = .zero
    ) throws -> ArchiveManager<Archive> {
        ArchiveManager(try makeStore(memory.ifPositive, disk.ifPositive, nil, .bytes, .nonThrowing))
    }

    /// Opens the archive of the type that the result has, with methods that do not throw. Memory
    /// keeps encoded objects.
    ///
    /// Everything else is as with an expiration.
    @_disfavoredOverload
    public func archives<Archive: Archivable>(
        trySetMaxMemorySize memory: DataSize = .zero,
        trySetMaxDiskSize disk: DataSize = .zero
    ) throws -> ArchiveManager<Archive> {
        ArchiveManager(try makeStore(memory.ifPositive, disk.ifPositive, nil, .bytes, .nonThrowing))
    }

    // MARK: Archives with throwing methods

    /// Opens the archive of a type, with throwing methods. Memory keeps encoded objects.
    ///
    /// Blocks for the disk.
    ///
    /// - Parameters:
    ///   - type: The type; may be omitted if the result type determines it.
    ///   - memoryLimit: The limit of memory, in bytes of encoded objects. `nil`: the limit of the
    ///     open archive, or the default.
    ///   - diskLimit: The limit of the disk, in bytes of encoded objects. `nil`: the limit stored
    ///     in the archive, or the default.
    ///   - expiration: How long an object is valid that is recorded through this handle without an
    ///     expiration. `nil`: forever.
    ///   - window: How long an expired object is kept for loads that accept old ones, whoever
    ///     recorded it. Stored in the file: it holds for every program, until a week after the last
    ///     that gives it had the archive open. The longest counts; zero or less is none.
    /// - Throws: ``VellumError`` if a limit is zero or negative, the archive is open with larger
    ///   limits, the type is private or local and has no ``Archivable/archiveName``, or the file
    ///   cannot be opened or is not a file of archives. The file is not changed.
    public func store<Archive: Archivable>(
        for type: Archive.Type = Archive.self,
        memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil,
        expiration: Expiration? = nil,
        keepExpiredFor window: Duration = .zero
    ) throws -> ArchiveStore<Archive> {
        try makeStore(memoryLimit, diskLimit, expiration, keepExpiredFor: window, .bytes, .throwing)
    }

    /// Opens the archive of a type, with throwing methods. Memory keeps decoded values, unless the
    /// type is a class.
    ///
    /// Blocks for the disk.
    ///
    /// - Parameters:
    ///   - type: The type; may be omitted if the result type determines it.
    ///   - memoryLimit: The limit of memory, in bytes of encoded objects. `nil`: the limit of the
    ///     open archive, or the default.
    ///   - diskLimit: The limit of the disk, in bytes of encoded objects. `nil`: the limit stored
    ///     in the archive, or the default.
    ///   - expiration: How long an object is valid that is recorded through this handle without an
    ///     expiration. `nil`: forever.
    ///   - window: How long an expired object is kept for loads that accept old ones, whoever
    ///     recorded it. Stored in the file: it holds for every program, until a week after the last
    ///     that gives it had the archive open. The longest counts; zero or less is none.
    /// - Throws: ``VellumError`` if a limit is zero or negative, the archive is open with larger
    ///   limits, the type is private or local and has no ``Archivable/archiveName``, or the file
    ///   cannot be opened or is not a file of archives. The file is not changed.
    public func store<Archive: Archivable & Sendable>(
        for type: Archive.Type = Archive.self,
        memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil,
        expiration: Expiration? = nil,
        keepExpiredFor window: Duration = .zero
    ) throws -> ArchiveStore<Archive> {
        try makeStore(
            memoryLimit,
            diskLimit,
            expiration,
            keepExpiredFor: window,
            .values,
            .throwing
        )
    }

    // MARK: All archives

    /// Reads by key and writes several archives of this factory in one transaction: everything, or
    /// nothing.
    ///
    /// If the closure reads, it may run several times: when another thread or process wrote what it
    /// has read before it was committed.
    ///
    /// ```swift
    /// try factory.transaction { transaction in
    ///     let key = "ann"
    ///     let found = try transaction.access(archiveWithKey: key, in: accounts)
    ///     guard var ann = found, ann.credit >= 5 else { return }
    ///     ann.credit -= 5
    ///     try transaction.record(ann, in: accounts)
    ///     try transaction.record(Order(id: "1", of: "ann"), in: orders)
    /// }
    /// ```
    ///
    /// Runs the closure on the caller's thread, without a lock, then blocks for the disk.
    /// ``ArchiveTransaction/access(archiveWithKey:in:)`` sees what the transaction has written;
    /// reads by the archives themselves do not, and are not required at the commit. Queries are not
    /// part of a transaction: nothing would notice an object that begins to match. A transaction
    /// that reads nothing runs once.
    ///
    /// While the closure runs, others may write between two of its reads, which then disagree. It
    /// runs again in that case, also if it threw.
    ///
    /// Inside the closure, a write to the same file that is not by the transaction throws
    /// ``VellumError/Code/recursiveUpdate``. If no caller sees that error, as with
    /// ``ArchiveManager``, the transaction throws it at its end. Nothing is written in both cases.
    /// Other files can be written, and so can this one by tasks and threads that the closure
    /// starts.
    ///
    /// - Parameter body: If it throws, nothing is written.
    /// - Returns: What the closure returned when it ran last.
    /// - Throws: The error of the closure, or ``VellumError``: with the code
    ///   ``VellumError/Code/busy`` if others wrote what was read 64 times in a row,
    ///   ``VellumError/Code/recursiveUpdate`` if the closure writes without the transaction,
    ///   ``VellumError/Code/differentFiles`` for an archive of another file, or if an archive is
    ///   closed or the disk fails. Nothing is written, but if only the sync of
    ///   ``Durability/powerSafe`` failed: then everything was, with the guarantees of
    ///   ``Durability/crashSafe``.
    @discardableResult
    public func transaction<Result>(
        _ body: (inout ArchiveTransaction) throws -> Result
    ) throws -> Result {
        let file = try openFile()
        return try TransactionReads.retrying(on: file) { () throws -> Result? in
            var transaction = ArchiveTransaction(of: self, on: file)
            let result: Result
            do {
                result = try file.transactions.run { try body(&transaction) }
            } catch {
                // What it read may never have been there at one moment.
                if transaction.isOutdated() { return nil }
                throw error
            }
            // An error of the commit is final: if only the sync failed, everything is written, and
            // would be written twice.
            return try transaction.commit() ? result : nil
        }
    }

    /// Closes every handle that this factory opened, and the file if no other factory has it open.
    ///
    /// Every later call of those handles throws ``VellumError/Code/closed``; handles of other
    /// factories stay open. Blocks until every acknowledged write survives power loss. Opening an
    /// archive with this factory afterwards opens the file again.
    ///
    /// - Throws: ``VellumError`` if the disk fails. Call it again to close the remaining handles.
    public func close() throws {
        let open = state.withLock { exchange(&$0, with: State()) }
        do throws(VellumError) {
            for handle in open.handles.values { try handle()?.close() }
            try open.file?.close()
        } catch {
            state.withLock { state in if state.file == nil { state = open } }
            throw error
        }
    }

    /// Commits open writes and releases all locks and files until ``resume()``. Call it before the
    /// app is suspended, because the system kills suspended apps that hold a lock on a file.
    ///
    /// ```swift
    /// try archives.suspend()  // when the scene enters the background
    /// try archives.resume()  // when it is about to enter the foreground
    /// ```
    ///
    /// It is the file of all factories on this folder, whichever of them was called. Objects in
    /// memory can still be accessed. A call that needs the disk throws
    /// ``VellumError/Code/suspended``. Blocks until calls that use the file have finished.
    /// Suspending twice has no further effect.
    ///
    /// - Throws: ``VellumError`` if the open writes cannot be committed. Nothing is suspended.
    public func suspend() throws(VellumError) { try openedByAnybody?.suspend() }

    /// Opens the file again after ``suspend()``.
    ///
    /// - Throws: ``VellumError`` if the file cannot be opened; its code is
    ///   ``VellumError/Code/vanished`` if the file no longer exists.
    public func resume() throws(VellumError) { try openedByAnybody?.resume() }

    /// The file, if any factory of this process has it open.
    private var openedByAnybody: DatabaseFile? {
        // A file that is only read is not shared.
        openedFile ?? (place.shippedFile == nil ? DatabaseFile.opened(at: fileURL) : nil)
    }

    /// Imports what version 1 kept of a type, once for each opening of the file.
    func importOriginals<Archive: Archivable>(
        into store: Store<Archive>,
        formerNames: [String],
        _ methods: Methods
    ) throws(VellumError) {
        let type = ObjectIdentifier(Archive.self)
        guard let originals = place.originals, state.withLock({ !$0.importedTypes.contains(type) })
        else { return }
        do throws(VellumError) {
            for name in OriginalName.folders(of: Archive.self, formerNames: formerNames) {
                guard let objects = OriginalObjects(named: name, in: originals) else { continue }
                if let obstacle = objects.obstacle(for: store.name) {
                    Report.failure(obstacle, operation: "archives(for:)", Archive.self)
                    store.events.keep(.failure(obstacle))
                    continue
                }
                let file = try openFile()
                // The closure of a transaction may be the first to open the archive.
                try file.transactions.pausing { () throws(VellumError) in
                    if let counts = try objects.importAll(into: store, of: file) {
                        Report.imported(counts, store.name)
                    }
                }
            }
        } catch {
            guard methods == .nonThrowing else { throw error }
            // The files are still there; the next opening goes on.
            Report.failure(error, operation: "archives(for:)", Archive.self)
            store.events.keep(.failure(error))
            return
        }
        state.withLock { _ = $0.importedTypes.insert(type) }
    }

    private static var defaultDirectory: URL {
        let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        return FileSystem.cachesFolder.appendingPathComponent(
            program.isEmpty ? "Vellum" : program,
            isDirectory: true
        )
    }
}

extension DataSize {
    /// The size; `nil` if it is zero or negative, which stood for the default in version 1.
    fileprivate var ifPositive: DataSize? { bytes > 0 ? self : nil }
}

extension VellumError.Code {
    /// The type is private or local, so its full name changes on every launch. Give it an
    /// `archiveName`.
    public static let unnamedArchive = VellumError.Code("unnamedArchive")
}
