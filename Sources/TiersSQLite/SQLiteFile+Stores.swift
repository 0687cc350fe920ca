internal import Foundation
internal import Synchronization
public import Tiers

// The archives of the file, and the stores over them: one for each name, shared by all who ask.

extension SQLiteFile {
    /// What to do when an archive is open already, with larger limits than those asked for.
    public enum DifferencePolicy: Sendable {
        /// Throw ``StoreError/Code/contradiction``.
        case refuse
        /// Share it, with whatever can be granted, and report the rest.
        case share
    }

    /// The limits of an archive without given sizes.
    public struct DefaultLimits: Sendable {
        public var memory: Capacity
        public var disk: Capacity

        public init(memory: Capacity, disk: Capacity) {
            self.memory = memory
            self.disk = disk
        }

        public static let unlimited = DefaultLimits(memory: .unlimited, disk: .unlimited)
    }

    /// Opens the archive of that name, or returns the store that is open over it.
    ///
    /// The disk limit belongs to the archive and is stored in the file. A size that is given counts: a larger one at any time, a smaller
    /// one only for the first opening in a process, which logs and reports what it removed (``StoreEvent/limitLowered(_:)``). The memory
    /// limit belongs to the open store, and can only be raised while that is open.
    ///
    /// - Parameters:
    ///   - name: Any string; names are compared as keys are.
    ///   - codec: Turns values into bytes and back.
    ///   - family: What it has in common with archives that it replaces. They count toward its limit on disk, their entries leave
    ///     first where room is needed, and all of them do when nobody has opened the archive for a week. A new archive has the limit of
    ///     the one that was opened last.
    ///   - memory: What memory may hold; `nil` for what is open, or the default.
    ///   - disk: What the disk may hold; `nil` for what the file says, or the default for an archive without a given size.
    ///   - defaults: The limits of an archive without given sizes.
    ///   - remembrance: Whether memory keeps values or bytes; `.values` exists for `Sendable` types.
    ///   - catalog: What is indexed of the values, and an empty one for nothing; then an index that is there is dropped. `nil` says
    ///     nothing, and leaves it.
    ///   - durability: What an acknowledged write survives.
    ///   - policy: What to do when the archive is open with larger limits or another durability.
    /// - Throws: ``StoreError/Code/contradiction`` if the archive is open for another type, or as `policy` says.
    public func store<Value>(
        named name: String,
        codec: any Codec<Value>,
        inFamily family: String? = nil,
        memory: Capacity? = nil,
        disk: Capacity? = nil,
        defaults: DefaultLimits = .unlimited,
        remembering remembrance: Remembrance<Value> = .bytes,
        indexing catalog: IndexCatalog<Value>? = nil,
        durability: Durability = .crashSafe,
        whenDifferent policy: DifferencePolicy = .refuse
    ) throws(StoreError) -> TieredStore<Value> {
        try open(
            name, codec, family, StoreRequest(memory: memory, disk: disk, defaults: defaults, durability: durability, policy: policy),
            remembrance, catalog, isHeld: false)
    }

    /// The same for a handle, which holds the store. A store that no handle has held yet is opened for the first time: whatever limits are asked
    /// for count.
    public func hold<Value>(
        named name: String,
        codec: any Codec<Value>,
        inFamily family: String? = nil,
        memory: Capacity? = nil,
        disk: Capacity? = nil,
        defaults: DefaultLimits = .unlimited,
        remembering remembrance: Remembrance<Value> = .bytes,
        indexing catalog: IndexCatalog<Value>? = nil,
        durability: Durability = .crashSafe,
        whenDifferent policy: DifferencePolicy = .refuse
    ) throws(StoreError) -> StoreHold<Value> {
        let store = try open(
            name, codec, family, StoreRequest(memory: memory, disk: disk, defaults: defaults, durability: durability, policy: policy),
            remembrance, catalog, isHeld: true)
        return StoreHold(store, in: self)
    }

