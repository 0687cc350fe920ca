public import Foundation
internal import Synchronization
public import Tiers

/// One handle's hold on an open file. Handles are independent: the file is closed with the last hold on it, or when nobody refers to it
/// any more.
public final class FileHold: Sendable {
    public let file: SQLiteFile
    private let hasEnded = Atomic(false)

    private init(_ file: SQLiteFile) { self.file = file }

    /// Opens the file as ``SQLiteFile/open(at:kind:ifNotADatabase:takingOver:clock:)`` does, and holds it.
    public static func open(
        at url: URL, kind: FileKind, ifNotADatabase policy: SQLiteFile.ForeignFilePolicy = .refuse,
        takingOver original: OriginalCache? = nil, clock: WallClock = .system
    ) throws(StoreError) -> FileHold {
        let file = try SQLiteFile.open(at: url, kind: kind, ifNotADatabase: policy, takingOver: original, isHeld: true, clock: clock)
        return FileHold(file)
    }

    deinit {
        if !hasEnded.load(ordering: .acquiring) { file.holds.wrappingSubtract(1, ordering: .acquiringAndReleasing) }
    }

    /// Ends the hold and closes the file if there is no other; otherwise everything acknowledged is made to survive power loss. Closing
    /// twice is closing once.
    ///
    /// - Throws: ``StoreError`` if that fails; then the hold has not ended.
    public func close() throws(StoreError) {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        do throws(StoreError) {
            try FileRegistry.shared.endHold(on: file)
        } catch {
            hasEnded.store(false, ordering: .releasing)
            throw error
        }
    }
}

/// One handle's hold on an open store. Handles are independent: the store is closed with the last hold on it.
public final class StoreHold<Value>: Sendable {
    public let store: TieredStore<Value>
    /// Whether the hold was ended.
    public let mark = ClosedMark()
    private let file: SQLiteFile

    fileprivate init(_ store: TieredStore<Value>, in file: SQLiteFile) {
        self.store = store
        self.file = file
    }

    deinit {
        if !mark.isClosed { _ = file.stores.endHold(on: store) }
        mark.deallocate()
    }

    /// Opens a store and holds it, once more where another handle closed it in between, or another process put a new file in its place.
    public static func open(
        _ open: () throws(StoreError) -> (file: SQLiteFile, store: TieredStore<Value>)
    ) throws(StoreError) -> StoreHold<Value> {
        var triesLeft = 20
        while true {
            triesLeft -= 1
            do throws(StoreError) {
                let (file, store) = try open()
                if file.stores.hold(store) { return StoreHold(store, in: file) }
                if triesLeft == 0 { throw .closed }
            } catch {
                guard error.code == .vanished, triesLeft > 0 else { throw error }
            }
        }
    }

    /// Ends the hold and closes the store if there is no other; otherwise everything acknowledged is made to survive power loss. Closing
    /// twice is closing once.
    ///
    /// - Throws: ``StoreError`` if that fails; then the hold has not ended.
    public func close() throws(StoreError) {
        guard !mark.set(true) else { return }
        let isLast = file.stores.opening.withLock { _ in file.stores.endHold(on: store, forgettingLast: true) }
        do throws(StoreError) {
            if isLast { try store.close() } else { try file.flushForClosing() }
        } catch {
            if !isLast { _ = file.stores.hold(store) }
            // Of a file that is gone there is nothing left to close.
            if !store.isClosed { mark.set(false) }
            throw error
        }
    }
}

extension SQLiteFile {
    /// Flushes for a handle that is closed while others go on.
    func flushForClosing() throws(StoreError) {
        guard birth.isThisProcess, !isSuspended.load(ordering: .acquiring), !hasVanished.load(ordering: .acquiring) else { return }
        do throws(StoreError) {
            try flush()
        } catch {
            guard error.code != .vanished else { return }
            throw error
        }
    }
}

extension FileRegistry {
    /// Ends one hold; inside the lock of openings, so that nobody is given a file that is being closed.
    func endHold(on file: SQLiteFile) throws(StoreError) {
        try opening.withLock { _ throws(StoreError) in
            let isLast = file.holds.load(ordering: .acquiring) == 1
            if isLast { try file.close() } else { try file.flushForClosing() }
            file.holds.wrappingSubtract(1, ordering: .acquiringAndReleasing)
        }
    }
}

extension StoreTable {
    /// - Returns: Whether the store is still one that others are given.
    func hold(_ store: any (AnyObject & Sendable)) -> Bool {
        table.withLock { table in
            guard let open = table.values.first(where: { $0.id == ObjectIdentifier(store) }) else { return false }
            open.holds += 1
            return true
        }
    }

    /// - Parameter forgettingLast: Whether nobody is to be given the store any more where this was the last hold.
    /// - Returns: Whether it was.
    func endHold(on store: any (AnyObject & Sendable), forgettingLast: Bool = false) -> Bool {
        table.withLock { table in
            guard let (name, open) = table.first(where: { $0.value.id == ObjectIdentifier(store) }) else { return true }
            open.holds -= 1
            guard open.holds <= 0 else { return false }
            if forgettingLast { table[name] = nil }
            return true
        }
    }
}
