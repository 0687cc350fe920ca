package import VellumCore

extension Store {
    /// Returns an aggregate of the values that match the query. Does not affect the eviction order.
    ///
    /// - Parameters:
    ///   - fromIndex: Makes the result of what the index answers; returns `nil` if it cannot.
    ///   - fromValues: Makes the result of the values, which its argument returns one by one.
    package func aggregate<Result>(
        _ aggregate: PropertyAggregate, of query: QueryDescription<Value>, undecodable: UndecodableObjects,
        fromIndex: (AggregateAnswer) throws(VellumError) -> Result?,
        fromValues: (() throws(VellumError) -> Value?) throws(VellumError) -> Result
    ) throws(VellumError) -> Result {
        let execution = QueryExecution(query, in: self, QueryOptions(undecodable: undecodable))
        defer { execution.reportSkipped() }
        if let answer = try execution.source.answerWithoutDecoding(aggregate), let result = try fromIndex(answer) { return result }
        return try fromValues { () throws(VellumError) in try execution.next()?.value }
    }

    /// Computes an aggregate of the values that match the query, and explains how it was answered.
    package func explain(
        _ aggregate: PropertyAggregate, of query: QueryDescription<Value>, undecodable: UndecodableObjects
    ) throws(VellumError) -> QueryExplanation {
        let clock = ContinuousClock()
        let start = clock.now
        let execution = QueryExecution(query, in: self, QueryOptions(undecodable: undecodable))
        let isAnswered = try execution.source.answerWithoutDecoding(aggregate) != nil
        if !isAnswered { while try execution.next() != nil {} }
        var explanation = try self.explanation(of: execution, results: 1, clock.now - start)
        if isAnswered { explanation.pushedDown.append(aggregate.description) } else { explanation.remaining.append(aggregate.description) }
        return explanation
    }
}
