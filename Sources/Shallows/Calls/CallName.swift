/// A piece of work that calls are part of, such as the retrieval of a key from the back of a composition: by these names, code
/// of a user's own that is asked by a layer, and calls us again, is known not to wait for itself.
@usableFromInline
struct CallName: Hashable, Sendable {
    let owner: ObjectIdentifier
    let key: KeyIdentity?

    /// What the code that runs is part of. Tasks inherit it, and so does what is done with a reply that comes later. A thread that
    /// a user's own code hands work over to does not.
    @TaskLocal static var current: [CallName] = []

    var isCurrent: Bool { CallName.current.contains(self) }

    /// Runs the body as part of this.
    func naming<Result>(_ body: () -> Result) -> Result {
        CallName.$current.withValue(CallName.current + [self], operation: body)
    }

    /// The function as part of what it is now, on whatever thread it will run.
    @usableFromInline
    static func keeping<Input, Result>(_ body: @escaping @Sendable (Input) -> Result) -> @Sendable (Input) -> Result {
        let names = current
        guard !names.isEmpty else { return body }
        return { input in $current.withValue(names) { body(input) } }
    }
}
