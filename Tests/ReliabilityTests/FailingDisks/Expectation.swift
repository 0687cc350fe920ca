/// The values that the keys of an archive may have while calls fail.
struct Expectation {
    /// What the open store must return: one value, or one of a few if only a sync failed. `nil` is
    /// a miss.
    private var open: [String: [Item?]] = [:]
    /// Further values that may exist once the file is reopened: the log may contain a write that
    /// was not acknowledged.
    private var reopened: [String: [Item?]] = [:]

    var keys: [String] { Array(open.keys) }

    mutating func acknowledged(_ key: String, _ value: Item?) {
        open[key] = [value]
        reopened[key] = []
    }

    /// - Parameter isInDoubt: Whether the write may have been applied although the caller got an
    ///   error.
    mutating func failed(_ key: String, _ value: Item?, isInDoubt: Bool) {
        if isInDoubt { open[key, default: [nil]].append(value) }
        open[key, default: [nil]] += []
        reopened[key, default: []].append(value)
    }

    /// Whether the open store may return this value. The key's value is known from then on.
    mutating func allows(_ key: String, _ value: Item?) -> Bool {
        guard open[key, default: [nil]].contains(value) else { return false }
        open[key] = [value]
        return true
    }

    /// Makes the contents of the file known again.
    mutating func reopen(_ read: (String) throws -> Item?) throws -> [String] {
        var wrong: [String] = []
        for key in keys {
            let value = try read(key)
            if !(open[key, default: []] + reopened[key, default: []]).contains(value) {
                wrong.append(key)
            }
            acknowledged(key, value)
        }
        return wrong
    }

    /// The exact values that must exist; `nil` while some are in doubt.
    var certain: [String: Item]? {
        guard open.values.allSatisfy({ $0.count == 1 }) else { return nil }
        return open.compactMapValues { $0[0] }
    }
}
