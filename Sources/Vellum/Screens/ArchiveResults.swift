public import Foundation
public import Observation
public import VellumCore
internal import VellumEngine

/// The objects that satisfy a predicate, for a screen: `Observable`, on the main actor, always the
/// present answer.
///
/// ```swift
/// @State private var invoices = ArchiveResults(
///     store, where: #Predicate { !$0.isPaid },
///     sortedBy: [SortDescriptor(\.date)], limit: 50)
/// var body: some View {
///     List(invoices.value, id: \.primaryKey) { Text($0.title) }
/// }
/// ```
///
/// It observes from its creation until ``stop()``, or until it is released. Reading and decoding
/// run on other threads. After an error it keeps its value, and asks again at the next change. Once
/// the archive is closed, or its file has vanished, make another one.
///
/// ``ask(where:sortedBy:limit:)`` changes what it asks, for example for a search field, and
/// ``limit`` how many objects it has. ``record(_:)`` and ``delete(allKeys:)`` write, and show it
/// before they return.
@MainActor @Observable
public final class ArchiveResults<Archive: Archivable & Sendable> {
    /// The objects, in order; empty before the first answer.
    public private(set) var value: [Archive] = []
    /// Whether there was an answer.
    public private(set) var isLoaded = false
    /// Whether what was asked last has no answer yet, so that ``value`` is that of an earlier
    /// question, or none.
    public private(set) var isAsking = true
    /// Why the last question had no answer; `nil` if it had one.
    public private(set) var error: VellumError?
    @ObservationIgnored private let store: ArchiveStore<Archive>
    @ObservationIgnored private var question: ScreenQuestion<Question, [Archive]>?
    /// The question of which ``value`` is the answer.
    @ObservationIgnored private var answered: Question?
    /// The object up to which ``value`` has all objects, and beyond which it has none, because
    /// there are as many as the limit; `nil` if it has all.
    @ObservationIgnored private var end: Archive?
    /// Own writes that answers may not have yet, in their order.
    @ObservationIgnored private var writes: [OwnWrite] = []

    /// What is asked. Answers to questions with one `subject` differ by their limit alone.
    private struct Question: Sendable {
        var predicate: Predicate<Archive>?
        var order: [SortDescriptor<Archive>]
        var limit: Int?
        var subject = 0

        func query(after count: Int = 0) throws(VellumError) -> QueryDescription<Archive> {
            try QueryDescription(
                where: predicate,
                sortedBy: order,
                limit: limit.map { count == 0 ? $0 : max(0, $0 - count) },
                offset: count
            )
        }
    }

    /// A write through the model.
    private struct OwnWrite {
        var key: String
        /// `nil` if it was deleted.
        var object: Archive?
        /// Answers with a lower number may not have it.
        var number: UInt64
    }

    /// The last answer, and what it answers.
    private struct Shown {
        var question: Question
        var answer: ObservedAnswer<[Archive]>
    }

    /// Begins to observe.
    ///
    /// - Parameters:
    ///   - store: The store of the objects.
    ///   - predicate: The condition; `nil` for all objects.
    ///   - order: Most significant first.
    ///   - limit: The maximum number of objects; `nil` for all.
    public init(
        _ store: ArchiveStore<Archive>,
        where predicate: Predicate<Archive>? = nil,
        sortedBy order: [SortDescriptor<Archive>] = [],
        limit: Int? = nil
    ) {
        self.store = store
        let shown = Guarded<Shown?>(nil)
        question = ScreenQuestion(
            Question(predicate: predicate, order: order, limit: limit),
            of: store,
            ask: { (store, question, isCancelled) throws(VellumError) in
                let answer: ObservedAnswer<[Archive]>
                if let more = try Self.more(than: shown.value, question, store, isCancelled) {
                    answer = more
                } else {
                    answer = try store.observed(
                        question.query(),
                        undecodable: .fail,
                        isCancelled: isCancelled
                    )
                }
                shown.change { $0 = Shown(question: question, answer: answer) }
                return answer
            },
            take: { [weak self] answer, number in
                guard let self else { return false }
                switch answer {
                case .success(let objects):
                    let asked = self.question?.question
                    answered = asked
                    end = objects.count == asked?.limit ? objects.last : nil
                    writes.removeAll { $0.number <= number }
                    value = applying(writes, to: objects)
                    isLoaded = true
                    error = nil
                case .failure(let failure): error = failure
                }
                isAsking = false
                return true
            }
        )
    }

    /// Returns the answer to a question that only has a higher limit than the last: what is shown
    /// is not read again.
    ///
    /// - Returns: `nil` if anything has changed since.
    private nonisolated static func more(
        than shown: Shown?,
        _ question: Question,
        _ store: Store<Archive>,
        _ isCancelled: @escaping () -> Bool
    ) throws(VellumError) -> ObservedAnswer<[Archive]>? {
        guard let shown, let old = shown.question.limit, shown.question.subject == question.subject,
            old < question.limit ?? .max
        else {
            return nil
        }
        let count = shown.answer.answer.count
        return try store.observed(
            question.query(after: count),
            after: shown.answer,
            isCancelled: isCancelled
        )
    }

    // MARK: Asking

    /// The maximum number of objects; `nil` for all.
    ///
    /// Raising it reads the objects that are not shown yet, unless something has changed meanwhile.
    /// ``value`` stays until the answer.
    ///
    /// ```swift
    /// ForEach(invoices.value, id: \.primaryKey) { invoice in
    ///     Row(invoice).onAppear { invoices.showMore(after: invoice) }
    /// }
    /// ```
    ///
    /// - Complexity: O(log n + old limit + new objects) with an index that has the order and
    ///   answers the predicate; otherwise that of the query.
    public var limit: Int? {
        get {
            access(keyPath: \.limit)
            return question?.question.limit
        }
        set {
            guard newValue != question?.question.limit else { return }
            withMutation(keyPath: \.limit) {
                isAsking = question?.isAsked ?? false
                question?.change { $0.limit = newValue }
            }
        }
    }

