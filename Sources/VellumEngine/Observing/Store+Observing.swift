internal import Synchronization
package import VellumCore

/// An answer to an observer's question.
package struct ObservedAnswer<Answer> {
    package var answer: Answer
    /// What the answer was made of. An answer of the same is not returned again.
    package var origins: [EntryOrigin]
    /// The entry of it that expires first; `nil` if none does.
    package var firstEnd: EntryEnd?
    /// The generation of the archive of which the whole answer is; `nil` if something changed
    /// meanwhile.
    var generation: UInt64?

    package init(_ answer: Answer, of origins: [EntryOrigin], firstEnd: EntryEnd? = nil) {
        self.answer = answer
        self.origins = origins
        self.firstEnd = firstEnd
    }
}

extension ObservedAnswer: Sendable where Answer: Sendable {}

/// When an entry expires.
package struct EntryEnd: Sendable {
    var key: EntryKey
    var moment: WallInstant

    /// `nil` if it never does.
    init?(_ key: EntryKey, _ moment: WallInstant) {
        guard moment != .never else { return nil }
        self.key = key
        self.moment = moment
    }
}

/// What tells an entry from others with other bytes or another key.
package struct EntryOrigin: Equatable, Sendable {
    var key: EntryKey
    /// ``Store/digest(of:)``.
    var digest: UInt64
}

extension ObservedAnswer {
    /// Returns another form of the answer. One with another number is never the same.
    package func map<Other>(number: UInt64, _ transform: (Answer) -> Other) -> ObservedAnswer<Other>
    {
        ObservedAnswer<Other>(
            transform(answer),
            of: origins + [EntryOrigin(key: "", digest: number)],
            firstEnd: firstEnd
        )
    }
}

extension ObservedAnswer<Int> {
    /// A number, which is compared itself.
    init(count: Int, firstEnd: EntryEnd? = nil) {
        self.init(
            count,
            of: [EntryOrigin(key: "", digest: UInt64(count))],
            firstEnd: firstEnd
        )
    }
}

// Observing: answers that do not affect the eviction order or a sliding age.

extension Store {
    /// Notifies a consumer of changes of the key, or of all keys.
    ///
    /// - Parameter isPrompt: Whether the consumer comes back for the next answer by itself.
    package func observer(of key: EntryKey? = nil, isPrompt: Bool = false) -> ChangeObserver {
        disk.file.watcher.observe(
            disk.archive.id,
            key: key.map(disk.changes.hash.of),
            isPrompt: isPrompt
        )
    }

    /// How many consumers are notified of changes of the file. For tests.
    var observerCount: Int { disk.file.watcher.observerCount }

    /// Returns the valid value under the key.
    package func observed(
        _ key: EntryKey,
        under expiration: Expiration = .never
    ) throws(VellumError) -> ObservedAnswer<Value?> {
        guard forkGuard.isThisProcess else { throw .forked }
        let now = clock.now()
        if let item = memoryOnly(key) {
            guard item.isValid(at: now, key, under: expiration) else {
                return ObservedAnswer(nil, of: [])
            }
            let end = item.validity.end(
                of: key,
                lastUse: item.stamp,
                at: now,
                under: expiration
            )
            let value = try value(of: item, key)
            let origin = EntryOrigin(key: key, digest: try digest(of: item.payload, value))
            return ObservedAnswer(value, of: [origin], firstEnd: EntryEnd(key, end))
        }
        guard let entry = try entryOnDisk(forKey: key),
            try isValid(entry, of: key, at: now, expiration),
            let value = try decode(entry, of: key)
        else { return ObservedAnswer(nil, of: []) }
        let end = try end(of: entry, key, under: expiration)
        let origin = EntryOrigin(key: key, digest: digest(of: entry))
        return ObservedAnswer(value, of: [origin], firstEnd: EntryEnd(key, end))
    }

