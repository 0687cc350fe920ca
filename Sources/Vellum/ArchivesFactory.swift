public import Foundation
public import Tiers
internal import TiersSQLite

/// Where archives come from: one for each type, all in one file of one folder.
///
/// ```swift
/// let archives = try ArchivesFactory.shared.archives(
///     for: User.self, trySetMaxMemorySize: 10.megaByte, trySetMaxDiskSize: 20.megaByte)
/// ```
///
/// Whoever asks again for a type gets the same archive. The sizes count when it is first asked for in this process;
/// a later contradiction is logged by `archives(for:…)` and thrown by `store(for:…)`. Works from any thread.
public final class ArchivesFactory: Sendable {
    /// The archives of this program: in the user's caches folder, in a folder named for the program.
    public static let shared = ArchivesFactory(directory: defaultDirectory)

    /// The folder that the file lies in.
    public let directory: URL
    /// What an acknowledged write survives.
    public let durability: Durability
    /// How much memory an archive may hold for which nothing else is said: 1 MB.
    public let defaultMaxMemorySize: DataSize
    /// How much disk an archive may hold for which nothing else is said: 2 MB.
    public let defaultMaxDiskSize: DataSize

    private let clock: WallClock
    private let state = Locked(State())

    private struct State {
        var file: SQLiteFile?
        // The engine of each type, so that it and what it remembers outlive the handles.
        var engines: [ObjectIdentifier: any ClosableEngine] = [:]
        // Those that only properties of recorded objects asked for: the sizes of whoever asks first still count.
        var provisional: Set<ObjectIdentifier> = []
    }

    /// A factory whose archives lie in a folder of your own. Makes nothing until an archive is asked for.
    ///
    /// - Parameters:
    ///   - directory: Made with mode 0700 if it is missing.
    ///   - durability: What an acknowledged write survives.
    ///   - defaultMaxMemorySize: How much memory an archive may hold for which nothing else is said.
    ///   - defaultMaxDiskSize: How much disk an archive may hold for which nothing else is said.
    ///   - clock: Where instants come from; for tests.
    public init(
        directory: URL, durability: Durability = .crashSafe, defaultMaxMemorySize: DataSize = 1.megaByte,
        defaultMaxDiskSize: DataSize = 2.megaByte, clock: WallClock = .system
    ) {
        self.directory = directory
        self.durability = durability
        self.defaultMaxMemorySize = defaultMaxMemorySize
        self.defaultMaxDiskSize = defaultMaxDiskSize
        self.clock = clock
    }

    // MARK: Archives that forgive

    /// The archive of a type, told forgivingly.
    ///
    /// - Parameters:
    ///   - type: The type; may be left out where the result says it.
    ///   - memory: How many bytes of encoded objects memory may hold.
    ///   - disk: How many bytes of encoded objects the disk may hold.
    ///   - expiration: How long an object is valid that is recorded through this handle; `nil` is for ever.
    /// - Throws: ``VellumError`` if a size is zero or below, the type has no name that lasts, or the file cannot be opened.
    ///   A file there that is no database is moved aside, and reported.
    public func archives<Archive: Archivable>(
        for type: Archive.Type = Archive.self, trySetMaxMemorySize memory: DataSize? = nil, trySetMaxDiskSize disk: DataSize? = nil,
        expiration: Expiration? = nil
    ) throws -> ArchiveManager<Archive> {
        ArchiveManager(try makeStore(memory, disk, expiration, .bytes, .forgiving))
    }

    /// The archive of a type, told forgivingly; memory keeps values, where the type is no class.
    public func archives<Archive: Archivable & Sendable>(
        for type: Archive.Type = Archive.self, trySetMaxMemorySize memory: DataSize? = nil, trySetMaxDiskSize disk: DataSize? = nil,
        expiration: Expiration? = nil
    ) throws -> ArchiveManager<Archive> {
        ArchiveManager(try makeStore(memory, disk, expiration, .values, .forgiving))
    }

    // MARK: Archives that throw

