/// What a query does with stored objects that cannot be decoded, because their type has changed
/// since they were recorded.
public enum UndecodableObjects: Hashable, Sendable {
    /// The query throws on the first of them.
    case fail
    /// The query goes past them, and reports their number as
    /// ``StoreEvent/skippedUndecodable(count:)``.
    case skip
}
