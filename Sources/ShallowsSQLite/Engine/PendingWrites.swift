internal import VellumCore
internal import VellumEngine

/// The keys whose writes have started and not ended. Their values in memory may be out of date.
struct PendingWrites: Sendable {
    private var ofKeys: [EntryKey: Int] = [:]
    private var ofAll = 0

    /// - Parameter key: `nil` for a write of all keys.
    mutating func begin(_ key: EntryKey?) {
        if let key { ofKeys[key, default: 0] += 1 } else { ofAll += 1 }
    }

    mutating func end(_ key: EntryKey?) {
        guard let key else { return ofAll -= 1 }
        guard let count = ofKeys[key] else { preconditionFailure("A write ended that had not begun.") }
        ofKeys[key] = count == 1 ? nil : count - 1
    }

    func concern(_ key: EntryKey) -> Bool { ofAll > 0 || ofKeys[key] != nil }
}
