import Synchronization

/// How many event streams are open.
final class OpenStreams: Sendable {
    private let open = Atomic(0)

    var count: Int { open.load(ordering: .relaxed) }

    func begin() { open.add(1, ordering: .relaxed) }

    func end() { open.subtract(1, ordering: .relaxed) }
}