    private func open<Value>(
        _ name: String, _ codec: any Codec<Value>, _ family: String?, _ request: StoreRequest, _ remembrance: Remembrance<Value>,
        _ catalog: IndexCatalog<Value>?, isHeld: Bool
    ) throws(StoreError) -> TieredStore<Value> {
        // Before locks that another thread may have held when this process was forked.
        guard birth.isThisProcess else { throw .forked }
        var isFirst = false
        let (store, opened) = try stores.opening.withLock { _ throws(StoreError) -> (TieredStore<Value>, (SQLiteTier, LimitOutcome)?) in
            let key = EntryKey(name)
            if let open = stores.open(key) {
                guard let store = open as? TieredStore<Value> else { throw .openForAnotherType(Value.self) }
                if isHeld { isFirst = stores.hold(store) }
                return (store, nil)
            }
            let (tier, outcome) = try openTier(named: name, inFamily: family, disk: request.disk, otherwise: request.defaults.disk)
            let store = TieredStore(
                disk: tier, codec: codec, memory: request.memory ?? request.defaults.memory, remembering: remembrance, indexing: catalog,
                durability: request.durability, clock: clock)
            stores.add(store, key, ObjectIdentifier(tier))
            if isHeld { _ = stores.hold(store) }
            return (store, (tier, outcome))
        }
        do throws(StoreError) {
            try finishOpening(store, name, opened, request, remembrance, catalog, isFirst: isFirst)
            return store
        } catch {
            if isHeld { stores.endHold(on: store) }
            throw error
        }
    }

    /// What is done where no lock is held: what is logged may be handled by anyone, and the codec may be asked about a few entries.
    private func finishOpening<Value>(
        _ store: TieredStore<Value>, _ name: String, _ opened: (tier: SQLiteTier, outcome: LimitOutcome)?, _ request: StoreRequest,
        _ remembrance: Remembrance<Value>, _ catalog: IndexCatalog<Value>?, isFirst: Bool
    ) throws(StoreError) {
        if let (tier, outcome) = opened {
            finish(outcome, of: tier)
            if let catalog { try declareIndex(catalog.shape, of: tier, for: store) }
        } else if isFirst, stores.isHeldOnce(store), store.durability == request.durability {
            try store.reconfigure(memory: request.memory ?? store.capacities.memory, disk: request.disk, remembering: remembrance)
        } else if let refused = try grant(request, to: store, name) {
            Log.notice("\(refused)")
            store.report(refused)
        }
    }

    /// Where there is no room to change the index, the archive opens all the same: queries are right without it.
    private func declareIndex<Value>(_ shape: IndexShape, of tier: SQLiteTier, for store: TieredStore<Value>) throws(StoreError) {
        do throws(StoreError) {
            try tier.declareIndex(shape)
        } catch  where [.diskFull, .busy, .readOnly].contains(error.code) {
            Log.notice("The indexes of an archive could not be changed; its queries do without. \(error)")
            store.report(error)
        }
    }

    /// The store over the archive of that name, if it is open.
    ///
    /// - Throws: ``StoreError/Code/contradiction`` if it is open for another type.
    public func openStore<Value>(named name: String, of type: Value.Type = Value.self) throws(StoreError) -> TieredStore<Value>? {
        guard birth.isThisProcess else { throw .forked }
        guard let open = stores.open(EntryKey(name)) else { return nil }
        guard let store = open as? TieredStore<Value> else { throw .openForAnotherType(Value.self) }
        return store
    }

    /// The tier of the archive of that name, to stand under a store of one's own.
    ///
    /// - Important: Make one tier for a name at a time: it has one owner to ask.
    public func tier(named name: String, inFamily family: String? = nil, capacity: Capacity) throws(StoreError) -> SQLiteTier {
        let (tier, outcome) = try openTier(named: name, inFamily: family, disk: capacity, otherwise: capacity)
        finish(outcome, of: tier)
        return tier
    }

