internal import Synchronization
internal import VellumCore

/// Notifies the observers of one open file of changes, by this process and by others: it treats
/// both alike (decision 65).
///
/// While there is an observer, a thread waits at the change page; without one, nothing runs. A
/// writer that finds nobody waiting pays for one load. After each change the thread pauses for 50
/// ms, so that a burst asks each observer at most twenty times a second. What is committed is told
/// also while another writer stands still in a commit, or was killed in it.
final class ChangeWatcher: Sendable {
    private struct State {
        var observers: [ObjectIdentifier: ChangeObserver] = [:]
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

        func concerns(_ observer: ChangeObserver) -> Bool {
            isForEveryone || (keys[observer.archive]?.contain(observer.key) ?? false)
        }
    }

    private let location: FileLocation
    /// After how many milliseconds those whom a running commit concerns ask in any case: its
    /// process may have died, and another hold the lock.
    private let longestCommit: Double
    private let state = Locked(State())
    private let isObserved = Atomic(false)

    /// How long the thread pauses after a change, and while a commit runs at most, in milliseconds.
    private static let pause = 50.0
    /// After how long it looks at the page in any case: another process may have replaced the file.
    private static let longestWait: Int64 = 300_000

    init(_ location: FileLocation, longestCommit: Double = 500) {
        self.location = location
        self.longestCommit = longestCommit
    }

    private var page: ChangePage { location.changesFile.page }

    // MARK: Observers

    /// - Parameter key: The hash of the key to observe; `nil` for every key.
    func observe(_ archive: Int64, key: UInt64?, isPrompt: Bool = false) -> ChangeObserver {
        let observer = ChangeObserver(of: archive, key: key, isPrompt: isPrompt, self)
        let id = ObjectIdentifier(observer)
        // Before the first question, so that no change is missed.
        let finished = page.now.finished
        let (thread, isEnded) = state.withLock { state -> (Int?, Bool) in
            guard !state.isEnded else { return (nil, true) }
            state.observers[id] = observer
            isObserved.store(true, ordering: .relaxed)
            guard state.observers.count == 1 else { return (nil, false) }
            state.thread += 1
            return (state.thread, false)
        }
        if isEnded { observer.end() }
        if let thread { start(thread, after: finished) }
        return observer
    }

    /// Whether there is an observer. One relaxed load.
    var isObserving: Bool { isObserved.load(ordering: .relaxed) }

    var observers: [ChangeObserver] { state.withLock { Array($0.observers.values) } }

    var observerCount: Int { observers.count }

    func remove(_ observer: ChangeObserver) {
        let isLast = state.withLock { state in
            guard state.observers.removeValue(forKey: ObjectIdentifier(observer)) != nil,
                state.observers.isEmpty
            else { return false }
            isObserved.store(false, ordering: .relaxed)
            state.thread += 1
            return true
        }
        if isLast { page.wakeWaiters() }
    }

    /// Tells the observers of what is not on the page: relaxed writes, what memory has lost, ages
    /// that have ended, and, because they may have asked before memory was updated, writes of
    /// archives of which memory may have a part alone. The page has the rest, at which the thread
    /// waits.
    func tell(_ commit: Commit) {
        guard isObserving else { return }
        let changes = commit.changes.filter {
            $0.told < $0.keys.count
                && (commit.source != .transaction || commit.due.isOpen
                    || ($0.known?.owner?.mayHaveMemoryOnly ?? false))
        }
        guard !changes.isEmpty else { return }
        addUntold { untold in
            for change in changes {
                untold.keys[change.archive, default: ChangedKeys()].add(
                    change.keys,
                    after: change.told,
                    most: ChangePage.mostKeys
                )
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
        page.wakeWaiters()
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
        if let thread { start(thread, after: page.now.finished) }
    }

    /// The file was closed: observers get no further answer.
    func end() {
        let observers = state.withLock { state in
            state.isEnded = true
            state.thread += 1
            defer {
                state.observers = [:]
                state.untold = Untold()
            }
            return Array(state.observers.values)
        }
        isObserved.store(false, ordering: .relaxed)
        for observer in observers { observer.end() }
        page.wakeWaiters()
    }

    // MARK: The thread

    /// - Parameter number: The observers' first questions find the changes up to this one.
    private func start(_ thread: Int, after number: UInt64) {
        Lane().start { [weak self, location] in
            let page = location.changesFile.page
            var told = number
            var pause = 0.5
            var waited = 0.0
            var wasRetired = false
            while let self, self.isCurrent(thread) {
                let moment = page.beginWaiting()
                // Asked after the moment, so that all of its changes are over if no commit runs.
                let isRunning =
                    moment.announced != moment.finished && moment.announced != told
                    && location.mayBeCommitting
                let over = isRunning ? moment.finished : moment.announced
                if moment.isRetired, !wasRetired { self.askAgain() }
                wasRetired = moment.isRetired
                var hasTold = self.tellUntold()
                let isLong = waited >= self.longestCommit
                if over != told || isLong {
                    self.tellChanges(after: told, through: isLong ? moment.announced : over)
                    told = over
                    pause = 0.5
                    waited = 0
                    hasTold = true
                }
                guard hasTold || isRunning else {
                    // A file that is released meanwhile wakes the thread.
                    page.wait(milliseconds: Self.longestWait)
                    // Whoever deleted it wakes nobody. The next question finds that the file has
                    // vanished.
                    if location.changesFile.isReplaced { self.askAgain() }
                    continue
                }
                // Who finishes a commit wakes nobody. Ever longer, because a process may be stopped
                // in it.
                let milliseconds = hasTold ? Self.pause : pause
                BusyRetry.milliseconds(milliseconds)
                pause = min(pause * 1.2, Self.pause)
                waited = isRunning ? waited + milliseconds : 0
            }
        }
    }

    /// - Returns: Whether there was anything to tell.
    private func tellUntold() -> Bool {
        let (observers, isEmpty) = state.withLock { state in
            let untold = state.untold
            state.untold = Untold()
            return (
                untold.isEmpty ? [] : state.observers.values.filter(untold.concerns), untold.isEmpty
            )
        }
        for observer in observers { observer.signal() }
        return !isEmpty
    }

    private func isCurrent(_ thread: Int) -> Bool { state.withLock { $0.thread == thread } }

    /// Tells the observers whom changes of any process concern.
    private func tellChanges(after old: UInt64, through new: UInt64) {
        for (archive, observers) in Dictionary(grouping: observers, by: \.archive) {
            let keys = page.changes(of: archive, numberedAfter: old, through: new)
            let commit = Commit(
                source: .page,
                changes: [Commit.Change(archive: archive, keys: keys)]
            )
            for observer in observers where commit.concerns(observer) { observer.signal() }
        }
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
