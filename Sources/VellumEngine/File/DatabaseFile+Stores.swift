internal import Foundation
internal import Synchronization
package import VellumCore

// The archives of the file, and their stores: one for each name, shared by all callers.

extension DatabaseFile {
    /// What to do if an archive is already open with other limits or another durability than requested.
    package enum DifferencePolicy: Sendable {
        /// Throw ``VellumError/Code/contradiction``.
        case refuse
        /// Share it, grant what can be granted, and report the rest.
        case share
        /// Share it. Of memory and disk each, the first size that anyone gives since the archive was opened applies; later ones are ignored, and
        /// one notice is logged.
        case keepFirst
    }

    /// The limits of an archive for which no size was ever given.
    package struct DefaultLimits: Sendable {
        package var memory: Capacity
        package var disk: Capacity

        package init(memory: Capacity, disk: Capacity) {
            self.memory = memory
            self.disk = disk
        }

        package static let unlimited = DefaultLimits(memory: .unlimited, disk: .unlimited)
    }

    /// Opens the archive of that name, or returns its store if it is open.
    ///
    /// The disk limit belongs to the archive and is stored in the file. A given size replaces it: a larger one at any time, a smaller one
    /// only when the archive is opened for the first time in a process; what that removes is logged and reported
    /// (``StoreEvent/limitLowered(_:)``). The memory limit belongs to the open store, and can only be raised while that is open.
    ///
    /// - Parameters:
    ///   - name: Any string. Names are compared like keys.
    ///   - codec: Turns values into bytes and back.
    /// - Throws: ``VellumError/Code/contradiction`` if the archive is open for another type, or as the options say.
    package func store<Value>(
        named name: String, codec: any Codec<Value>, _ options: StoreOptions<Value>
    ) throws(VellumError) -> Store<Value> {
        try open(name, codec, options, isHeld: false)
    }

    /// Opens the archive like ``store(named:codec:_:)`` and counts a hold on its store. If no handle has held the store before, the requested
    /// limits are applied as in a first opening.
    package func hold<Value>(
        named name: String, codec: any Codec<Value>, _ options: StoreOptions<Value>
    ) throws(VellumError) -> StoreHold<Value> {
        do throws(VellumError) {
            return StoreHold(try open(name, codec, options, isHeld: true), in: self)
        } catch {
            throw isRepairedByOpening(after: error) ? .closed : error
        }
    }

    /// Closes a file that turns out to be damaged before anybody uses it, so that the caller opens it again, which repairs it.
    private func isRepairedByOpening(after error: VellumError) -> Bool {
        // Whoever has just repaired it, or looked for damage in vain, would meet the same damage.
        guard error.code == .damagedFile, !wasFoundSound.load(ordering: .relaxed), pendingEvents.withLock(\.isEmpty),
            stores.table.withLock(\.isEmpty), holds.load(ordering: .acquiring) <= 1
        else { return false }
        do throws(VellumError) {
            try close()
        } catch {
            Log.error("A damaged file could not be closed.", error)
        }
        return isClosed
    }

    private func open<Value>(
        _ name: String, _ codec: any Codec<Value>, _ options: StoreOptions<Value>, isHeld: Bool
    ) throws(VellumError) -> Store<Value> {
        // Checked before taking locks, which another thread may have held at the fork.
        guard forkGuard.isThisProcess else { throw .forked }
        var isFirst = false
        let (store, opened) = try stores.opening.withLock { _ throws(VellumError) -> (Store<Value>, OpenedArchive?) in
            let key = EntryKey(name)
            if let open = stores.open(key), open.holds(version: options.cacheVersion) {
                guard let store = open as? Store<Value> else { throw .open(open, notFor: Value.self) }
                if isHeld { isFirst = stores.hold(store) }
                return (store, nil)
            }
            let opened = try openArchive(
                named: name, version: options.cacheVersion, mayReplaceVersion: options.mayReplaceVersion, disk: options.disk,
                otherwise: options.defaults.disk)
            let store = Store(
                disk: opened.archive, codec: codec, memory: options.memory ?? options.defaults.memory, options, clock: clock)
            stores.add(store, key, opened.archive.archive)
            _ = stores.giveSizes(to: store, memory: options.memory != nil, disk: options.disk != nil)
            if isHeld { _ = stores.hold(store) }
            return (store, opened)
        }
        do throws(VellumError) {
            try finishOpening(store, name, opened, options, isFirst: isFirst)
            return store
        } catch {
            if isHeld { stores.endHold(on: store) }
            throw error
        }
    }

