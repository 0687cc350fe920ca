/// A limit of the results of a query.
public struct QueryLimiter<Result> {
    let limit: Int

    /// Creates a limiter that keeps the first `limit` results; none for zero or a negative number.
    public init(limit: Int) { self.limit = max(0, limit) }
}
