internal import Foundation
internal import Synchronization
package import VellumCore

// The archives of the file, and their stores: one for each name, shared by all callers.

extension DatabaseFile {
    /// What to do if an archive is already open with other limits or another durability than
    /// requested.
    package enum DifferencePolicy: Sendable {
        /// Throw ``VellumError/Code/contradiction``.
        case refuse
        /// Share it, grant what can be granted, and report the rest.
        case share
        /// Share it. Of memory and disk each, the first size that anyone gives since the archive
        /// was opened applies; later ones are ignored, and one notice is logged.
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
    /// The disk limit belongs to the archive and is stored in the file. A given size replaces it: a
    /// larger one at any time, a smaller one only when the archive is opened for the first time in
    /// a process; what that removes is logged and reported (``StoreEvent/limitLowered(_:)``). The
    /// memory limit belongs to the open store, and can only be raised while that is open.
    ///
    /// - Parameters:
    ///   - name: Any string. Names are compared like keys.
    ///   - codec: Turns values into bytes and back.
    /// - Throws: ``VellumError/Code/contradiction`` if the archive is open for another type, or as
    ///   the options say.
    package func store<Value>(
        named name: String,
        codec: any Codec<Value>,
        _ options: StoreOptions<Value>
    ) throws(VellumError) -> Store<Value> {
        try open(name, codec, options, isHeld: false)
    }

    /// Returns the type for which this process has an archive open; `nil` if it has not.
    package func valueType(ofOpenArchive name: String) -> Any.Type? {
        stores.open(EntryKey(name))?.valueType
    }

    /// Opens the archive like ``store(named:codec:_:)`` and counts a hold on its store. If no
    /// handle has held the store before, the requested limits are applied as in a first opening.
    package func hold<Value>(
        named name: String,
        codec: any Codec<Value>,
        _ options: StoreOptions<Value>
    ) throws(VellumError) -> StoreHold<Value> {
        do throws(VellumError) {
            return StoreHold(try open(name, codec, options, isHeld: true), in: self)
        } catch {
            throw isRepairedByOpening(after: error) ? .closed : error
        }
    }

    /// Closes a file that turns out to be damaged before anybody uses it, so that the caller opens
    /// it again, which repairs it.
    private func isRepairedByOpening(after error: VellumError) -> Bool {
        // Whoever has just repaired it, or looked for damage in vain, would meet the same damage.
        guard error.code == .damagedFile, !access.isReading,
            opening.withLock({ !$0.wasFoundSound && $0.events.isEmpty }),
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
        _ name: String,
        _ codec: any Codec<Value>,
        _ options: StoreOptions<Value>,
        isHeld: Bool
    ) throws(VellumError) -> Store<Value> {
        // Checked before taking locks, which another thread may have held at the fork.
        guard location.isOfThisProcess else { throw .forked }
        var options = options
        // An archive that is only read keeps the limit that it has.
        if access.isReading { options.disk = nil }
        var isFirst = false
        let (store, opened) = try stores.opening.withLongLock {
            _ throws(VellumError) -> (Store<Value>, OpenedArchive?) in
            let key = EntryKey(name)
            if let open = stores.open(key), open.holds(version: options.cacheVersion) {
                guard let store = open as? Store<Value> else {
                    throw .open(open, notFor: Value.self)
                }
                if isHeld { isFirst = stores.hold(store) }
                return (store, nil)
            }
            let opened = try openArchive(
                named: name,
                version: options.cacheVersion,
                mayReplaceVersion: options.mayReplaceVersion,
                disk: options.disk,
                otherwise: options.defaults.disk
            )
            let store = Store(
                disk: opened.archive,
                codec: codec,
                memory: options.memory ?? options.defaults.memory,
                options,
                clock: clock
            )
            stores.add(store, key, opened.archive.archive)
            _ = stores.give(options.memory, options.disk, to: store)
            if isHeld { _ = stores.hold(store) }
            return (store, opened)
        }
        do throws(VellumError) {
            try finishOpening(store, name, opened, options, isFirst: isFirst)
            if let delay = options.migrates.delay { rewrite(store.disk.archive, after: delay) }
            return store
        } catch {
            if isHeld { stores.endHold(on: store) }
            throw error
        }
    }

    /// Completes an opening without holding a lock, because log handlers and the codec are
    /// user-supplied code.
    private func finishOpening<Value>(
        _ store: Store<Value>,
        _ name: String,
        _ opened: OpenedArchive?,
        _ options: StoreOptions<Value>,
        isFirst: Bool
    ) throws(VellumError) {
        if let opened {
            finish(opened.limits, of: opened.archive.archive)
            if opened.isNew, kind == .archives {
                for other in try namesakes(of: name) { Log.namesake(name, other) }
            }
            if let replaced = opened.replaced {
                Log.versionReplaced(
                    name,
                    removed: replaced.change.removed.entries,
                    isSecondWithinAnHour: replaced.isSecondWithinAnHour
                )
                store.state.archiveDidReport(.versionReplaced(replaced.change))
            }
            guard let catalog = options.indexing else { return }
            try declareIndex(catalog.shape, of: opened.archive, for: store)
            if !catalog.unusable.isEmpty { Log.unusableIndexes(name, catalog.unusable) }
        } else if isFirst, stores.isHeldOnce(store), store.durability == options.durability {
            try applyFirstSizes(options, to: store)
            store.keepsValuesNow.store(options.caching.keepsValues, ordering: .relaxed)
        } else if options.policy == .keepFirst {
            try keepFirst(options, of: store, name)
        } else if let refused = try grant(options, to: store, name) {
            Log.notice("\(refused)")
            store.report(refused)
        }
    }

    /// Applies the sizes that are the first to be given since the store was opened.
    private func applyFirstSizes<Value>(
        _ options: StoreOptions<Value>,
        to store: Store<Value>
    ) throws(VellumError) {
        let first = stores.give(options.memory, options.disk, to: store)
        if let memory = first.memory { store.resize(memory: memory) }
        guard let disk = first.disk else { return }
        do throws(VellumError) {
            try store.resize(disk: disk)
        } catch {
            stores.takeBackDiskSize(of: store)
            throw error
        }
    }

    /// Declares the index. If the disk is full, busy or read-only, the archive opens without it:
    /// queries stay correct.
    private func declareIndex<Value>(
        _ shape: IndexShape,
        of diskArchive: DiskArchive,
        for store: Store<Value>
    ) throws(VellumError) {
        do throws(VellumError) {
            try diskArchive.declareIndex(shape)
        } catch  where [.diskFull, .busy, .readOnly].contains(error.code) {
            Log.notice(
                """
                The indexes of an archive could not be changed. Its queries run without them. \
                \(error)
                """
            )
            store.report(error)
        }
    }

    /// Returns the store of the archive of that name; `nil` if it is not open.
    ///
    /// - Throws: ``VellumError/Code/contradiction`` if it is open for another type.
    package func openStore<Value>(
        named name: String,
        of type: Value.Type = Value.self
    ) throws(VellumError) -> Store<Value>? {
        guard location.isOfThisProcess else { throw .forked }
        guard let open = stores.open(EntryKey(name)) else { return nil }
        guard let store = open as? Store<Value> else {
            throw .open(open, notFor: Value.self)
        }
        return store
    }
}

extension VellumError {
    fileprivate static func open(_ store: any OpenableStore, notFor type: Any.Type) -> VellumError {
        VellumError(
            .contradiction,
            """
            The archive is open for the type \(store.valueType) and was requested for \(type). \
            Give one of them another archive name.
            """
        )
    }
}

// The limits of archives: requested when a store is opened, and granted.

extension DatabaseFile {
    /// Raises the limits of an open store where larger ones are requested.
    ///
    /// - Returns: What could not be granted, if `policy` is to share the store anyway; otherwise
    ///   `nil`.
    /// - Throws: ``VellumError/Code/contradiction`` for what cannot be granted, if `policy` is to
    ///   refuse.
    func grant<Value>(
        _ options: StoreOptions<Value>,
        to store: Store<Value>,
        _ name: String
    ) throws(VellumError) -> VellumError? {
        // Another process may have raised the limit.
        let isKnown = options.disk == nil || state == .suspended
        let open = isKnown ? store.capacities : try store.currentCapacities()
        let memory = options.memory.flatMap { $0.isAtLeast(open.memory) ? $0 : nil }
        let disk = options.disk.flatMap { $0.isAtLeast(open.disk) ? $0 : nil }
        var refused: VellumError?
        if memory != options.memory || disk != options.disk
            || options.durability != store.durability
        {
            refused = openWithOtherLimits(name, open, store.durability, options)
        }
        if let refused, options.policy == .refuse { throw refused }
        if let memory { store.raise(memory: memory) }
        if let disk { try store.raise(disk: disk) }
        _ = stores.give(memory, disk, to: store)
        return refused
    }