    /// The archive of a type, told strictly.
    ///
    /// - Parameters:
    ///   - type: The type; may be left out where the result says it.
    ///   - memoryLimit: How many bytes of encoded objects memory may hold.
    ///   - diskLimit: How many bytes of encoded objects the disk may hold.
    ///   - expiration: How long an object is valid that is recorded through this handle without an age of its own; `nil` is for ever.
    /// - Throws: ``VellumError`` if a limit is zero or below, the archive is open with other limits, the type has no name that
    ///   lasts, or the file cannot be opened or is no archive file; then it is left untouched.
    public func store<Archive: Archivable>(
        for type: Archive.Type = Archive.self, memoryLimit: DataSize? = nil, diskLimit: DataSize? = nil, expiration: Expiration? = nil
    ) throws -> ArchiveStore<Archive> {
        try makeStore(memoryLimit, diskLimit, expiration, .bytes, .strict)
    }

    /// The archive of a type, told strictly; memory keeps values, where the type is no class.
    public func store<Archive: Archivable & Sendable>(
        for type: Archive.Type = Archive.self, memoryLimit: DataSize? = nil, diskLimit: DataSize? = nil, expiration: Expiration? = nil
    ) throws -> ArchiveStore<Archive> {
        try makeStore(memoryLimit, diskLimit, expiration, .values, .strict)
    }

    // MARK: All archives

    /// Writes to any archives of this factory, together or not at all.
    ///
    /// ```swift
    /// try factory.transaction { transaction in
    ///     try transaction.record(order, in: orders)
    ///     transaction.delete(archiveWithKey: "cart", in: carts)
    /// }
    /// ```
    ///
    /// `body` runs first and only collects: nothing is locked meanwhile, and what it reads is as it was before. If it
    /// throws, nothing is changed.
    ///
    /// - Throws: What `body` throws, or ``VellumError``.
    public func transaction(_ body: (inout ArchiveTransaction) throws -> Void) throws {
        var transaction = ArchiveTransaction()
        try body(&transaction)
        try transaction.commit()
    }

    /// Flushes every archive and lets go of the file, for every handle on it in this process. Asking for an archive
    /// afterwards opens it again.
    public func close() throws {
        let open = state.withLock { state in
            defer { state = State() }
            return state
        }
        do throws(StoreError) {
            for engine in open.engines.values { try engine.close() }
            try open.file?.close()
        } catch {
            // What could not be closed can be closed again.
            state.withLock { state in if state.file == nil { state = open } }
            throw VellumError(error)
        }
    }

    /// Commits what is open and lets go of every lock and file, until ``resume()``: for an app that is about to be suspended, because
    /// the system kills those that hold a lock then.
    ///
    /// ```swift
    /// try archives.suspend()  // when the scene enters the background
    /// try archives.resume()  // when it is about to enter the foreground
    /// ```
    ///
    /// What memory holds is still found; whoever needs the disk meanwhile gets ``StoreError/Code/suspended``. Blocks for those who
    /// use the file now. Suspending twice is suspending once.
    ///
    /// - Throws: ``VellumError`` if what is open cannot be committed; then nothing is suspended.
    public func suspend() throws(VellumError) {
        try onFile { (file) throws(StoreError) in try file.suspend() }
    }

    /// Takes the file up again after ``suspend()``.
    ///
    /// - Throws: ``VellumError`` if it cannot be opened again; ``StoreError/Code/vanished`` if it is no longer there.
    public func resume() throws(VellumError) {
        try onFile { (file) throws(StoreError) in try file.resume() }
    }

    private func onFile(_ body: (SQLiteFile) throws(StoreError) -> Void) throws(VellumError) {
        guard let file = state.withLock({ $0.file }), !file.isClosed else { return }
        do throws(StoreError) {
            try body(file)
        } catch {
            throw VellumError(error)
        }
    }

    // MARK: Making

    enum Face {
        case strict, forgiving
    }