    /// Completes an opening without holding a lock, because log handlers and the codec are user-supplied code.
    private func finishOpening<Value>(
        _ store: Store<Value>, _ name: String, _ opened: OpenedArchive?,
        _ options: StoreOptions<Value>, isFirst: Bool
    ) throws(VellumError) {
        if let opened {
            finish(opened.limits, of: opened.archive.archive)
            if let replaced = opened.replaced {
                Log.versionReplaced(name, replaced)
                store.state.archiveDidReport(.versionReplaced(replaced.change))
            }
            guard let catalog = options.indexing else { return }
            try declareIndex(catalog.shape, of: opened.archive, for: store)
            if !catalog.unusable.isEmpty { Log.unusableIndexes(name, catalog.unusable) }
        } else if isFirst, stores.isHeldOnce(store), store.durability == options.durability {
            let first = stores.giveSizes(to: store, memory: options.memory != nil, disk: options.disk != nil)
            do throws(VellumError) {
                try store.reconfigure(
                    memory: first.isFirstOfMemory ? options.memory ?? store.capacities.memory : store.capacities.memory,
                    disk: first.isFirstOfDisk ? options.disk : nil, caching: options.caching)
            } catch {
                if first.isFirstOfDisk { stores.takeBackDiskSize(of: store) }
                throw error
            }
        } else if options.policy == .keepFirst {
            try keepFirst(options, of: store, name)
        } else if let refused = try grant(options, to: store, name) {
            Log.notice("\(refused)")
            store.report(refused)
        }
    }

    /// Declares the index. If the disk is full, busy or read-only, the archive opens without it: queries stay correct.
    private func declareIndex<Value>(_ shape: IndexShape, of diskArchive: DiskArchive, for store: Store<Value>) throws(VellumError) {
        do throws(VellumError) {
            try diskArchive.declareIndex(shape)
        } catch  where [.diskFull, .busy, .readOnly].contains(error.code) {
            Log.notice("The indexes of an archive could not be changed. Its queries run without them. \(error)")
            store.report(error)
        }
    }

    /// Returns the store of the archive of that name; `nil` if it is not open.
    ///
    /// - Throws: ``VellumError/Code/contradiction`` if it is open for another type.
    package func openStore<Value>(named name: String, of type: Value.Type = Value.self) throws(VellumError) -> Store<Value>? {
        guard forkGuard.isThisProcess else { throw .forked }
        guard let open = stores.open(EntryKey(name)) else { return nil }
        guard let store = open as? Store<Value> else { throw .open(open, notFor: Value.self) }
        return store
    }

    /// Opens the disk tier of an archive for a store of the caller.
    ///
    /// - Important: Open at most one tier for a name at a time: an archive has one owner.
    package func archive(named name: String, version: String? = nil, capacity: Capacity) throws(VellumError) -> DiskArchive {
        let opened = try openArchive(named: name, version: version, mayReplaceVersion: true, disk: capacity, otherwise: capacity)
        finish(opened.limits, of: opened.archive.archive)
        return opened.archive
    }

    /// An archive that was opened, and what that changed in the file.
    private struct OpenedArchive {
        var archive: DiskArchive
        var limits: LimitOutcome
        /// The version of the cache that it held before, if that was another one.
        var replaced: ReplacedVersion?
    }

