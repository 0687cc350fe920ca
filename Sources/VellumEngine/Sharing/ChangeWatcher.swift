internal import Synchronization
internal import VellumCore

/// Notifies the observers of one open file of changes, by this process and by others: it treats both alike (decision 65).
///
/// While there is an observer, a thread waits at the change page; without one, nothing runs. A writer that finds nobody waiting pays for one
/// load. After each change the thread pauses for 50 ms, so that a burst asks each observer at most twenty times a second.
final class ChangeWatcher: Sendable {
    private struct State {
        var observers: [ObjectIdentifier: ChangeObserver] = [:]
        /// Up to which change of its archive each observer was notified.
        var seen: [ObjectIdentifier: UInt64] = [:]
        /// The number of the thread that watches now. A thread with another number ends.
        var thread = 0
        var isEnded = false
    }

    private let file: ChangesFile
    private let state = Locked(State())
    /// Grows when something changes that is not on the page.
    private let pokes = Atomic(0)
    private let isObserved = Atomic(false)

    /// How long the thread pauses after a change, in milliseconds.
    private static let pause = 50.0
    /// After how long it looks at the page in any case: another process may have replaced the file.
    private static let longestWait: Int64 = 300_000

    init(_ file: ChangesFile) { self.file = file }

    // MARK: Observers

    /// - Parameter key: The hash of the key to observe; `nil` for every key.
    func observe(_ archive: Int64, key: UInt64?) -> ChangeObserver {
        let observer = ChangeObserver(of: archive, key: key, self)
        let id = ObjectIdentifier(observer)
        let (thread, isEnded) = state.withLock { state -> (Int?, Bool) in
            guard !state.isEnded else { return (nil, true) }
            state.observers[id] = observer
            // Before the first question, so that no change is missed.
            state.seen[id] = file.page.generation(of: archive).value
            isObserved.store(true, ordering: .relaxed)
            guard state.observers.count == 1 else { return (nil, false) }
            state.thread += 1
            return (state.thread, false)
        }
        if isEnded { observer.end() }
        // Counted before the first question, too.
        if let thread { start(thread, after: pokes.load(ordering: .sequentiallyConsistent)) }
        return observer
    }

    /// Whether there is an observer. One relaxed load.
    var isObserving: Bool { isObserved.load(ordering: .relaxed) }

    var observerCount: Int { state.withLock { $0.observers.count } }

    func remove(_ observer: ChangeObserver) {
        let isLast = state.withLock { state in
            state.seen[ObjectIdentifier(observer)] = nil
            guard state.observers.removeValue(forKey: ObjectIdentifier(observer)) != nil, state.observers.isEmpty else { return false }
            isObserved.store(false, ordering: .relaxed)
            state.thread += 1
            return true
        }
        if isLast { file.page.wakeWaiters() }
    }

    /// Something changed in this process that is not announced: relaxed writes, values that only memory had, the state of the file.
    func poke() {
        guard isObserved.load(ordering: .relaxed) else { return }
        pokes.add(1, ordering: .sequentiallyConsistent)
        file.page.wakeWaiters()
    }

    /// The page is in another file now, at which the thread does not wait.
    func pageWasReplaced() {
        let thread = state.withLock { state -> Int? in
            guard !state.observers.isEmpty else { return nil }
            state.thread += 1
            return state.thread
        }
        // Whatever was announced meanwhile.
        if let thread { start(thread, after: -1) }
    }

    /// The file was closed: observers get no further answer.
    func end() {
        let observers = state.withLock { state in
            state.isEnded = true
            state.thread += 1
            defer { (state.observers, state.seen) = ([:], [:]) }
            return Array(state.observers.values)
        }
        isObserved.store(false, ordering: .relaxed)
        for observer in observers { observer.end() }
        file.page.wakeWaiters()
    }

    // MARK: The thread

    /// - Parameter pokes: How many there were when the first observer was added.
    private func start(_ thread: Int, after pokes: Int) {
        BlockingPool.startOnNewThread { [weak self, file] in
            var last: (ChangePage.Moment, Int)?
            while let self, self.isCurrent(thread) {
                let moment = (file.page.beginWaiting(), self.pokes.load(ordering: .sequentiallyConsistent))
                if let last, last == moment {
                    // A file that is released meanwhile wakes the thread.
                    file.page.wait(milliseconds: Self.longestWait)
                    // Whoever deleted it wakes nobody. The next question finds that the file has vanished.
                    if file.isReplaced { self.poke() }
                    continue
                }
                let generations = self.generations()
                // Looked at after them, so that it covers all of them. What is announced later differs from the moment: there is another turn.
                self.waitForCommit(of: file.page.lastAnnounced, thread)
                self.notify(generations, everyone: (last?.1 ?? pokes) != moment.1)
                if last != nil { BusyRetry.milliseconds(Self.pause) }
                last = moment
            }
        }
    }

    /// A change that is announced is not committed yet. A process that died in between never ends it: it is waited for a second, because it may live in
    /// another container.
    private func waitForCommit(of number: UInt64, _ thread: Int) {
        // Ever longer, because a process may be stopped in a commit.
        var (pause, left) = (0.5, 1000.0)
        while left > 0, isCurrent(thread) {
            switch file.page.progress(of: number) {
            case .finished: return
            case .running: break
            case .unknown: left -= pause
            }
            BusyRetry.milliseconds(pause)
            pause = min(pause * 1.2, 50)
        }
    }

    private func isCurrent(_ thread: Int) -> Bool { state.withLock { $0.thread == thread } }

    /// The last announced change of each archive that is observed.
    private func generations() -> [Int64: UInt64] {
        let archives = state.withLock { Set($0.observers.values.map(\.archive)) }
        return Dictionary(uniqueKeysWithValues: archives.map { ($0, file.page.generation(of: $0).value) })
    }

    /// - Parameter generations: The last changes that are committed. Of those that were announced later, the thread hears in its next turn.
    private func notify(_ generations: [Int64: UInt64], everyone: Bool) {
        let dirty = state.withLock { state -> [ChangeObserver] in
            state.observers.compactMap { id, observer in
                // An observer that was added since asks its first question.
                guard let old = state.seen[id], let new = generations[observer.archive], everyone || new != old else { return nil }
                state.seen[id] = new
                return everyone || isOfInterest(observer, old, new) ? observer : nil
            }
        }
        for observer in dirty { observer.signal() }
    }

    private func isOfInterest(_ observer: ChangeObserver, _ old: UInt64, _ new: UInt64) -> Bool {
        guard old != new else { return false }
        // Of every author: this process's own changes, too.
        switch file.page.changes(of: observer.archive, after: old, through: new, notBy: 0) {
        case .everything: return true
        case .keys(let keys): return observer.key.map(keys.contains) ?? !keys.isEmpty
        }
    }
}