    func makeStore<Archive: Archivable>(
        _ memory: DataSize?, _ disk: DataSize?, _ expiration: Expiration?, _ remembrance: Remembrance<Archive>, _ face: Face
    ) throws(VellumError) -> ArchiveStore<Archive> {
        do throws(StoreError) {
            let (engine, wasOpen) = try engine(memory, disk, remembrance, face)
            let isProvisional = state.withLock { $0.provisional.remove(ObjectIdentifier(engine)) != nil }
            if isProvisional, wasOpen {
                // Only properties of other objects asked for it until now: this is its first creation.
                try engine.reconfigure(
                    memory: Capacity(memory ?? defaultMaxMemorySize), disk: Capacity(disk ?? defaultMaxDiskSize), remembering: remembrance)
            }
            return ArchiveStore(engine: engine, factory: self, expiration: expiration)
        } catch {
            throw VellumError(error)
        }
    }

    /// The engine for a property of a recorded object.
    func engine<Archive: Archivable>(for type: Archive.Type) throws(StoreError) -> TieredStore<Archive> {
        let (engine, wasOpen) = try engine(nil, nil, Remembrance<Archive>.bytes, .forgiving)
        if !wasOpen { state.withLock { _ = $0.provisional.insert(ObjectIdentifier(engine)) } }
        return engine
    }

    /// Lets go of an engine that was closed.
    func forget(_ engine: TieredStore<some Archivable>, of type: any Archivable.Type) {
        state.withLock { state in
            state.provisional.remove(ObjectIdentifier(engine))
            guard state.engines[ObjectIdentifier(type)] === engine else { return }
            state.engines[ObjectIdentifier(type)] = nil
        }
    }

    private func engine<Archive: Archivable>(
        _ memory: DataSize?, _ disk: DataSize?, _ remembrance: Remembrance<Archive>, _ face: Face
    ) throws(StoreError) -> (engine: TieredStore<Archive>, wasOpen: Bool) {
        // Before anything is made.
        for size in [memory ?? defaultMaxMemorySize, disk ?? defaultMaxDiskSize] { _ = try Capacity(size) }
        let name = try name(of: Archive.self)
        let file = try openFile(face)
        let open = try file.openStore(named: name, of: Archive.self)
        let isProvisional = open.map { open in state.withLock { $0.provisional.contains(ObjectIdentifier(open)) } } ?? false
        // What the caller did not say does not contradict anything, and what only properties asked for says nothing.
        let openSizes = open.map { (memory: $0.capacities.memory.bytes.bytes, disk: $0.capacities.disk.bytes.bytes) }
        let said = isProvisional ? (memory: openSizes?.memory, disk: openSizes?.disk) : (memory: memory, disk: disk)
        let memoryCapacity = try Capacity(said.memory ?? openSizes?.memory ?? defaultMaxMemorySize)
        let diskCapacity = try Capacity(said.disk ?? openSizes?.disk ?? defaultMaxDiskSize)
        let engine = try file.store(
            named: name, codec: ArchiveCodec<Archive>(), memory: memoryCapacity, disk: diskCapacity,
            remembering: remembrance, indexing: indexCatalog(of: Archive.self) ?? IndexCatalog(),
            durability: durability, whenDifferent: face == .strict ? .refuse : .share)
        state.withLock { $0.engines[ObjectIdentifier(Archive.self)] = engine }
        return (engine, open === engine)
    }

    private func name(of type: (some Archivable).Type) throws(StoreError) -> String {
        let name = type.archiveName
        guard !name.contains("(unknown context at ") else {
            throw StoreError(
                .unnamedArchive,
                """
                \(type) is private or local, so its full name changes from start to start and its objects would be lost. \
                Add to the type: static var archiveName: String { "\(type)" }
                """)
        }
        return name
    }

    private func openFile(_ face: Face) throws(StoreError) -> SQLiteFile {
        if let file = state.withLock({ $0.file }), !file.isClosed { return file }
        let file = try SQLiteFile.open(
            at: directory.appendingPathComponent("Archives.sqlite"), ifNotADatabase: face == .strict ? .refuse : .setAside, clock: clock)
        state.withLock { $0.file = file }
        return file
    }

    private static var defaultDirectory: URL {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first ?? FileManager.default.temporaryDirectory
        let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        return caches.appendingPathComponent(program.isEmpty ? "Vellum" : program, isDirectory: true)
    }
}

/// An engine whose type of objects does not matter.
private protocol ClosableEngine: AnyObject, Sendable {
    func close() throws(StoreError)
}

extension TieredStore: ClosableEngine {}
