internal import VellumCore

/// The table "every write is heard" (decision 75), cell by cell: who writes, from where, and whom
/// it concerns. The same for archives and caches; a kind of store says which writes it has
/// (``rows(of:by:from:recordsAbsence:)``).
package struct HeardCell: Sendable, CustomStringConvertible {
    /// A write of the key that a bystander depends on.
    package enum Write: CaseIterable, Sendable {
        case set, subscriptSet, setMany, setIfAbsent, update, transactionSet
        /// A value whose age is over at once.
        case setExpired
        /// By the loader of another process.
        case loadElsewhere
        case remove, subscriptNil, removeMany, updateToNil, transactionRemove, transactionRemoveAll
        case removeAll, removePrefix, removeEmptyPrefix, removeGroup, removeWhere,
            removeUndecodable, clearAll
        /// Removes the archive or cache, which this process has open.
        case drop
        /// Replaces the cache by one of another version.
        case otherVersion
        /// No caller's removals of the key: what has not been used for long, and what another
        /// process finds expired.
        case removeUnused, expire
    }

    package enum Origin: CaseIterable, Sendable {
        case sameHandle, otherHandle, otherProcess
    }

    /// Whom the write concerns. Of the key there is first what ``present`` says.
    package enum Bystander: CaseIterable, Sendable {
        /// A load that runs.
        case load, loadOfExpired, unchangedLoad, emptyLoad, emptyLoadOfExpired, failingLoad
        /// A caller that comes after the write, while the load runs.
        case lateCaller, lateCallerOfExpired, lateRevalidation
        /// Another who waited before.
        case earlyCaller
        /// A load in the background.
        case revalidation, unchangedRevalidation, refreshAhead, unchangedRefreshAhead
        /// An expired value that a failure may bring back: of a load that begins after the write,
        /// and of one that runs.
        case staleIfError, staleIfErrorOfLoad, staleIfSlow, staleIfTimedOut, staleIfLate
        /// A remembered answer.
        case absence, failure
        /// A value in memory.
        case memory
        case observer, observerOfAll
    }

    /// What is under the key when the bystander begins. Ages are 100 seconds.
    enum Present { case absent, expired, valid, absence, failure }

    /// What a write does to the key.
    enum Effect {
        case sets, setsExpired, removes
        /// The cache is one of another version: this handle finds nothing and stores nothing.
        case replaces
        /// The row is gone, and what is loaded may take its place.
        case evicts
        case nothing
    }

    /// What becomes of the bystander.
    package struct Outcome: Equatable, Sendable {
        package var answers: [LoadingCell.Result.Answer] = []
        /// The valid value under the key at the end.
        package var stored: String?
        /// How often the loader was called.
        package var calls = 0
    }

    package var write: Write
    package var origin: Origin
    package var bystander: Bystander
    /// Whether the store records in its file that there is no value.
    package var recordsAbsence: Bool

    package var description: String { "\(write), \(origin), \(bystander)" }

    package static let (key, prefix, group) = ("user:42:name", "user:42:", "user:42")

    /// The cells of one write, which may run one after the other on one store.
    package struct Row: Sendable, CustomStringConvertible {
        package var cells: [HeardCell]
        package var description: String { cells.first.map { "\($0.write), \($0.origin)" } ?? "" }
    }

    /// The rows of a kind of store.
    package static func rows(
        of writes: [Write],
        by bystanders: [Bystander] = Bystander.allCases,
        from origins: [Origin] = Origin.allCases,
        recordsAbsence: Bool = false
    ) -> [Row] {
        writes.flatMap { write in
            origins.map { origin in
                Row(
                    cells: bystanders.map {
                        HeardCell(
                            write: write,
                            origin: origin,
                            bystander: $0,
                            recordsAbsence: recordsAbsence
                        )
                    }
                    .filter(\.isPossible)
                )
            }
        }.filter { !$0.cells.isEmpty }
    }

    private var isPossible: Bool {
        switch write {
        case .loadElsewhere, .expire, .drop: origin == .otherProcess
        // What cannot be decoded is no value, and a load that returns none removes it.
        case .removeUndecodable:
            [.load, .failingLoad, .lateCaller, .earlyCaller, .failure].contains(bystander)
        default: true
        }
    }

    // MARK: The rules

    var present: Present {
        switch bystander {
        case .load, .emptyLoad, .failingLoad, .lateCaller, .earlyCaller: .absent
        case .loadOfExpired, .unchangedLoad, .emptyLoadOfExpired, .lateCallerOfExpired,
            .lateRevalidation, .revalidation,
            .unchangedRevalidation, .staleIfError, .staleIfErrorOfLoad, .staleIfSlow,
            .staleIfTimedOut, .staleIfLate:
            .expired
        case .refreshAhead, .unchangedRefreshAhead, .memory, .observer, .observerOfAll: .valid
        case .absence: .absence
        case .failure: .failure
        }
    }

    var effect: Effect {
        if let exception { return exception }
        return switch write {
        case .set, .subscriptSet, .setMany, .setIfAbsent, .update, .transactionSet, .loadElsewhere:
            .sets
        case .remove, .subscriptNil, .removeMany, .updateToNil, .transactionRemove,
            .transactionRemoveAll, .removeAll, .removePrefix,
            .removeEmptyPrefix, .removeGroup, .removeWhere, .removeUndecodable, .clearAll, .drop:
            .removes
        case .setExpired: .setsExpired
        case .otherVersion: .replaces
        case .removeUnused, .expire: .evicts
        }
    }

    /// What is not promised, with the sentence that says so.
    private var exception: Effect? {
        let hasRow =
            present == .expired || present == .valid || present == .absence && recordsAbsence
        return switch write {
        // `recordIfAbsent`: "unless there is a valid one, which then stays". `loadElsewhere` finds
        // it, too.
        case .setIfAbsent, .loadElsewhere: present == .valid ? .nothing : nil
        // `update`: "`nil` deletes the one it got", and if it got none, nothing is written.
        case .updateToNil: present == .valid ? nil : .nothing
        // Decision 75: "`deleteAll(where:)` cannot match what has no row: a load of an object that
        // was never recorded is not declined by it."
        case .removeWhere: hasRow ? nil : .nothing
        // Decision 75: "Evictions decline nothing." `deleteAll(lastUsedBefore:)`: "Loads that run
        // record their objects: these are newer."
        case .removeUnused, .expire: hasRow ? nil : .nothing
        default: nil
        }
    }

    package var expected: Outcome {
        let stored = stored(afterLoading: "loaded")
        switch bystander {
        case .load, .loadOfExpired:
            return Outcome(answers: [.value("loaded", .loaded)], stored: stored, calls: 1)
        case .unchangedLoad:
            return Outcome(
                answers: [.value("old", .loaded)],
                stored: self.stored(afterLoading: "old"),
                calls: 1
            )
        case .emptyLoad, .emptyLoadOfExpired:
            return next(after: .value(nil, .loaded), remembered: .value(nil, .cached))
        case .failingLoad: return next(after: .sourceDown, remembered: .sourceDown)
        case .lateCaller, .lateCallerOfExpired:
            switch effect {
            case .sets:
                return Outcome(
                    answers: [.value("loaded", .loaded), .value("written", .cached)],
                    stored: stored,
                    calls: 1
                )
            case .setsExpired, .removes, .replaces:
                return Outcome(
                    answers: [.value("loaded", .loaded), .value("new", .loaded)],
                    stored: effect == .replaces ? nil : "new",
                    calls: 2
                )
            case .evicts, .nothing:
                return Outcome(
                    answers: [.value("loaded", .loaded), .value("loaded", .loaded)],
                    stored: stored,
                    calls: 1
                )
            }
        case .lateRevalidation:
            let late: LoadingCell.Result.Answer =
                switch effect {
                case .sets: .value("written", .cached)
                case .setsExpired: .value("written", .staleWhileRevalidate)
                case .removes, .replaces: .value("new", .loaded)
                case .evicts: .value("loaded", .loaded)
                case .nothing: .value("old", .staleWhileRevalidate)
                }
            let isOvertaken = [.setsExpired, .removes, .replaces].contains(effect)
            return Outcome(
                answers: [.value("old", .staleWhileRevalidate), late],
                stored: isOvertaken && effect != .replaces ? "new" : stored,
                calls: isOvertaken ? 2 : 1
            )
        case .earlyCaller:
            return Outcome(
                answers: [.value("loaded", .loaded), .value("loaded", .loaded)],
                stored: stored,
                calls: 1
            )
        case .revalidation:
            return Outcome(
                answers: [.value("old", .staleWhileRevalidate)],
                stored: stored,
                calls: 1
            )
        case .unchangedRevalidation:
            return Outcome(
                answers: [.value("old", .staleWhileRevalidate)],
                stored: self.stored(afterLoading: "old"),
                calls: 1
            )
        case .refreshAhead:
            return Outcome(answers: [.value("old", .cached)], stored: stored, calls: 1)
        case .unchangedRefreshAhead:
            return Outcome(
                answers: [.value("old", .cached)],
                stored: self.stored(afterLoading: "old"),
                calls: 1
            )
        case .staleIfError:
            return Outcome(
                answers: [stale(.sourceDown)],
                stored: self.stored(afterLoading: nil),
                calls: effect == .sets ? 0 : 1
            )
        case .staleIfErrorOfLoad:
            return Outcome(
                answers: [stale(.sourceDown)],
                stored: self.stored(afterLoading: nil),
                calls: 1
            )
        case .staleIfSlow:
            return Outcome(
                answers: [stale(.value("loaded", .loaded), as: .staleIfSlow)],
                stored: stored,
                calls: 1
            )
        case .staleIfTimedOut, .staleIfLate:
            return Outcome(
                answers: [stale(.timedOut)],
                stored: self.stored(afterLoading: nil),
                calls: 1
            )
        case .absence: return next(remembered: .value(nil, .cached))
        case .failure: return next(remembered: .sourceDown)
        case .memory: return Outcome(stored: remaining)
        case .observer, .observerOfAll:
            let last = effect == .nothing ? "end" : remaining
            return Outcome(answers: [.value("old", .cached), .value(last, .cached)], stored: last)
        }
    }

    /// The value that is there after a load that returns this one.
    private func stored(afterLoading value: String?) -> String? {
        switch effect {
        case .sets: "written"
        case .setsExpired, .removes, .replaces: nil
        case .evicts, .nothing: value
        }
    }

    /// What is left of a valid value.
    private var remaining: String? {
        switch effect {
        case .sets: "written"
        case .setsExpired, .removes, .replaces, .evicts: nil
        case .nothing: "old"
        }
    }

    /// The answer to a caller that would take an old value, which gets `other` if there is none.
    private func stale(
        _ other: LoadingCell.Result.Answer,
        as source: LoadSource = .staleIfError
    ) -> LoadingCell.Result.Answer {
        switch effect {
        case .sets: .value("written", .cached)
        case .setsExpired: .value("written", source)
        case .removes, .replaces, .evicts: other
        case .nothing: .value("old", source)
        }
    }

    /// The next call, whose loader returns "new", after a load that returned nothing to store, or
    /// after none.
    private func next(
        after first: LoadingCell.Result.Answer? = nil,
        remembered: LoadingCell.Result.Answer
    ) -> Outcome {
        var outcome = Outcome(answers: first.map { [$0] } ?? [], calls: first == nil ? 0 : 1)
        switch effect {
        case .sets:
            (outcome.answers, outcome.stored) = (
                outcome.answers + [.value("written", .cached)], "written"
            )
        // Of a row that says that there is no value, nothing is left.
        case .evicts where first == nil, .setsExpired, .removes, .replaces:
            outcome.answers.append(.value("new", .loaded))
            (outcome.stored, outcome.calls) = (effect == .replaces ? nil : "new", outcome.calls + 1)
        case .evicts, .nothing: outcome.answers.append(remembered)
        }
        return outcome
    }
}