    /// Returns the values that match the query.
    ///
    /// - Parameter isCancelled: Called for every object that is examined, and every 1,000
    ///   instructions of SQLite.
    package func observed(
        _ query: QueryDescription<Value>,
        undecodable: UndecodableObjects,
        isCancelled: @escaping () -> Bool
    ) throws(VellumError) -> ObservedAnswer<[Value]> {
        try atOneMoment { () throws(VellumError) in
            let execution = execution(of: query, undecodable, isCancelled)
            defer { execution.reportSkipped() }
            var values = [Value]()
            var origins = [EntryOrigin]()
            var end = EntryEnd?.none
            while let item = try execution.next() {
                values.append(item.value)
                origins.append(EntryOrigin(key: item.origin.key, digest: item.digest))
                if item.end < end?.moment ?? .never {
                    end = EntryEnd(item.origin.key, item.end)
                }
            }
            return (ObservedAnswer(values, of: origins, firstEnd: end), execution.reads.snapshots)
        }
    }

    /// Returns a shorter answer with what the query finds that begins after it: what that has is
    /// not read again.
    ///
    /// - Returns: `nil` if anything may have changed since, or changes meanwhile.
    package func observed(
        _ query: QueryDescription<Value>,
        after shown: ObservedAnswer<[Value]>,
        isCancelled: @escaping () -> Bool
    ) throws(VellumError) -> ObservedAnswer<[Value]>? {
        guard shown.generation != nil, memory.memoryOnlyCount == 0,
            clock.now() < shown.firstEnd?.moment ?? .never
        else { return nil }
        var answer = try observed(query, undecodable: .fail, isCancelled: isCancelled)
        guard answer.generation == shown.generation else { return nil }
        answer.answer = shown.answer + answer.answer
        answer.origins = shown.origins + answer.origins
        if let end = shown.firstEnd, end.moment < answer.firstEnd?.moment ?? .never {
            answer.firstEnd = end
        }
        return answer
    }

    /// Returns how many valid values match the query.
    package func observedCount(
        _ query: QueryDescription<Value>,
        undecodable: UndecodableObjects,
        isCancelled: @escaping () -> Bool
    ) throws(VellumError) -> ObservedAnswer<Int> {
        // The entries say when the count changes.
        let mayExpire = if memory.memoryOnlyCount > 0 { true } else { try disk.mayExpire() }
        if mayExpire {
            let found = try observed(query, undecodable: undecodable, isCancelled: isCancelled)
            return ObservedAnswer(count: found.answer.count, firstEnd: found.firstEnd)
        }
        return try atOneMoment { () throws(VellumError) in
            let execution = execution(of: query, undecodable, isCancelled)
            defer { execution.reportSkipped() }
            return (ObservedAnswer(count: try execution.count()), execution.reads.snapshots)
        }
    }

    private func execution(
        of query: QueryDescription<Value>,
        _ undecodable: UndecodableObjects,
        _ isCancelled: @escaping () -> Bool
    ) -> QueryExecution<Value> {
        QueryExecution(
            query,
            in: self,
            QueryOptions(undecodable: undecodable, isCancelled: isCancelled, isObserved: true)
        )
    }

    /// Asks again if the answer is of several snapshots and a change fell between them, three times
    /// at most.
    private func atOneMoment<Answer>(
        _ ask: () throws(VellumError) -> (answer: ObservedAnswer<Answer>, snapshots: Int)
    ) throws(VellumError) -> ObservedAnswer<Answer> {
        var triesLeft = 3
        while true {
            triesLeft -= 1
            // Otherwise the first snapshot would commit them, as a change.
            try disk.writeForQueries()
            let before = disk.changes.quietGeneration
            var (answer, snapshots) = try ask()
            if let before, before == disk.changes.generation.value {
                answer.generation = before
                return answer
            }
            guard snapshots > 1, triesLeft > 0 else { return answer }
        }
    }

    /// When an entry that was read expires.
    func end(
        of entry: Entry,
        _ key: EntryKey,
        under expiration: Expiration = .never
    ) throws(VellumError) -> WallInstant {
        let slides = (entry.validity.isOwn ? entry.validity.idle : expiration.idle) != .max
        let lastUse =
            slides
            ? max(try lastUse(of: entry, key), memory.peek(key)?.stamp ?? .never)
            : .never
        return entry.validity.end(
            of: key,
            lastUse: lastUse,
            at: clock.now(),
            under: expiration
        )
    }
}
