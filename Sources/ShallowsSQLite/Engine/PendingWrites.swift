internal import VellumCore
internal import VellumEngine

/// Which keys are going to be written by what was asked for and is not done yet: of those memory does not know the last word.
struct PendingWrites: Sendable {
    private var ofKeys: [EntryKey: Int] = [:]
    private var ofAll = 0

    /// - Parameter key: `nil` for all of them.
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