    /// Applies the sizes that are the first to be given since the store was opened, and logs one
    /// notice if others are ignored.
    func keepFirst<Value>(
        _ options: StoreOptions<Value>,
        of store: Store<Value>,
        _ name: String
    ) throws(VellumError) {
        try applyFirstSizes(options, to: store)
        let open = store.capacities
        let requested = options.sizes(orOpen: open)
        if store.durability != options.durability {
            let refused = openWithOtherLimits(name, open, store.durability, options)
            if stores.isFirstNotice(of: name) { Log.notice("\(refused)") }
            store.report(refused)
        } else if requested != open, stores.isFirstNotice(of: name) {
            Log.sizesIgnored(name, open, requested: requested)
        }
    }

    private func openWithOtherLimits<Value>(
        _ name: String,
        _ open: (memory: Capacity, disk: Capacity),
        _ durability: Durability,
        _ options: StoreOptions<Value>
    ) -> VellumError {
        func list(_ limits: (memory: Capacity, disk: Capacity)) -> String {
            "\(limits.memory) of memory and \(limits.disk) of disk"
        }
        let message =
            durability == options.durability
            ? """
            The archive is open with \(list(open)), and was requested with \
            \(list(options.sizes(orOpen: open))). While an archive is open, its limits can only be \
            raised. Request at least the same, or close it first.
            """
            : """
            The archive is open with the durability \(durability) and was requested with \
            \(options.durability). All handles of an open archive share one durability: request \
            \(durability), or close the archive first.
            """
        return VellumError(.contradiction, message)
            .located(archive: Log.displayed(name), path: path)
    }
}

extension StoreOptions {
    fileprivate func sizes(
        orOpen open: (memory: Capacity, disk: Capacity)
    ) -> (memory: Capacity, disk: Capacity) {
        (memory ?? open.memory, disk ?? open.disk)
    }
}

// MARK: For a test kit

extension DatabaseFile {
    /// The open files whose clock is this one.
    package static func opened(by clock: some AnyObject) -> [DatabaseFile] {
        FileRegistry.shared.openedFiles.filter { $0.clock.timer.owner === clock }
    }

    /// The observers of an archive; `nil` for all of the file.
    package func observers(of archive: Archive? = nil) -> [ChangeObserver] {
        watcher.observers.filter { archive == nil || $0.archive == archive?.id }
    }

    /// The numbers of the loads that are running, in every store of the file.
    package var runningLoads: [UInt64] {
        stores.table.withLock { $0.values.compactMap(\.store) }.flatMap(\.runningLoads)
    }
}
