internal import Foundation
internal import Synchronization
public import Tiers

// The archives of the file, and the stores over them: one for each name, shared by all who ask.

extension SQLiteFile {
    /// What to do when an archive is open already, with other limits than those asked for.
    public enum DifferencePolicy: Sendable {
        /// Throw ``StoreError/Code/contradiction``.
        case refuse
        /// Share it as it is, and report the difference.
        case share
    }

    /// The store over the archive of that name: the one that is open, or a new one.
    ///
    /// - Parameters:
    ///   - name: Any string; names are compared as keys are.
    ///   - codec: Turns values into bytes and back.
    ///   - family: What it has in common with archives that it replaces. They count toward its limit on disk, their entries leave
    ///     first where room is needed, and all of them do when nobody has opened the archive for a week.
    ///   - memory: What memory may hold. The limits of whoever opens the archive first count.
    ///   - disk: What the disk may hold. If it holds more, the coldest leave now.
    ///   - remembrance: Whether memory keeps values or bytes; `.values` exists for `Sendable` types.
    ///   - catalog: What is indexed of the values, and an empty one for nothing; then an index that is there is dropped. `nil` says
    ///     nothing, and leaves it.
    ///   - durability: What an acknowledged write survives.
    ///   - policy: What to do when the archive is open with other limits.
    /// - Throws: ``StoreError/Code/contradiction`` if the archive is open for another type, or as `policy` says.
    public func store<Value>(
        named name: String,
        codec: any Codec<Value>,
        inFamily family: String? = nil,
        memory: Capacity,
        disk: Capacity,
        remembering remembrance: Remembrance<Value> = .bytes,
        indexing catalog: IndexCatalog<Value>? = nil,
        durability: Durability = .crashSafe,
        whenDifferent policy: DifferencePolicy = .refuse
    ) throws(StoreError) -> TieredStore<Value> {
        let (store, tier) = try stores.opening.withLock { _ throws(StoreError) -> (TieredStore<Value>, SQLiteTier?) in
            let key = EntryKey(name)
            if let open = stores.open(key) {
                return (try shared(open, memory, disk, durability, policy), nil)
            }
            let tier = try self.tier(named: name, inFamily: family, capacity: disk)
            let store = TieredStore(
                disk: tier, codec: codec, memory: memory, remembering: remembrance, indexing: catalog, durability: durability,
                clock: clock)
            stores.add(store, key, ObjectIdentifier(tier))
            return (store, tier)
        }
        // Outside the lock: it may ask the codec about a few entries.
        if let tier, let catalog { try declareIndex(catalog.shape, of: tier, for: store) }
        return store
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
        guard let open = stores.open(EntryKey(name)) else { return nil }
        guard let store = open as? TieredStore<Value> else { throw .openForAnotherType(Value.self) }
        return store
    }

    private func shared<Value>(
        _ open: AnyObject, _ memory: Capacity, _ disk: Capacity, _ durability: Durability, _ policy: DifferencePolicy
    ) throws(StoreError) -> TieredStore<Value> {
        guard let store = open as? TieredStore<Value> else {
            throw .openForAnotherType(Value.self)
        }
        guard store.capacities != (memory, disk) || store.durability != durability else { return store }
        let error = StoreError(
            .contradiction,
            """
            The archive is open with other limits or another durability; those of the first to open it count. \
            Ask for the same, or close it first.
            """)
        guard policy == .share else { throw error }
        Log.notice("\(error)")
        store.report(error)
        return store
    }

    /// The tier of the archive of that name, to stand under a store of one's own.
    ///
    /// - Important: Make one tier for a name at a time: it has one owner to ask.
    public func tier(named name: String, inFamily family: String? = nil, capacity: Capacity) throws(StoreError) -> SQLiteTier {
        let normal = EntryKey(name).normalized
        let tier = try entering { () throws(SQLiteError) in
            try writer.withLock { (writer: inout Writer?) throws(SQLiteError) -> SQLiteTier? in
                guard let writer else { return nil }
                let number = try writer.archiveNumber(named: normal)
                // An older writer of the archive may hold totals that relaxed writes have not committed.
                try writer.commitBatch()
                hasOpenBatch.store(false, ordering: .releasing)
                CrashPoint.reached(.archiveCommitted)
                let archive = ArchiveWriter(id: number, name: normal, capacity: capacity, connection: writer.connection)
                if let family { try writer.join(EntryKey(family).normalized, archive, at: clock.now()) }
                try archive.beginSweeping()
                if archive.family != nil || archive.sweepMap.hasUnread { scheduleSweep() }
                // Only once nothing can fail any more: a tier that is let go of takes the writer's lock.
                let tier = SQLiteTier(file: self, number: number, name: normal, capacity: capacity)
                archive.serve(tier)
                writer.add(archive)
                return tier
            }
        }
        guard let tier else { throw .closed }
        _ = try entering { () throws(SQLiteError) in try resize(tier, to: capacity) }
        return tier
    }

    /// The names of the archives in the file, in the order they were made.
    public func archiveNames() throws(StoreError) -> [String] {
        let names = try entering { () throws(SQLiteError) in
            try writer.withLock { (writer: inout Writer?) throws(SQLiteError) in try writer?.archiveNames() }
        }
        guard let names else { throw .closed }
        return names
    }

    /// Changes how much an archive may hold, and lets it keep that, a few entries at a time.
    func resize(_ tier: SQLiteTier, to capacity: Capacity) throws(SQLiteError) -> [EntryKey] {
        var evicted: [EntryKey] = []
        var isOver = true
        while isOver {
            let (removed, over, state) = try writer.withLock {
                (writer: inout Writer?) throws(SQLiteError) -> ((keys: [EntryKey], count: Int), Bool, WriteState?) in
                guard let writer, let archive = writer.archive(tier.number) else { return (([], 0), false, nil) }
                archive.capacity = capacity
                // Most often nothing is over the limit, and nothing need be written.
                if writer.batch == nil, try !archive.isOverLimit(reading: writer.connection) { return (([], 0), false, nil) }
                let removed = try writer.transaction { () throws(SQLiteError) in
                    try archive.load()
                    return try archive.evict(atMost: 512)
                }
                writer.tellOfLosses()
                hasOpenBatch.store(false, ordering: .releasing)
                return (removed, archive.isOverLimit, WriteState(writer))
            }
            CrashPoint.reached(.shrinkBatchCommitted)
            evicted += removed.keys
            // Totals that promise more than can be found are damage.
            if over, removed.count == 0 { throw SQLiteError(code: SQLiteError.corrupt, message: "The archive's totals are wrong.") }
            isOver = over
            if let state { lookAfter(state) }
        }
        return evicted
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
    private let table = Locked<[EntryKey: OpenStore]>([:])

    // A class, because a weak existential in an optional struct is misread by the compiler of Swift 6.3.
    private final class OpenStore {
        weak var store: (any AnyObject & Sendable)?
        let tier: ObjectIdentifier

        init(_ store: any AnyObject & Sendable, _ tier: ObjectIdentifier) {
            self.store = store
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
    func archiveNumber(named name: String) throws(SQLiteError) -> Int64 {
        if let number = try findArchive(name) { return number }
        return try transaction { () throws(SQLiteError) in
            // Once more, now that no other process can add it.
            if let number = try findArchive(name) { return number }
            let add = try connection.prepare(SQL.addArchive)
            add.bind(name, at: 1)
            guard try add.step() else { throw .closedArchive }
            let number = add.int(0)
            add.reset()
            CrashPoint.reached(.archiveAdded)
            try connection.execute(SQL.createArchive(number))
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
