/// The exact contents of a script's archives after its operations, including evictions and their
/// order.
package struct Model: Hashable, Sendable {
    /// An item on its archive.
    package struct Held: Hashable, Sendable {
        package var version: Int
        package var filling: Int
        package var size: Int
        /// When it expires, in milliseconds.
        package var expires: Int64?
        /// When it was last accessed.
        package var used: Int64
        /// Its position in the order of use.
        package var place: Int
    }

    package var archives: [ScriptArchive: [String: Held]] = [:]
    package var tightLimit = ScriptArchive.tightLimit
    package var catalog = 0
    /// The version of the type of the safe archive.
    package var typeVersion: Int64 = 0
    /// The version of the cache.
    package var cacheVersion = 1
    package var now: Int64 = 1_767_225_600_000
    /// The number of the last operation.
    package var operations = 0
    private var places = 0

    package init() {}

    package func items(on archive: ScriptArchive) -> [String: Held] { archives[archive] ?? [:] }

    /// The contents of a archive that a reader sees now.
    package func visible(on archive: ScriptArchive, at now: Int64) -> [String: Int] {
        items(on: archive).filter { $0.value.expires ?? .max > now }.mapValues(\.version)
    }

    package func bytes(on archive: ScriptArchive) -> Int {
        items(on: archive).values.reduce(0) { $0 + $1.size }
    }

    /// Inserts an item as the most recently used of its archive.
    package mutating func put(_ item: Item, expires: Int64?, used: Int64) {
        places += 1
        archives[item.archive, default: [:]][item.key] = Held(
            version: item.version,
            filling: item.filling,
            size: item.size,
            expires: expires,
            used: used,
            place: places
        )
    }

    // MARK: Operations

    /// Applies the operation.
    ///
    /// - Parameter removals: The largest number of entries to remove if they are removed in
    ///   batches: the progress that a killed process may have made.
    package mutating func apply(_ operation: Step, removingAtMost removals: Int = .max) {
        switch operation {
        case .write(let changes):
            for change in changes { apply(change) }
        case .move(let from, let to, let key):
            guard let held = valid(from, key) else { return }
            archives[from]?[key] = nil
            put(to, key, filling: held.filling, expires: nil)
        case .update(let archive, let key):
            let held = valid(archive, key)
            put(archive, key, filling: Self.filling(after: held?.filling), expires: held?.expires)
        case .read(let archive, let key):
            use(archive, key)
        case .limit(let bytes):
            tightLimit = bytes
            removeColdest(of: .tight, atMost: removals) { _, left in left > bytes }
        case .forget(let milliseconds):
            let bound = now - Int64(milliseconds)
            removeColdest(of: .tight, atMost: removals) { held, _ in held.used < bound }
        case .index(let number):
            catalog = number
        case .drop:
            archives[.cache] = nil
        case .raise:
            typeVersion += 1
        case .replace:
            cacheVersion += 1
            archives[.cache] = nil
        case .wait(let days):
            now += Int64(days) * Self.day
        case .starved, .query, .flush, .settle, .sweep, .reopen: break
        }
    }

    /// The archive from which the operation removes entries in batches, if any.
    package func shelfThatShrinks(during operation: Step) -> ScriptArchive? {
        switch operation {
        case .limit, .forget: .tight
        default: nil
        }
    }

    package static let day: Int64 = 24 * 3600 * 1000

    private mutating func apply(_ change: Step.Change) {
        switch change.kind {
        case .put(let filling, let age):
            put(change.archive, change.key, filling: filling, expires: age.map { now + Int64($0) })
        case .delete: archives[change.archive]?[change.key] = nil
        case .clear: archives[change.archive] = nil
        case .dissolve:
            archives[change.archive] = archives[change.archive]?.filter {
                Item.groups[$0.value.version % Item.groups.count] != change.key
            }
        }
    }

    /// The length of the filling of an updated item.
    package static func filling(after old: Int?) -> Int { old.map { ($0 + 7) % 400 } ?? 50 }

    private func valid(_ archive: ScriptArchive, _ key: String) -> Held? {
        archives[archive]?[key].flatMap { $0.expires ?? .max > now ? $0 : nil }
    }

    /// Records an item by this operation, and evicts what exceeds the limit then.
    private mutating func put(
        _ archive: ScriptArchive,
        _ key: String,
        filling: Int,
        expires: Int64?
    ) {
        put(
            Item(archive: archive, key: key, version: operations, filling: filling),
            expires: expires,
            used: now
        )
        if archive == .tight {
            let limit = tightLimit
            removeColdest(of: .tight) { _, left in left > limit }
        }
        if archive == .cache {
            removeColdest(of: .cache) { _, left in left > ScriptArchive.cacheLimit }
        }
    }

    private mutating func use(_ archive: ScriptArchive, _ key: String) {
        guard var held = archives[archive]?[key], held.expires ?? .max > now else { return }
        places += 1
        (held.used, held.place) = (now, places)
        archives[archive]?[key] = held
    }

    /// Removes the least recently used items while `isWanted` returns `true` for the item and the
    /// size of the archive.
    private mutating func removeColdest(
        of archive: ScriptArchive,
        atMost limit: Int = .max,
        while isWanted: (Held, Int) -> Bool
    ) {
        let items = items(on: archive)
        var left = bytes(on: archive)
        var removed = 0
        guard items.contains(where: { isWanted($0.value, left) }) else { return }
        for (key, held) in items.sorted(by: { $0.value.place < $1.value.place }) {
            guard removed < limit, isWanted(held, left) else { return }
            archives[archive]?[key] = nil
            left -= held.size
            removed += 1
        }
    }
}
