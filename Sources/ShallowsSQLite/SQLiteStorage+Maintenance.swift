public import Shallows
internal import VellumEngine
public import VellumCore

// Calls on the storage as a whole. Each runs after the calls that were made before it; flushing,
// closing, suspending and resuming also in a task that was cancelled.

extension SQLiteStorage {
    /// Opens the file, to find out whether that works. Every other call opens it, too.
    ///
    /// ```swift
    /// do {
    ///     try await cities.open()
    /// } catch {
    ///     log("No cities are stored: \(error)")
    /// }
    /// ```
    ///
    /// - Complexity: O(1), whatever the file holds.
    /// - Throws: ``ShallowsError`` if the file cannot be created or opened or belongs to another
    ///   program, a limit is zero or below, or the file is open with larger limits, another
    ///   durability or another type.
    public func open() async throws(ShallowsError) {
        try await whole { _ throws(VellumError) in }
    }

    /// Returns the keys of all valid values, in normal form (NFC), most recently used first; at
    /// most `limit` of them. Does not affect the eviction order.
    ///
    /// - Complexity: O(limit × log n).
    /// - Throws: ``ShallowsError`` if the file cannot be opened or read.
    public func keys(limit: Int = .max) async throws(ShallowsError) -> [Filename] {
        try await whole { store throws(VellumError) in
            try store.keys(limit: limit).map { Filename(rawValue: $0.normalized) }
        }
    }

    /// Runs `work` with the synchronous calls of this storage, on a thread that may block.
    ///
    /// ```swift
    /// let names = try await cities.perform { cities in
    ///     try ids.map { try cities.retrieve(forKey: $0).name }
    /// }
    /// ```
    ///
    /// `work` runs to its end even if the caller's task is cancelled, with the task-local values of
    /// the caller. Its calls run after those that were made before.
    ///
    /// - Throws: The error of `work`.
    public func perform<Result: Sendable>(
        _ work: @escaping @Sendable (SyncStorage<Filename, Value>) throws -> Result
    ) async throws -> Result {
        let storage = makeSyncStorage()
        return try await layer.visits.run { try work(storage) }
    }

    /// Returns what was counted since the file was opened, and the contents of the file and of
    /// memory.
    ///
    /// - Complexity: O(1).
    /// - Throws: ``ShallowsError`` if the file cannot be opened or read.
    public func statistics() async throws(ShallowsError) -> StoreStatistics {
        try await whole { store throws(VellumError) in try store.statistics() }
    }

    /// Makes the results of all earlier calls survive power loss, including the eviction order.
    ///
    /// A value that was set survives the end of the process without it, under every ``Durability``
    /// but `.relaxed`.
    ///
    /// - Throws: ``ShallowsError`` if the disk cannot be written.
    public func flush() async throws(ShallowsError) {
        try await flush(.completing).outcome().get()
    }

    /// Blocking variant of ``flush()``.
    ///
    /// - Throws: ``ShallowsError`` if the disk cannot be written.
    public func flushAndWait() throws(ShallowsError) {
        try flush(.waiting).wait().get()
    }

    /// Flushes and closes this storage, after the calls that were made before. Later calls fail
    /// with ``VellumError/Code/closed``. Other storages on the file stay open; the last one closes
    /// the file. A storage that is made afterwards opens the file again.
    ///
    /// It is optional: a storage that is released closes after its calls have ended. Closing again
    /// has no effect.
    ///
    /// - Throws: ``ShallowsError`` if the disk cannot be written. Close again in that case.
    public func close() async throws(ShallowsError) {
        try await layer.close(.completing).outcome().get()
    }

    /// Blocking variant of ``close()``.
    ///
    /// - Throws: ``ShallowsError`` if the disk cannot be written. Close again in that case.
    public func closeAndWait() throws(ShallowsError) {
        try layer.close(.waiting).wait().get()
    }

    /// Releases every lock and file until ``resume()``, after the calls that were made before: for
    /// an app that is about to be suspended, because the system kills apps that hold a lock then.
    /// Calls that need the disk meanwhile fail with ``VellumError/Code/suspended``.
    ///
    /// - Throws: ``ShallowsError`` if the disk cannot be written.
    public func suspend() async throws(ShallowsError) {
        try await suspend(.completing).outcome().get()
    }

    /// Blocking variant of ``suspend()``.
    ///
    /// - Throws: ``ShallowsError`` if the disk cannot be written.
    public func suspendAndWait() throws(ShallowsError) {
        try suspend(.waiting).wait().get()
    }

    /// Reopens the file after ``suspend()``.
    ///
    /// - Throws: ``ShallowsError`` if the file cannot be opened; ``VellumError/Code/vanished`` if
    ///   it no longer exists.
    public func resume() async throws(ShallowsError) {
        try await resume(.completing).outcome().get()
    }

    /// Blocking variant of ``resume()``.
    ///
    /// - Throws: ``ShallowsError`` if the file cannot be opened; ``VellumError/Code/vanished`` if
    ///   it no longer exists.
    public func resumeAndWait() throws(ShallowsError) {
        try resume(.waiting).wait().get()
    }

    private func flush(_ call: Call) -> Reply<Void> {
        layer.run(call) { store throws(VellumError) in try store.flush() }
    }
    private func suspend(_ call: Call) -> Reply<Void> {
        layer.onOpenFile(call) { file throws(VellumError) in try file.suspend() }
    }
    private func resume(_ call: Call) -> Reply<Void> {
        layer.onOpenFile(call) { file throws(VellumError) in try file.resume() }
    }

    private func whole<Result: Sendable>(
        _ body: @escaping @Sendable (Store<Value>) throws(VellumError) -> Result
    ) async throws(ShallowsError) -> Result {
        try await underlyingStorage.cancelling { layer.run($0, body) }.get()
    }
}