    private func openArchive(
        named name: String, version: String?, mayReplaceVersion: Bool, disk: Capacity?, otherwise fallback: Capacity
    ) throws(VellumError) -> OpenedArchive {
        let normal = EntryKey(name).normalized
        let version = version.map { EntryKey($0).normalized }
        let opened = try withUsableFile { () throws(SQLiteError) in
            try retryingWhenFull { () throws(SQLiteError) in
                try writing.list { (writer) throws(SQLiteError) -> (Archive, ReplacedVersion?) in
                    let found = try writer.archive(named: normal)
                    // An earlier handle's relaxed writes.
                    try writer.commitBatch()
                    CrashPoint.reached(.archiveCommitted)
                    let archive = Archive(found, name: normal, cacheVersion: version, limit: KnownLimit(entries: (disk ?? fallback).entries))
                    let replaced = try version.flatMap { (version) throws(SQLiteError) in
                        try writer.setVersion(version, of: found, mayReplace: mayReplaceVersion, at: clock.now())
                    }
                    try writer.prepareSweep(of: archive)
                    return (archive, replaced)
                }
            }
        }
        guard let (archive, replaced) = opened else { throw unusable }
        if archive.upkeep.withLock({ $0.sweepMap.hasUnread }) { scheduleSweep() }
        if replaced != nil { scheduleDeletingCleared() }
        do throws(VellumError) {
            let outcome = try withUsableFile { () throws(SQLiteError) in
                try setLimit(of: archive) { stored, held in stored.opened(given: disk, otherwise: fallback, holding: held) }
            }
            archive.keep(outcome)
            return OpenedArchive(archive: DiskArchive(file: self, archive), limits: outcome, replaced: replaced)
        } catch {
            remove(archive)
            throw error
        }
    }

    /// Returns the names of the archives in the file, in the order of their creation.
    package func archiveNames() throws(VellumError) -> [String] {
        let names = try withUsableFile { () throws(SQLiteError) in
            try withWriter { (writer) throws(SQLiteError) in try writer.archiveNames() }
        }
        guard let names else { throw unusable }
        return names
    }

    /// Removes up to `limit` entries that were last used before `stamp`.
    ///
    /// - Returns: How many were removed.
    func removeUnused(_ archive: Archive, before stamp: UseStamp, limit: Int) throws(SQLiteError) -> Int {
        let removed = try inTransaction(archive) { (edit) throws(SQLiteError) in
            var entries: [RemovedEntry] = []
            while entries.count < limit, let entry = try edit.removeOldest(before: stamp) { entries.append(entry) }
            edit.noteRemoval(of: entries, .unused)
            return entries.count
        }
        guard let removed else { throw .closedArchive }
        return removed
    }

    /// Sets the owner of an archive, and reports the events of opening the file to the first one.
    func attach(_ owner: any ArchiveOwner, to archive: Archive) {
        let outcome = archive.setOwner(owner)
        do throws(SQLiteError) {
            let newest = try withWriter(of: archive) { (writer) throws(SQLiteError) in
                let newest = try RecencyTables.readNewestStamp(of: archive.id, on: writer.connection)
                // Later uses count on from it.
                try newest.check()
                return newest
            }
            if let newest { owner.raiseStamp(to: newest) }
        } catch {
            Log.error("The eviction order of an archive could not be read.", error)
        }
        let events = pendingEvents.withLock { pendingEvents in
            defer { pendingEvents = [] }
            return pendingEvents
        }
        for event in events { owner.archiveDidReport(event) }
        guard let outcome else { return }
        if outcome.isLowered {
            owner.archiveDidReport(.limitLowered(outcome.change))
        } else if !outcome.removed.isEmpty {
            owner.archiveDidRemove(outcome.removed, .evicted)
        }
    }

    /// Commits relaxed writes and removes an archive that is being closed.
    func remove(_ archive: Archive) {
        // A forked child must not write to its parent's file.
        guard forkGuard.isThisProcess else { return }
        stores.remove(archive)
        writing.remove(archive) { writer in
            do throws(SQLiteError) {
                try writer.commitBatch()  // It may hold this archive's writes and totals.
            } catch {
                Log.error("Relaxed writes could not be committed when an archive was closed.", error)
            }
        }
    }
}

