public import Shallows
public import VellumCore
internal import VellumEngine

// What concerns the storage as a whole. Each is done after what was asked for before it; flushing, closing, suspending and resuming also in a
// task that was cancelled.

extension SQLiteStorage {
    /// Opens the file, for who wants to know at once whether that works. Every other verb does it by itself.
    ///
    /// ```swift
    /// do { try await cities.open() } catch { log("No cities are kept: \(error)") }
    /// ```
    ///
    /// - Complexity: O(1), whatever the file holds.
    /// - Throws: ``Shallows/ShallowsError`` if the file cannot be made or opened or is none of ours, a limit holds nothing, or the file
    ///   is open with larger limits, another durability or for another type.
    public func open() async throws(ShallowsError) {
        try await whole { (_) throws(StoreError) in }
    }

    /// The keys of all valid values, in normal form (NFC), most recently used first; at most `limit` of them. Not a use.
    ///
    /// - Complexity: O(limit × log n).
    public func keys(limit: Int = .max) async throws(ShallowsError) -> [Filename] {
        try await whole { (store) throws(StoreError) in
            try store.keys(limit: limit).map { Filename(rawValue: $0.normalized) }
        }
    }

    /// What happened since the file was opened, and how much it and memory hold.
    ///
    /// - Complexity: O(1).
    public func statistics() async throws(ShallowsError) -> StoreStatistics {
        try await whole { (store) throws(StoreError) in try store.statistics() }
    }

    /// Makes everything that was asked for before it survive power loss, the order of use included.
    ///
    /// What was set and answered survives the end of the process without it, under every ``Tiers/Durability`` but `.relaxed`.
    public func flush() async throws(ShallowsError) {
        try await layer.whole(.completing) { (store) throws(StoreError) in try store.flush() }.outcome().get()
    }

    /// The same for who cannot await it: blocks the thread until it is done.
    public func flushAndWait() throws(ShallowsError) {
        try layer.whole(.waiting) { (store) throws(StoreError) in try store.flush() }.outcomeAtOnce.get()
    }

    /// Does what was asked for before, flushes, and closes this storage: what it is asked afterwards fails with
    /// ``Tiers/StoreError/Code/closed``. Other storages on the file go on; with the last one the file is closed. A storage that is made
    /// afterwards opens the file anew.
    ///
    /// There is no need for it: a storage that is released closes by itself, once it has done what it was asked for. Closing twice is
    /// closing once.
    public func close() async throws(ShallowsError) {
        try await layer.close(.completing).outcome().get()
    }

    /// The same for who cannot await it: blocks the thread until it is done.
    public func closeAndWait() throws(ShallowsError) {
        try layer.close(.waiting).outcomeAtOnce.get()
    }

    /// Does what was asked for before, and lets go of every lock and file, until ``resume()``: for an app that is about to be suspended,
    /// because the system kills those that hold a lock then. What needs the disk meanwhile fails with
    /// ``Tiers/StoreError/Code/suspended``.
    public func suspend() async throws(ShallowsError) {
        try await layer.onOpenFile(.completing) { (file) throws(StoreError) in try file.suspend() }.outcome().get()
    }

    /// The same for who cannot await it: blocks the thread until it is done.
    public func suspendAndWait() throws(ShallowsError) {
        try layer.onOpenFile(.waiting) { (file) throws(StoreError) in try file.suspend() }.outcomeAtOnce.get()
    }

    /// Takes the file up again after ``suspend()``.
    public func resume() async throws(ShallowsError) {
        try await layer.onOpenFile(.completing) { (file) throws(StoreError) in try file.resume() }.outcome().get()
    }

    /// Reopens the file after ``suspend()`` or ``suspendAndWait()``, and blocks the thread until that is done.
    ///
    /// - Throws: ``Shallows/ShallowsError`` if the file cannot be opened; ``Tiers/StoreError/Code/vanished`` if it is no longer there.
    public func resumeAndWait() throws(ShallowsError) {
        try layer.onOpenFile(.waiting) { (file) throws(StoreError) in try file.resume() }.outcomeAtOnce.get()
    }

    private func whole<Result: Sendable>(
        _ body: @escaping @Sendable (Store<Value>) throws(StoreError) -> Result
    ) async throws(ShallowsError) -> Result {
        try await storage.cancelling { layer.whole($0, body) }.get()
    }
}
