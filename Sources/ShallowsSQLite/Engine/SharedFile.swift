internal import Foundation
internal import Shallows
internal import VellumCore
internal import VellumEngine

/// What all storages on one file share in this process, if they name it by the same path: the order
/// of their calls, and the keys that are being written.
///
/// A storage that is made anew for every call still reads what the one before it set.
final class SharedFile: Sendable {
    private static let files = WeakTable<String, SharedFile>()

    let queue = SerialQueue()
    let visits = Lane.Share(of: .visits)
    private let pending = Locked(PendingWrites())
    private let path: String

    private init(path: String) {
        self.path = path
    }

    deinit {
        Self.files.removeValue(forKey: path, ifHolding: ObjectIdentifier(self))
    }

    /// The shared state of a file. Reads nothing from the disk: a file with two paths may have two,
    /// each in order.
    static func shared(for url: URL) -> SharedFile {
        let path = url.standardizedFileURL.path
        return files.object(forKey: path, else: SharedFile(path: path))
    }

    /// Starts a write of a key, or of all keys where it is `nil`. Until it ends, ``isWriting(_:)``
    /// returns `true`.
    func write<Result>(
        _ key: EntryKey?,
        _ call: Call,
        _ start: () -> Reply<Result>
    ) -> Reply<Result> {
        if call.waits { return start() }  // The write has ended when this returns.
        pending.withLock { $0.begin(key) }
        return start().map { [self] outcome in
            pending.withLock { $0.end(key) }
            return outcome
        }
    }

    /// Whether a write that has started may change the value under the key.
    func isWriting(_ key: EntryKey) -> Bool { pending.withLock { $0.concern(key) } }
}

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
        guard let count = ofKeys[key] else {
            preconditionFailure("A write ended that had not begun.")
        }
        ofKeys[key] = count == 1 ? nil : count - 1
    }

    func concern(_ key: EntryKey) -> Bool { ofAll > 0 || ofKeys[key] != nil }
}