    private func openTier(
        named name: String, inFamily family: String?, disk: Capacity?, otherwise fallback: Capacity
    ) throws(StoreError) -> (SQLiteTier, LimitOutcome) {
        let normal = EntryKey(name).normalized
        let tier = try entering { () throws(SQLiteError) in
            try writer.withLock { (writer: inout Writer?) throws(SQLiteError) -> SQLiteTier? in
                guard let writer else { return nil }
                let family = family.map { EntryKey($0).normalized }
                let number = try writer.archiveNumber(named: normal, inFamily: family)
                // An older writer of the archive may hold totals that relaxed writes have not committed.
                try writer.commitBatch()
                hasOpenBatch.store(false, ordering: .releasing)
                CrashPoint.reached(.archiveCommitted)
                let archive = ArchiveWriter(id: number, name: normal, connection: writer.connection)
                if let family { try writer.join(family, archive, at: clock.now()) }
                try archive.beginSweeping()
                if archive.family != nil || archive.sweepMap.hasUnread { scheduleSweep() }
                // Only once nothing can fail any more: a tier that is let go of takes the writer's lock.
                let tier = SQLiteTier(file: self, number: number, name: normal, entryLimit: (disk ?? fallback).entries)
                archive.serve(tier)
                writer.add(archive)
                return tier
            }
        }
        guard let tier else { throw .closed }
        let outcome = try entering { () throws(SQLiteError) in
            try setLimit(of: tier) { stored, held in stored.opened(given: disk, otherwise: fallback, holding: held) }
        }
        tier.keep(outcome)
        return (tier, outcome)
    }

    /// The names of the archives in the file, in the order they were made.
    public func archiveNames() throws(StoreError) -> [String] {
        let names = try entering { () throws(SQLiteError) in
            try writer.withLock { (writer: inout Writer?) throws(SQLiteError) in try writer?.archiveNames() }
        }
        guard let names else { throw .closed }
        return names
    }

    func removeUnused(_ number: Int64, before stamp: UseStamp, limit: Int) throws(SQLiteError) -> [EntryKey] {
        let (keys, state) = try makingRoom { () throws(SQLiteError) in
            try writer.withLock { (writer: inout Writer?) throws(SQLiteError) -> ([EntryKey], WriteState?) in
                guard let writer, let archive = writer.archive(number) else { throw .closedArchive }
                let keys = try writer.transaction { () throws(SQLiteError) -> [EntryKey] in
                    try archive.load()
                    var keys: [EntryKey] = []
                    while keys.count < limit, let key = try archive.removeColdest(before: stamp) { keys.append(key) }
                    return keys
                }
                hasOpenBatch.store(false, ordering: .releasing)
                return (keys, WriteState(writer))
            }
        }
        if let state { lookAfter(state) }
        return keys
    }

    func attach(_ owner: any TierOwner, to tier: SQLiteTier) {
        do throws(SQLiteError) {
            let newest = try writer.withLock { (writer: inout Writer?) throws(SQLiteError) -> Int64? in
                guard let archive = writer?.archive(tier.number) else { return nil }
                archive.owner = owner
                return try writer?.connection.int(SQL.newestStamp(tier.number))
            }
            if let newest { owner.uses(areLaterThan: UseStamp(rawValue: newest)) }
        } catch {
            Log.error("The order of use of an archive could not be read.", error)
        }
        let events = news.withLock { news in
            defer { news = [] }
            return news
        }
        for event in events { owner.tierDidReport(event) }
    }