extension VellumError {
    fileprivate static func open(_ store: any OpenableStore, notFor type: Any.Type) -> VellumError {
        VellumError(
            .contradiction,
            "The archive is open for the type \(store.valueType) and was requested for \(type). Give one of them another archive name.")
    }
}

/// A store of any type.
protocol OpenableStore: AnyObject, Sendable {
    var valueType: Any.Type { get }

    /// Whether the store is still of the archive's version, and of this one, if one is wanted.
    func holds(version: String?) -> Bool
}

extension Store: OpenableStore {
    var valueType: Any.Type { Value.self }

    func holds(version: String?) -> Bool {
        !disk.archive.isReplaced && (version == nil || version.map { EntryKey($0).normalized } == disk.archive.cacheVersion)
    }
}

/// The open stores by the names of their archives.
final class StoreTable: Sendable {
    /// Held while a store is opened, so that concurrent callers get the same one.
    let opening = Locked(())
    let table = Locked<[EntryKey: OpenStore]>([:])
    /// The archives for which a notice about ignored sizes was logged.
    private let noticed = Locked<Set<String>>([])

    // A class, because a weak existential in an optional struct is misread by the compiler of Swift 6.3.
    final class OpenStore {
        weak var store: (any OpenableStore)?
        let id: ObjectIdentifier
        let archive: Archive
        /// The number of handles that hold the store.
        var holds = 0
        /// Whether a handle has ever held it.
        var wasHeld = false
        /// Whether anyone gave a size since it was opened.
        var isMemoryGiven = false
        var isDiskGiven = false

        init(_ store: any OpenableStore, _ archive: Archive) {
            self.store = store
            self.id = ObjectIdentifier(store)
            self.archive = archive
        }
    }

    func open(_ name: EntryKey) -> (any OpenableStore)? {
        table.withLock { $0[name]?.store }
    }

    func add(_ store: any OpenableStore, _ name: EntryKey, _ archive: Archive) {
        table.withLock { $0[name] = OpenStore(store, archive) }
    }

    /// Notes which sizes are given.
    ///
    /// - Returns: Which of them are the first since the store was opened.
    func giveSizes(to store: any OpenableStore, memory: Bool, disk: Bool) -> (isFirstOfMemory: Bool, isFirstOfDisk: Bool) {
        table.withLock { table in
            guard let open = table.values.first(where: { $0.id == ObjectIdentifier(store) }) else { return (false, false) }
            defer {
                open.isMemoryGiven = open.isMemoryGiven || memory
                open.isDiskGiven = open.isDiskGiven || disk
            }
            return (memory && !open.isMemoryGiven, disk && !open.isDiskGiven)
        }
    }

    /// Notes that a size of the disk could not be applied.
    func takeBackDiskSize(of store: any OpenableStore) {
        table.withLock { table in table.values.first { $0.id == ObjectIdentifier(store) }?.isDiskGiven = false }
    }

    /// Whether nothing was logged yet about ignored sizes of the archive.
    func isFirstNotice(of name: String) -> Bool { noticed.withLock { $0.insert(name).inserted } }

    func remove(_ archive: Archive) {
        table.withLock { table in table = table.filter { $0.value.archive !== archive } }
    }
}

extension Writer {
    /// Returns an archive, and creates it if it is missing.
    ///
    /// - Parameter limit: The limit of a new archive.
    func archive(named name: String, withLimit limit: StoredLimit = .unknown) throws(SQLiteError) -> ArchiveTable.Found {
        if let found = try ArchiveTable.find(name, on: connection) { return found }
        return try transaction { (_) throws(SQLiteError) in
            // Checked again, now that no other process can add it.
            if let found = try ArchiveTable.find(name, on: connection) { return found }
            guard let added = try ArchiveTable.insert(name, limit, on: connection) else { throw .closedArchive }
            CrashPoint.reached(.archiveAdded)
            return added
        }.0
    }

    func archiveNames() throws(SQLiteError) -> [String] {
        let list = try connection.prepare(ArchiveTable.list)
        var names: [String] = []
        while try list.step() { names.append(ArchiveTable.Listed(list).name ?? "") }
        return names
    }
}
