internal import VellumCore

/// A piece of work that calls are part of, such as the retrieval of a key from the back of a composition: by its name, code of a
/// user's own that is asked by a layer, and calls us again, is known not to wait for itself.
///
/// Tasks inherit what they are part of, and so does what is done with a reply that comes later. A thread that a user's own code hands
/// work over to does not. A task that outlives the work is no part of it any more.
final class NamedWork: Sendable {
    struct Name: Hashable, Sendable {
        let owner: ObjectIdentifier
        let key: KeyIdentity?

        /// Whether the code that runs is part of work of this name that is not over.
        var isCurrent: Bool { NamedWork.current.contains { $0.name == self && !$0.isOver } }
    }

    @TaskLocal static var current: [NamedWork] = []

    private let name: Name
    private let hasEnded = Locked(false)
    private var isOver: Bool { hasEnded.withLock { $0 } }

    init(_ name: Name) {
        self.name = name
    }

    /// Runs the body as part of this.
    func doing<Result>(_ body: () -> Result) -> Result {
        NamedWork.$current.withValue(NamedWork.current.filter { !$0.isOver } + [self], operation: body)
    }

    func end() {
        hasEnded.withLock { $0 = true }
    }

    /// The function as part of what it is now, on whatever thread it will run.
    static func keeping<Input, Result>(_ body: @escaping @Sendable (Input) -> Result) -> @Sendable (Input) -> Result {
        let names = current
        guard !names.isEmpty else { return body }
        return { input in $current.withValue(names) { body(input) } }
    }
}
