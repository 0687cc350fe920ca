package import Foundation
package import VellumCore

// What a test kit knows of a file.

extension DatabaseFile {
    /// The open files whose clock is this one.
    package static func opened(by clock: some AnyObject) -> [DatabaseFile] {
        FileRegistry.shared.openedFiles.filter { $0.clock.timer.owner === clock }
    }

    /// The observers of an archive; `nil` for all of the file.
    package func observers(of archive: Archive? = nil) -> [ChangeObserver] {
        watcher.observers.filter { archive == nil || $0.archive == archive?.id }
    }

    /// The numbers of the loads that are running, in every store of the file.
    package var runningLoads: [UInt64] { stores.table.withLock { $0.values.compactMap(\.store) }.flatMap(\.runningLoads) }
}

extension Store {
    /// The file and the archive of the store.
    package var place: (file: DatabaseFile, archive: Archive) { (disk.file, disk.archive) }

    /// How many callers wait for loads.
    package var waitingCallers: Int { loads.waiterCount }
}

extension StoreTransaction {
    /// Adds a write of bytes that a program recorded which has this version of the type, and declares no index. Memory does not keep them.
    package mutating func record<Value>(
        encoded bytes: Data, version: Int64, forKey key: EntryKey, in store: Store<Value>
    ) throws(VellumError) {
        guard key.normalized.utf8.count <= EntryKey.maximumLength else { throw .keyTooLong(key) }
        let now = store.clock.now()
        var entry = Entry(bytes: bytes, written: now, indexed: nil)
        entry.typeVersion = version
        add(.store(entry), key, to: store, at: now) { outcome, _ in
            let effects = store.memory.remove(key, isWrite: true, change: outcome.change)
            return MemoryUpdate(didChange: true) { store.release(effects) }
        }
    }
}
