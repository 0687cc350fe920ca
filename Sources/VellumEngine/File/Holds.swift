package import Foundation
internal import Synchronization
package import VellumCore

/// One handle's hold on an open file. Handles are independent: the file is closed with the last hold on it, or with the last reference to it.
package final class FileHold: Sendable {
    package let file: DatabaseFile
    private let hasEnded = Atomic(false)

    private init(_ file: DatabaseFile) { self.file = file }

    /// Opens the file as ``DatabaseFile/open(at:kind:ifNotADatabase:takingOver:clock:)`` does, and holds it.
    package static func open(
        at url: URL, kind: FileKind, ifNotADatabase policy: DatabaseFile.ForeignFilePolicy = .refuse,
        takingOver original: OriginalCache? = nil, clock: WallClock = .system
    ) throws(VellumError) -> FileHold {
        let file = try DatabaseFile.open(at: url, kind: kind, ifNotADatabase: policy, takingOver: original, isHeld: true, clock: clock)
        return FileHold(file)
    }

    deinit {
        if !hasEnded.load(ordering: .acquiring) { file.holds.wrappingSubtract(1, ordering: .acquiringAndReleasing) }
    }

    /// Ends the hold and closes the file if there is no other; otherwise everything acknowledged is made to survive power loss. Closing
    /// twice is closing once.
    ///
    /// - Throws: ``VellumError`` if that fails; then the hold has not ended.
    package func close() throws(VellumError) {
        guard file.forkGuard.isThisProcess, !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        do throws(VellumError) {
            try FileRegistry.shared.endHold(on: file)
        } catch {
            hasEnded.store(false, ordering: .releasing)
            throw error
        }
    }
}

/// One handle's hold on an open store. Handles are independent: the store is closed with the last hold on it.
package final class StoreHold<Value>: Sendable {
    package let store: Store<Value>
    /// Whether the hold was ended.
    package let mark = ClosedMark()
    private let file: DatabaseFile

    /// Takes over a hold that was counted.
    init(_ store: Store<Value>, in file: DatabaseFile) {
        self.store = store
        self.file = file
    }

    deinit {
        if file.forkGuard.isThisProcess, !mark.isClosed { file.stores.endHold(on: store) }
        mark.deallocate()
    }

    /// Opens a store, once more where another process put a new file in the place of a damaged one, or another handle closed the file.
    package static func open(_ open: () throws(VellumError) -> StoreHold) throws(VellumError) -> StoreHold {
        var triesLeft = 20
        while true {
            triesLeft -= 1
            do throws(VellumError) {
                return try open()
            } catch {
                guard [.vanished, .closed].contains(error.code), triesLeft > 0 else { throw error }
            }
            BusyRetry.milliseconds(1)
        }
    }

    /// Ends the hold and closes the store if there is no other; otherwise everything acknowledged is made to survive power loss. Closing
    /// twice is closing once.
    ///
    /// - Throws: ``VellumError`` if that fails; then the hold has not ended.
    package func close() throws(VellumError) {
        // What belongs to another process is not closed here, and locks may have been held when this one was forked.
        guard file.forkGuard.isThisProcess, !mark.set(true) else { return }
        do throws(VellumError) {
            // Inside the lock of openings, so that nobody is given a store that is being closed, or makes a second one beside it.
            let isLast = try file.stores.opening.withLock { _ throws(VellumError) in
                let isLast = file.stores.isHeldOnce(store)
                if isLast { try store.closeDisk() }
                file.stores.endHold(on: store)
                return isLast
            }
            // Values are released where no lock is held.
            if isLast { return store.finishClosing() }
            do throws(VellumError) {
                try file.flushForClosing()
            } catch {
                _ = file.stores.hold(store)
                throw error
            }
        } catch {
            // Of a file that is gone there is nothing left to close.
            if !store.isClosed { mark.set(false) }
            throw error
        }
    }
}

extension DatabaseFile {
    /// Flushes for a handle that is closed while others go on.
    func flushForClosing() throws(VellumError) {
        guard isAtWork else { return }
        do throws(VellumError) {
            try flush()
        } catch {
            guard error.code != .vanished else { return }
            throw error
        }
    }
}

extension FileRegistry {
    /// Ends one hold, and closes the file with the last one: inside the lock of openings, so that nobody is given a file that is being closed.
    func endHold(on file: DatabaseFile) throws(VellumError) {
        let isLast = try opening.withLock { _ throws(VellumError) in
            let isLast = file.holds.load(ordering: .acquiring) == 1
            if isLast { try file.close() }
            file.holds.wrappingSubtract(1, ordering: .acquiringAndReleasing)
            return isLast
        }
        guard !isLast else { return }
        do throws(VellumError) {
            try file.flushForClosing()
        } catch {
            file.holds.wrappingAdd(1, ordering: .acquiringAndReleasing)
            throw error
        }
    }
}

extension StoreTable {
    /// - Returns: Whether it is the first handle that holds the store.
    func hold(_ store: any (AnyObject & Sendable)) -> Bool {
        table.withLock { table in
            guard let open = table.values.first(where: { $0.id == ObjectIdentifier(store) }) else { return false }
            open.holds += 1
            defer { open.wasHeld = true }
            return !open.wasHeld
        }
    }

    func endHold(on store: any (AnyObject & Sendable)) {
        table.withLock { table in table.values.first { $0.id == ObjectIdentifier(store) }?.holds -= 1 }
    }

    /// Whether only one handle is left that holds the store.
    func isHeldOnce(_ store: any (AnyObject & Sendable)) -> Bool {
        table.withLock { table in table.values.first { $0.id == ObjectIdentifier(store) }?.holds ?? 1 <= 1 }
    }
}
