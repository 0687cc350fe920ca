public import Foundation
public import VellumCore
public import VellumEngine

/// Where archives come from: one for each type, all in one file of one folder.
///
/// ```swift
/// let archives = try ArchivesFactory.shared.archives(
///     for: User.self, trySetMaxMemorySize: 10.megaByte, trySetMaxDiskSize: 20.megaByte)
/// ```
///
/// Asking again for a type returns another handle on the same archive. Works from any thread.
///
/// The disk size belongs to the archive and is stored in its file: an archive that is opened without one keeps the size it has. A larger
/// one is granted at any time. A smaller one counts for the first opening in a process, which logs and reports what it removed
/// (``StoreEvent/limitLowered(_:)``); while the archive is open, `store(for:…)` throws ``StoreError/Code/contradiction`` and
/// `archives(for:…)` logs and reports it. The memory size belongs to the open archive: it can be raised while that is open, and not
/// lowered. An archive that nobody ever gave a size has the default of the factory; when it first evicts, a warning is logged.
/// ``DataSize/unlimited`` keeps everything.
public final class ArchivesFactory: Sendable {
    /// The archives of this program: in the user's caches folder, in a folder named for the program.
    public static let shared = ArchivesFactory(directory: defaultDirectory)

    /// The folder that the file lies in.
    public let directory: URL
    /// What an acknowledged write survives.
    public let durability: Durability
    /// How much memory an archive may hold for which nothing else is said: 1 MB.
    public let defaultMaxMemorySize: DataSize
    /// How much disk an archive may hold that nobody ever gave a size: 2 MB. A smaller default than an archive has takes nothing away.
    public let defaultMaxDiskSize: DataSize

    private let clock: WallClock
    private let state = Locked(State())

    private struct State {
        var file: FileHold?
        // Handles that were not closed, which closing the factory closes.
        var handles: [ObjectIdentifier: WeakHandle] = [:]
        /// From how many on those that nobody has any more are forgotten.
        var mostHandles = 64
        // The engine of each type, so that it and what it remembers outlive the handles.
        var engines: [ObjectIdentifier: any AnyObject & Sendable] = [:]
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
    ///   - memory: How many bytes of encoded objects memory may hold; `nil` for what is open, or the default.
    ///   - disk: How many bytes of encoded objects the disk may hold; `nil` for what the archive has, or the default.
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
    ///   - memoryLimit: How many bytes of encoded objects memory may hold; `nil` for what is open, or the default.
    ///   - diskLimit: How many bytes of encoded objects the disk may hold; `nil` for what the archive has, or the default.
    ///   - expiration: How long an object is valid that is recorded through this handle without an age of its own; `nil` is for ever.
    /// - Throws: ``VellumError`` if a limit is zero or below, the archive is open with larger limits, the type has no name that
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

