internal import Foundation
internal import ModelVersions
public import VellumCore
package import VellumEngine

extension ArchivesFactory {
    /// Which methods a handle has. Decides what happens to limits that contradict an open archive,
    /// and if data of version 1 cannot be imported.
    enum Methods {
        case throwing, nonThrowing
    }

    func makeStore<Archive: Archivable>(
        _ memory: DataSize?,
        _ disk: DataSize?,
        _ expiration: Expiration?,
        keepExpiredFor window: Duration = .zero,
        _ caching: CachePolicy<Archive>,
        _ methods: Methods
    ) throws(VellumError) -> ArchiveStore<Archive> {
        do throws(VellumError) {
            try expiration?.check()
            let memory = try Capacity(optional: memory, as: "memory")
            let disk = try Capacity(optional: disk, as: "disk")
            let name = try name(of: Archive.self)
            var options = try options(of: Archive.self)
            options.memory = memory
            options.disk = disk
            options.caching = caching
            options.policy = methods == .throwing ? .refuse : .keepFirst
            let codec = ArchiveCodec<Archive>()
            let hold = try StoreHold<Archive>.open { [options] () throws(VellumError) in
                let file = try openFile()
                return try file.hold(
                    named: try storedName(name, codec, in: file),
                    codec: codec,
                    options
                )
            }
            // Kept first: an object that is imported may have properties of its own type.
            keep(hold.store, of: Archive.self)
            if window > .zero { hold.store.keepExpired(under: .never, for: window) }
            try importOriginals(into: hold.store, formerNames: codec.formerNames, methods)
            addHandle(hold)
            Report.succeeded(.opening, Archive.self, in: fileURL, hold.store.located)
            return ArchiveStore(hold, factory: self, expiration: expiration)
        } catch {
            throw error.code == .unnamedArchive
                ? error : error.located(archive: Archive.archiveName, path: nil)
        }
    }

    /// Returns the store for a property of a recorded object. No handle holds it, so the limits of
    /// the first handle still apply.
    func propertyStore<Archive: Archivable>(
        of type: Archive.Type
    ) throws(VellumError) -> Store<Archive> {
        if let open = openStore(of: Archive.self) { return open }
        var options = try options(of: Archive.self)
        options.policy = .share
        let file = try openFile()
        let codec = ArchiveCodec<Archive>()
        let store = try file.store(
            named: try storedName(try name(of: Archive.self), codec, in: file),
            codec: codec,
            options
        )
        keep(store, of: Archive.self)
        try importOriginals(into: store, formerNames: codec.formerNames, .nonThrowing)
        return store
    }

    private func options<Archive: Archivable>(
        of type: Archive.Type
    ) throws(VellumError) -> StoreOptions<Archive> {
        try ModelVersion.check(Archive.self)
        var options = StoreOptions<Archive>()
        options.defaults = .init(
            memory: try Capacity(defaultMaxMemorySize),
            disk: try Capacity(defaultMaxDiskSize)
        )
        var catalog = try indexCatalog(of: Archive.self) ?? IndexCatalog()
        catalog.version = ArchiveCodec<Archive>().version
        options.migrates = migrates
        catalog.shape.rewrites = migrates.delay == 0
        options.indexing = catalog
        options.durability = durability
        return options
    }

    private func name(of type: (some Archivable).Type) throws(VellumError) -> String {
        let name = type.archiveName
        guard !name.contains("(unknown context at ") else {
            throw VellumError(
                .unnamedArchive,
                """
                \(type) is private or local, so its full name changes on every launch and its \
                objects would be lost. Add to the type: static var archiveName: String { "\(type)" }
                """
            )
        }
        return name
    }

    var fileURL: URL { place.shippedFile ?? directory.appendingPathComponent("Archives.sqlite") }

    /// The file, if it is open.
    var openedFile: DatabaseFile? {
        state.withLock { $0.file?.file }.flatMap { $0.isClosed ? nil : $0 }
    }

