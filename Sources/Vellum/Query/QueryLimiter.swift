/// Limits the results of a query.
public struct QueryLimiter<Result> {
    let limit: Int

    /// Keeps `limit` results at most; none for zero or below.
    public init(limit: Int) { self.limit = max(0, limit) }
}
