internal import Foundation
internal import Shallows
internal import VellumCore
internal import VellumEngine

/// The order of the calls on a file: one for all storages of this process that name it by the same path.
///
/// A storage that is made anew for every call, on one path, still finds what the one before it set.
final class FileQueue: Sendable {
    let lane = Lane()
    private let pending = Locked(PendingWrites())
    private let path: String

    private init(path: String) {
        self.path = path
    }

    // A class, because an optional struct with a weak reference is misread by the compiler of Swift 6.3.
    private final class Weak {
        weak var queue: FileQueue?
        let id: ObjectIdentifier

        init(_ queue: FileQueue) {
            self.queue = queue
            id = ObjectIdentifier(queue)
        }
    }

    private static let queues = Locked<[String: Weak]>([:])

    /// The queue of a file. Reads nothing from the disk, so that a file with two paths may have two: each is in order.
    static func shared(for url: URL) -> FileQueue {
        let path = url.standardizedFileURL.path
        let new = FileQueue(path: path)  // Made and let go of outside the lock: its `deinit` takes it.
        return queues.withLock { queues in
            if let queue = queues[path]?.queue { return queue }
            queues[path] = Weak(new)
            return new
        }
    }

    /// Asks for a write of a key, or of all. Until it is done, or was cancelled, ``isWriting(_:)`` says so.
    func write(_ key: EntryKey?, _ call: Call, _ ask: () -> Reply<Void>) -> Reply<Void> {
        if call.waits { return ask() }  // It is done when it returns.
        pending.withLock { $0.begin(key) }
        return ask().map { [self] outcome in
            pending.withLock { $0.end(key) }
            return outcome
        }
    }

    /// Whether something was asked for that may change what is under the key.
    func isWriting(_ key: EntryKey) -> Bool { pending.withLock { $0.concern(key) } }

    deinit {
        Self.queues.withLock { queues in
            // A new queue may have taken the place already.
            if queues[path]?.id == ObjectIdentifier(self) { queues[path] = nil }
        }
    }
}
