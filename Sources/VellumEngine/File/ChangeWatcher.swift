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
        /// What the observers have yet to be told that is not on the page.
        var untold = Untold()
        /// The number of the thread that watches now. A thread with another number ends.
        var thread = 0
        var isEnded = false
    }

    /// Changes of this process that are not on the page.
    private struct Untold {
        var keys: [Int64: ChangedKeys] = [:]
        /// Whether the state of the file has changed, so that every observer asks again.
        var isForEveryone = false

        var isEmpty: Bool { keys.isEmpty && !isForEveryone }

        func concerns(_ observer: ChangeObserver) -> Bool { isForEveryone || (keys[observer.archive]?.contain(observer.key) ?? false) }
    }

    /// Changes of an archive on the page.
    private struct Span: Hashable {
        var archive: Int64
        var old: UInt64
        var new: UInt64
    }

    private let file: ChangesFile
    private let state = Locked(State())
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
        if let thread { start(thread) }
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

    /// Tells the observers of what is not on the page: relaxed writes, what memory has lost, ages that have ended, and, because they may have asked
    /// before memory was updated, writes of archives of which memory may have a part alone. The page has the rest, at which the thread waits.
    func tell(_ commit: Commit) {
        guard isObserving else { return }
        let changes = commit.changes.filter {
            $0.told < $0.keys.count
                && (commit.source != .transaction || commit.due.isOpen || ($0.known?.owner?.mayHaveMemoryOnly ?? false))
        }
        guard !changes.isEmpty else { return }
        addUntold { untold in
            for change in changes {
                untold.keys[change.archive, default: ChangedKeys()].add(change.keys, after: change.told, most: ChangePage.mostKeys)
            }
        }
    }

    /// The state of the file has changed: every observer asks again.
    func askAgain() {
        guard isObserving else { return }
        addUntold { $0.isForEveryone = true }
    }

    private func addUntold(_ add: (inout Untold) -> Void) {
        state.withLock { add(&$0.untold) }
        file.page.wakeWaiters()
    }

    /// The page is in another file now, at which the thread does not wait.
    func pageWasReplaced() {
        let thread = state.withLock { state -> Int? in
            guard !state.observers.isEmpty else { return nil }
            // Whatever was announced meanwhile.
            state.untold.isForEveryone = true
            state.thread += 1
            return state.thread
        }
        if let thread { start(thread) }
    }

    /// The file was closed: observers get no further answer.
    func end() {
        let observers = state.withLock { state in
            state.isEnded = true
            state.thread += 1
            defer { (state.observers, state.seen, state.untold) = ([:], [:], Untold()) }
            return Array(state.observers.values)
        }
        isObserved.store(false, ordering: .relaxed)
        for observer in observers { observer.end() }
        file.page.wakeWaiters()
    }

    // MARK: The thread

    private func start(_ thread: Int) {
        BlockingPool.startOnNewThread { [weak self, file] in
            var last: ChangePage.Moment?
            while let self, self.isCurrent(thread) {
                let moment = file.page.beginWaiting()
                let hasTold = self.tellUntold()
                if last == moment, !hasTold {
                    // A file that is released meanwhile wakes the thread.
                    file.page.wait(milliseconds: Self.longestWait)
                    // Whoever deleted it wakes nobody. The next question finds that the file has vanished.
                    if file.isReplaced { self.askAgain() }
                    continue
                }
                if last != moment {
                    let generations = self.generations()
                    // Looked at after them, so that it covers all of them. What is announced later differs from the moment: there is another turn.
                    self.waitForCommit(of: file.page.lastAnnounced, thread)
                    self.tellAnnounced(generations)
                }
                if last != nil || hasTold { BusyRetry.milliseconds(Self.pause) }
                last = moment
            }
        }
    }

    /// - Returns: Whether there was anything to tell.
    private func tellUntold() -> Bool {
        let (observers, isEmpty) = state.withLock { state in
            let untold = state.untold
            state.untold = Untold()
            return (untold.isEmpty ? [] : state.observers.values.filter(untold.concerns), untold.isEmpty)
        }
        for observer in observers { observer.signal() }
        return !isEmpty
    }

    /// A change that is announced is not committed yet. A process that died in between never ends it: it is waited for a second, because it may live in
    /// another container.
    private func waitForCommit(of number: UInt64, _ thread: Int) {
        // Ever longer, because a process may be stopped in a commit.
        var (pause, left, sinceTold) = (0.5, 1000.0, 0.0)
        while left > 0, isCurrent(thread) {
            switch file.page.progress(of: number) {
            case .finished: return
            case .running: break
            case .unknown: left -= pause
            }
            BusyRetry.milliseconds(pause)
            sinceTold += pause
            pause = min(pause * 1.2, 50)
            // What this process can see already does not wait for the commit of another.
            if sinceTold >= Self.pause {
                _ = tellUntold()
                sinceTold = 0
            }
        }
    }

    private func isCurrent(_ thread: Int) -> Bool { state.withLock { $0.thread == thread } }

    /// The last announced change of each archive that is observed.
    private func generations() -> [Int64: UInt64] {
        let archives = state.withLock { Set($0.observers.values.map(\.archive)) }
        return Dictionary(uniqueKeysWithValues: archives.map { ($0, file.page.generation(of: $0).value) })
    }

    /// - Parameter generations: The last changes that are committed. Of those that were announced later, the thread hears in its next turn.
    private func tellAnnounced(_ generations: [Int64: UInt64]) {
        let concerned = state.withLock { state -> [ChangeObserver] in
            var behind: [Span: [ChangeObserver]] = [:]
            for (id, observer) in state.observers {
                // An observer that was added since asks its first question.
                guard let old = state.seen[id], let new = generations[observer.archive], new != old else { continue }
                state.seen[id] = new
                behind[Span(archive: observer.archive, old: old, new: new), default: []].append(observer)
            }
            return behind.flatMap { span, observers in
                // Of every author: this process's own changes, too.
                let keys = file.page.changes(of: span.archive, after: span.old, through: span.new, notBy: 0)
                let commit = Commit(source: .page, changes: [Commit.Change(archive: span.archive, keys: keys)])
                return observers.filter(commit.concerns)
            }
        }
        for observer in concerned { observer.signal() }
    }
}

extension Commit {
    func concerns(_ observer: ChangeObserver) -> Bool {
        changes.contains { $0.archive == observer.archive && $0.keys.contain(observer.key) }
    }
}

extension ChangedKeys {
    /// - Parameter key: The hash of a key; `nil` for any.
    fileprivate func contain(_ key: UInt64?) -> Bool { key.map(mayContain) ?? !isEmpty }
}