    /// Raises ``limit`` if the object is the last one that is shown: for a list that goes on while
    /// it is scrolled.
    ///
    /// - Parameters:
    ///   - object: The object that appears.
    ///   - count: By how much. Less than one has no effect.
    public func showMore(after object: Archive, by count: Int = 50) {
        guard let limit, count > 0, value.count >= limit,
            value.last?.primaryKey == object.primaryKey
        else { return }
        let (more, overflow) = limit.addingReportingOverflow(count)
        self.limit = overflow ? .max : more
    }

    /// Asks something else. ``value`` stays until the answer.
    ///
    /// ```swift
    /// .searchable(text: $text)
    /// .onChange(of: text) { _, text in
    ///     cities.ask(
    ///         where: #Predicate { $0.name.starts(with: text) }, limit: 50)
    /// }
    /// ```
    ///
    /// Does not block. If it is called again before the answer, only the last question has one.
    ///
    /// - Parameters:
    ///   - predicate: The condition; `nil` for all objects.
    ///   - order: Most significant first.
    ///   - limit: The maximum number of objects; `nil` for all.
    public func ask(
        where predicate: Predicate<Archive>? = nil,
        sortedBy order: [SortDescriptor<Archive>] = [],
        limit: Int? = nil
    ) {
        withMutation(keyPath: \.limit) {
            isAsking = question?.isAsked ?? false
            question?.change {
                $0 = Question(
                    predicate: predicate,
                    order: order,
                    limit: limit,
                    subject: $0.subject + 1
                )
            }
        }
    }

    /// Stops observing. The value stays, but for own writes.
    public func stop() {
        question?.stop()
        isAsking = false
    }

    // MARK: Writing

    /// Records an object, and shows it, if it satisfies the predicate, before this returns
    /// (decision 78).
    ///
    /// It stands where the order puts it, after objects that are equal to it. With a limit, one
    /// that comes after the last object of a full page waits for the next answer of the archive,
    /// which replaces what is shown.
    ///
    /// Blocks for the disk, as ``ArchiveStore/record(_:expiration:)``, and has the same durability
    /// and effect on the eviction order.
    ///
    /// - Complexity: That of the store, and O(n) for n objects that are shown.
    /// - Throws: ``VellumError`` as ``ArchiveStore/record(_:expiration:)`` does. The value stays
    ///   then.
    public func record(_ object: Archive) throws {
        try store.record(object)
        show([object.primaryKey], object)
    }

    /// Deletes objects in one transaction, and shows them no longer when this returns.
    ///
    /// ```swift
    /// let shown = invoices.value
    /// ForEach(shown, id: \.primaryKey) { Text($0.title) }
    ///     .onDelete { rows in
    ///         delete(rows.map { shown[$0].primaryKey })
    ///     }
    /// ```
    ///
    /// Blocks for the disk, as ``ArchiveStore/delete(allKeys:)``, and has the same durability.
    ///
    /// - Returns: How many there were.
    /// - Complexity: That of the store, and O(n) for each key and n objects that are shown.
    /// - Throws: ``VellumError`` as ``ArchiveStore/delete(allKeys:)`` does. The value stays then.
    @discardableResult
    public func delete(allKeys keys: some Sequence<String>) throws -> Int {
        let keys = Array(keys)
        let count = try store.delete(allKeys: keys)
        show(keys, nil)
        return count
    }

    /// Shows what is there after a write, as far as it is known without a query.
    private func show(_ keys: [String], _ object: Archive?) {
        guard let number = question?.didWrite() else { return }
        let new = keys.map { OwnWrite(key: $0, object: object, number: number) }
        if question?.isAsked ?? false { writes += new }
        value = applying(new, to: value)
    }

    private func applying(_ writes: [OwnWrite], to objects: [Archive]) -> [Archive] {
        // Of a page that has no answer yet nothing is known.
        guard !writes.isEmpty, let asked = answered ?? question?.question,
            answered != nil || asked.limit == nil
        else { return objects }
        // Not `evaluate`, with which Foundation ends the process where a query throws.
        let condition = asked.predicate.map { Condition<Test<Archive>>($0) }
        let orderings = asked.order.map(Ordering.init)
        var shown = objects
        for write in writes {
            let position = shown.firstIndex { $0.primaryKey == write.key }
            if let position { shown.remove(at: position) }
            do {
                guard let object = write.object, try condition?.matches(object) ?? true else {
                    continue
                }
                let next =
                    orderings.isEmpty
                    ? position
                    : try shown.firstIndex { try orderings.comesFirst(object, before: $0) }
                if next == nil, let end {
                    // Only the last object itself is known to be the last still.
                    let isEnd = position != nil && write.key == end.primaryKey
                    let isShown =
                        try isEnd
                        ? !orderings.comesFirst(end, before: object)
                        : orderings.comesFirst(object, before: end)
                    guard isShown else { continue }
                }
                shown.insert(object, at: next ?? shown.count)
                guard let limit = asked.limit, shown.count > max(0, limit) else { continue }
                shown.removeLast()
                end = shown.last
            } catch {}  // The next answer has the error.
        }
        return shown
    }
}

extension Array {
    /// Whether an object comes before another one, and is not equal to it.
    fileprivate func comesFirst<Value>(_ object: Value, before other: Value) throws -> Bool
    where Element == Ordering<Value> {
        for ordering in self {
            let order = try ordering.compare(object, other)
            if order != 0 { return order < 0 }
        }
        return false
    }
}