    func remove(_ tier: SQLiteTier) {
        // A copy of the process that has it open must write nothing.
        guard birth.isThisProcess else { return }
        let identity = ObjectIdentifier(tier)
        stores.remove(identity)
        writer.withLock { writer in
            // Another tier of the same archive may have come meanwhile.
            guard let writer, writer.archive(tier.number)?.tier == identity else { return }
            do throws(SQLiteError) {
                try writer.commitBatch()  // It may hold writes of this archive, and its totals.
            } catch {
                Log.error("Relaxed writes could not be kept.", error)
            }
            hasOpenBatch.store(writer.batch != nil, ordering: .releasing)
            writer.remove(tier.number, at: clock.now())
        }
    }
}

extension StoreError {
    fileprivate static func openForAnotherType(_ type: Any.Type) -> StoreError {
        StoreError(.contradiction, "The archive is open for another type than \(type). Give one of the types another name.")
    }
}

/// Which stores are open over which archives.
final class StoreTable: Sendable {
    /// Held while a store is opened, so that two who ask at once get one.
    let opening = Locked(())
    let table = Locked<[EntryKey: OpenStore]>([:])

    // A class, because a weak existential in an optional struct is misread by the compiler of Swift 6.3.
    final class OpenStore {
        weak var store: (any AnyObject & Sendable)?
        let id: ObjectIdentifier
        let tier: ObjectIdentifier
        /// How many handles hold it.
        var holds = 0
        /// Whether any has.
        var wasHeld = false

        init(_ store: any AnyObject & Sendable, _ tier: ObjectIdentifier) {
            self.store = store
            self.id = ObjectIdentifier(store)
            self.tier = tier
        }
    }

    func open(_ name: EntryKey) -> (any AnyObject & Sendable)? {
        table.withLock { $0[name]?.store }
    }

    func add(_ store: any AnyObject & Sendable, _ name: EntryKey, _ tier: ObjectIdentifier) {
        table.withLock { $0[name] = OpenStore(store, tier) }
    }

    func remove(_ tier: ObjectIdentifier) {
        table.withLock { table in table = table.filter { $0.value.tier != tier } }
    }
}

extension Writer {
    /// The number of an archive, which is made where there is none yet.
    ///
    /// - Parameters:
    ///   - family: Archives that the new one replaces: it has the limit of the one that was opened last.
    ///   - limit: The limit of the new one otherwise.
    func archiveNumber(
        named name: String, inFamily family: String? = nil, withLimit limit: StoredLimit = .unknown
    ) throws(SQLiteError) -> Int64 {
        if let number = try findArchive(name) { return number }
        return try transaction { () throws(SQLiteError) in
            // Once more, now that no other process can add it.
            if let number = try findArchive(name) { return number }
            var limit = limit
            if let family, let present = try self.limit(ofFamily: family) { limit = present }
            let add = try connection.prepare(SQL.addArchive)
            add.bind(name, at: 1)
            add.bind(limit.bytes, at: 2)
            add.bind(limit.isGiven, at: 3)
            guard try add.step() else { throw .closedArchive }
            let number = add.int(0)
            add.reset()
            CrashPoint.reached(.archiveAdded)
            for table in SQL.archiveTables(number) { try connection.execute(table) }
            CrashPoint.reached(.archiveCreated)
            return number
        }
    }

    private func findArchive(_ name: String) throws(SQLiteError) -> Int64? {
        let find = try connection.prepare(SQL.findArchive)
        find.bind(name, at: 1)
        guard try find.step() else { return nil }
        // The index on names leads to the table, and both must say the same, or another archive would be taken for this one.
        let confirm = try connection.prepare(SQL.archiveName)
        confirm.bind(find.int(0), at: 1)
        guard find.int(0) > 0, try confirm.step(), confirm.isText(name, at: 0) else {
            throw SQLiteError(code: SQLiteError.corrupt, message: "The list of archives is damaged.")
        }
        return find.int(0)
    }

    func archiveNames() throws(SQLiteError) -> [String] {
        let list = try connection.prepare(SQL.listArchives)
        var names: [String] = []
        while try list.step() { names.append(list.text(1) ?? "") }
        return names
    }
}