    package func openFile() throws(VellumError) -> DatabaseFile {
        if let openedFile { return openedFile }
        // A folder in memory belongs to the process that made it.
        guard place.temporary?.isOfThisProcess ?? true else { throw .forked }
        place.temporary?.make()
        let hold =
            place.shippedFile != nil
            ? try FileHold.open(at: fileURL, kind: .archives, access: .shipped, clock: clock)
            : try FileHold.open(
                at: fileURL,
                kind: .archives,
                clock: clock,
                attributes: place.attributes
            )
        // The previous one is released outside the lock.
        withExtendedLifetime(state.withLock { exchange(&$0.file, with: hold) }) {}
        return hold.file
    }

    /// Finds out whether the archives can be read and written: for a route that says whether this
    /// process is ready to serve.
    ///
    /// Reads from the device, and writes a page that is rolled back: nothing is announced, counted
    /// or evicted, but relaxed writes that wait are committed. Opens the file, and creates a
    /// missing one, as opening an archive does; one that has vanished stays an error until an
    /// archive is opened. A factory that only reads is healthy without writing. Any thread may call
    /// it, also in a closure of an update or a transaction. Blocks for a fraction of a millisecond,
    /// or while others write.
    ///
    /// - Parameter timeout: How long to wait for others that write, at most an hour. Zero or less
    ///   does not wait.
    /// - Complexity: O(1) of an open file.
    /// - Throws: ``VellumError`` if the file cannot be opened or read, or is suspended. What keeps
    ///   it from being written is in the result.
    public func check(timeout: Duration = .milliseconds(250)) throws(VellumError) -> FileHealth {
        if let held = state.withLock({ $0.file?.file }), held.state == .vanished {
            return try FileHealth(of: held, timeout: timeout)
        }
        return try FileHealth(of: openFile(), timeout: timeout)
    }

    // MARK: Stores and handles

    /// The name under which the file has the archive: the type may have been renamed.
    private func storedName<Archive: Archivable>(
        _ name: String,
        _ codec: ArchiveCodec<Archive>,
        in file: DatabaseFile
    ) throws(VellumError) -> String {
        guard !codec.formerNames.isEmpty else { return name }
        if let open = openStore(of: Archive.self) { return open.name }
        return try file.name(ofArchive: name, formerly: codec.formerNames)
    }

    private func openStore<Archive: Archivable>(of type: Archive.Type) -> Store<Archive>? {
        let store = state.withLock { $0.stores[ObjectIdentifier(type)] } as? Store<Archive>
        return store.flatMap { $0.isClosed ? nil : $0 }
    }

    /// Keeps the store of a type, so that its memory outlives the handles.
    private func keep(_ store: Store<some Archivable>, of type: any Archivable.Type) {
        // The previous one is released outside the lock.
        withExtendedLifetime(
            state.withLock { $0.stores.updateValue(store, forKey: ObjectIdentifier(type)) }
        ) {}
    }

    /// Releases a store that was closed.
    func forget(_ store: Store<some Archivable>, of type: any Archivable.Type) {
        guard store.isClosed else { return }
        state.withLock { state in
            guard state.stores[ObjectIdentifier(type)] === store else { return }
            state.stores[ObjectIdentifier(type)] = nil
        }
    }

    private func addHandle(_ hold: any ClosableHandle) {
        let handle: State.Handle = { [weak hold] in hold }
        state.withLock { state in
            if state.handles.count >= state.handleCountToPrune {
                state.handles = state.handles.filter { $0.value() != nil }
                state.handleCountToPrune = max(64, state.handles.count * 2)
            }
            state.handles[ObjectIdentifier(hold)] = handle
        }
    }
}

/// A handle on an archive of any type.
protocol ClosableHandle: AnyObject, Sendable {
    func close() throws(VellumError)
}

extension StoreHold: ClosableHandle {}