    /// Closes every handle that this factory made, and the file if no other factory has it open: every later call of theirs throws
    /// ``StoreError/Code/closed``. Handles of other factories go on. Everything acknowledged survives power loss then. Asking this factory
    /// for an archive afterwards opens the file again.
    ///
    /// - Throws: ``VellumError`` if something cannot be flushed; what was not closed then can be closed again.
    public func close() throws {
        let open = state.withLock { state in
            defer { state = State() }
            return state
        }
        do throws(StoreError) {
            for handle in open.handles.values { try handle.hold?.close() }
            try open.file?.close()
        } catch {
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

    private func onFile(_ body: (DatabaseFile) throws(StoreError) -> Void) throws(VellumError) {
        guard let file = state.withLock({ $0.file?.file }), !file.isClosed else { return }
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
        _ memory: DataSize?, _ disk: DataSize?, _ expiration: Expiration?, _ remembrance: CachePolicy<Archive>, _ face: Face
    ) throws(VellumError) -> ArchiveStore<Archive> {
        do throws(StoreError) {
            let request = try request(memory, disk)
            let name = try name(of: Archive.self)
            let hold = try StoreHold<Archive>.open { () throws(StoreError) in
                try openFile(face).hold(
                    named: name, codec: ArchiveCodec<Archive>(), memory: request.memory, disk: request.disk, defaults: request.defaults,
                    caching: remembrance, indexing: indexCatalog(of: Archive.self) ?? IndexCatalog(), durability: durability,
                    whenDifferent: face == .strict ? .refuse : .share)
            }
            keep(hold.store, of: Archive.self)
            let handle = WeakHandle(hold)
            state.withLock { state in
                if state.handles.count >= state.mostHandles {
                    state.handles = state.handles.filter { $0.value.hold != nil }
                    state.mostHandles = max(64, state.handles.count * 2)
                }
                state.handles[ObjectIdentifier(hold)] = handle
            }
            return ArchiveStore(hold, factory: self, expiration: expiration)
        } catch {
            throw VellumError(error)
        }
    }

    /// The engine for a property of a recorded object. No handle holds it, so that the sizes of the first that does count.
    func engine<Archive: Archivable>(for type: Archive.Type) throws(StoreError) -> Store<Archive> {
        let engine = try openFile(.forgiving).store(
            named: try name(of: Archive.self), codec: ArchiveCodec<Archive>(), defaults: try request(nil, nil).defaults,
            indexing: indexCatalog(of: Archive.self) ?? IndexCatalog(), durability: durability, whenDifferent: .share)
        keep(engine, of: Archive.self)
        return engine
    }

    /// Keeps the engine of a type, so that what it remembers outlives the handles.
    private func keep(_ engine: Store<some Archivable>, of type: any Archivable.Type) {
        let before = state.withLock { state in
            defer { state.engines[ObjectIdentifier(type)] = engine }
            return state.engines[ObjectIdentifier(type)]
        }
        // Released outside the lock.
        withExtendedLifetime(before) {}
    }

    /// Releases an engine that was closed.
    func forget(_ engine: Store<some Archivable>, of type: any Archivable.Type) {
        guard engine.isClosed else { return }
        state.withLock { state in
            guard state.engines[ObjectIdentifier(type)] === engine else { return }
            state.engines[ObjectIdentifier(type)] = nil
        }
    }

    /// The sizes as the engine takes them: checked before anything is made.
    private func request(
        _ memory: DataSize?, _ disk: DataSize?
    ) throws(StoreError) -> (memory: Capacity?, disk: Capacity?, defaults: DatabaseFile.DefaultLimits) {
        let defaults = DatabaseFile.DefaultLimits(memory: try Capacity(defaultMaxMemorySize), disk: try Capacity(defaultMaxDiskSize))
        return (try Capacity(optional: memory), try Capacity(optional: disk), defaults)
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

    private func openFile(_ face: Face) throws(StoreError) -> DatabaseFile {
        if let file = state.withLock({ $0.file?.file }), !file.isClosed { return file }
        let hold = try FileHold.open(
            at: directory.appendingPathComponent("Archives.sqlite"), kind: .archives,
            ifNotADatabase: face == .strict ? .refuse : .setAside, clock: clock)
        // Released outside the lock.
        let before = state.withLock { state in
            defer { state.file = hold }
            return state.file
        }
        withExtendedLifetime(before) {}
        return hold.file
    }

    private static var defaultDirectory: URL {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first ?? FileManager.default.temporaryDirectory
        let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        return caches.appendingPathComponent(program.isEmpty ? "Vellum" : program, isDirectory: true)
    }
}

/// A handle of whatever type of objects.
private protocol ClosableHandle: AnyObject, Sendable {
    func close() throws(StoreError)
}

extension StoreHold: ClosableHandle {}

// A class, because an optional struct with a weak reference is misread by the compiler of Swift 6.3.
private final class WeakHandle: Sendable {
    private let reference: Locked<Reference>

    private struct Reference {
        weak var hold: (any ClosableHandle)?
    }

    init(_ hold: any ClosableHandle) { reference = Locked(Reference(hold: hold)) }

    var hold: (any ClosableHandle)? { reference.withLock { $0.hold } }
}
