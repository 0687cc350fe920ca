package import Foundation
internal import Synchronization
package import VellumCore

/// A handle's hold on an open file. Handles are independent: the file closes with the last hold, or
/// with the last reference to it.
package final class FileHold: Sendable {
    package let file: DatabaseFile
    private let hasEnded = Atomic(false)

    private init(_ file: DatabaseFile) { self.file = file }

    /// Opens the file as ``DatabaseFile/open(at:kind:ifNotADatabase:movingAside:access:clock:)``
    /// does, and holds it.
    package static func open(
        at url: URL,
        kind: FileKind,
        ifNotADatabase policy: DatabaseFile.ForeignFilePolicy = .refuse,
        movingAside moveAside: DatabaseFile.ForeignFileMove? = nil,
        access: FileAccess = .writing,
        clock: WallClock = .system,
        attributes: FolderAttributes = .unchanged
    ) throws(VellumError) -> FileHold {
        let options = DatabaseFile.Options(
            kind: kind,
            policy: policy,
            moveAside: moveAside,
            clock: clock,
            attributes: attributes,
            access: access
        )
        return FileHold(try DatabaseFile.open(at: url, options, isHeld: true))
    }

    deinit {
        if !hasEnded.load(ordering: .acquiring) {
            file.holds.wrappingSubtract(1, ordering: .acquiringAndReleasing)
        }
    }

    /// Ends the hold and closes the file if there is no other; otherwise everything acknowledged is
    /// made to survive power loss. Closing twice is closing once.
    ///
    /// - Throws: ``VellumError`` if that fails; then the hold has not ended.
    package func close() throws(VellumError) {
        guard file.location.isOfThisProcess,
            !hasEnded.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        do throws(VellumError) {
            try FileRegistry.shared.endHold(on: file)
        } catch {
            hasEnded.store(false, ordering: .releasing)
            throw error
        }
    }
}

/// A handle's hold on an open store. Handles are independent: the store closes with the last hold
/// on it (decision 37).
package final class StoreHold<Value>: Sendable {
    package let store: Store<Value>
    /// Whether the hold has ended.
    package let mark = ClosedMark()
    private let file: DatabaseFile

    /// Wraps a hold that the store table has already counted.
    init(_ store: Store<Value>, in file: DatabaseFile) {
        self.store = store
        self.file = file
    }

    deinit {
        if file.location.isOfThisProcess, !mark.isClosed { file.stores.endHold(on: store) }
        mark.deallocate()
    }

    /// Opens a store. Retries if another process replaced a damaged file, or another handle closed
    /// the file meanwhile.
    package static func open(
        _ open: () throws(VellumError) -> StoreHold
    ) throws(VellumError) -> StoreHold {
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

    /// Ends the hold and closes the store if there is no other; otherwise everything acknowledged
    /// is made to survive power loss. Closing twice is closing once.
    ///
    /// - Throws: ``VellumError`` if that fails; then the hold has not ended.
    package func close() throws(VellumError) {
        // A forked child must not close its parent's file, and locks may have been held at the
        // fork.
        guard file.location.isOfThisProcess, !mark.set(true) else { return }
        do throws(VellumError) {
            // Under the opening lock, so that no caller gets a store that is being closed, or opens
            // a second one.
            let isLast = try file.stores.opening.withLongLock { _ throws(VellumError) in
                let isLast = file.stores.isHeldOnce(store)
                if isLast { try store.closeDisk() }
                file.stores.endHold(on: store)
                return isLast
            }
            // Observers of this handle end.
            defer { file.watcher.askAgain() }
            // Values are released outside the lock.
            if isLast { return store.finishClosing() }
            do throws(VellumError) {
                try file.flushForClosing()
            } catch {
                _ = file.stores.hold(store)
                throw error
            }
        } catch {
            // A file that is gone has nothing left to close.
            if !store.isClosed { mark.set(false) }
            throw error
        }
    }
}

extension FileRegistry {
    /// Ends one hold, and closes the file with the last one, under the opening lock: no caller can
    /// get a file that is being closed.
    func endHold(on file: DatabaseFile) throws(VellumError) {
        if file.holds.load(ordering: .acquiring) == 1 { try file.waitBeforeClosing() }
        let isLast = try opening.withLongLock { _ throws(VellumError) in
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
    /// Counts a handle that holds the store.
    ///
    /// - Returns: Whether it is the first handle that ever held the store.
    func hold(_ store: any OpenableStore) -> Bool {
        table.withLock { table in
            guard let open = Self.open(store, in: table) else { return false }
            open.holds += 1
            return !exchange(&open.wasHeld, with: true)
        }
    }

    func endHold(on store: any OpenableStore) {
        table.withLock { Self.open(store, in: $0)?.holds -= 1 }
    }

    /// Whether at most one handle holds the store.
    func isHeldOnce(_ store: any OpenableStore) -> Bool {
        table.withLock { Self.open(store, in: $0)?.holds ?? 1 <= 1 }
    }
}
