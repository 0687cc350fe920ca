internal import VellumCore

/// Answers that are no values: that there is nothing, or that the loader failed. In memory only, and bounded.
///
/// A pure value. Each answer holds only while nothing was written or removed under its key since: it carries the version that
/// the key had when its loading began (``WatchedKeys``), and its key stays watched. Whoever takes an answer out, or gets a
/// key back because there was no room, must end that watch.
struct NegativeCache: Sendable {
    enum Answer: Sendable {
        case nothing
        case failure(any Error)
    }

    struct Item: Sendable {
        var answer: Answer
        var since: WallInstant
        var until: WallInstant
        var version: UInt64

        /// The clock may have gone back: what was remembered in the future is forgotten.
        func isValid(at now: WallInstant) -> Bool { since <= now && now < until }
    }

    /// How many keys there is room for: some hundred kilobytes.
    static var mostKeys: Int { 4096 }

    private var items: [EntryKey: Item] = [:]

    init() {}

    var count: Int { items.count }

    func item(_ key: EntryKey) -> Item? { items[key] }

    /// Remembers an answer under the key, and returns the keys whose answers had to go, once for each.
    ///
    /// - Complexity: O(1), over many calls.
    mutating func insert(_ item: Item, forKey key: EntryKey) -> [EntryKey] {
        var gone: [EntryKey] = []
        if items.removeValue(forKey: key) != nil { gone.append(key) }
        if items.count >= Self.mostKeys {
            let dead = items.filter { !$0.value.isValid(at: item.since) }.map(\.key)
            // Where all are alive, some are drawn: the order of a dictionary is as good as random.
            for key in dead.isEmpty ? Array(items.keys.prefix(Self.mostKeys / 16)) : dead {
                items[key] = nil
                gone.append(key)
            }
        }
        items[key] = item
        return gone
    }

    /// Forgets what is remembered under the key, if it is of this version. Returns whether it was.
    mutating func remove(_ key: EntryKey, version: UInt64) -> Bool {
        guard items[key]?.version == version else { return false }
        items[key] = nil
        return true
    }
}
