internal import Foundation
package import VellumCore
package import VellumEngine

/// A minimal owner of an archive: writes one entry at a time, and answers the archive's callbacks.
///
/// The rules use it. Its touches are never taken, so an archive must ask for each.
package final class ArchiveHarness: ArchiveOwner {
    package let archive: DiskArchive
    package let clock: ManualClock
    private let state = Locked(State())
    private let uses = Locked(UseStamps(number: 0, count: 1))

    private struct State {
        var uses: [Int64: UseStamp] = [:]
        var removed: [EntryKey] = []
    }

    /// The keys of the entries that the last transaction removed without a write of them.
    package var removed: [EntryKey] {
        state.withLock { state in
            defer { state.removed = [] }
            return state.removed
        }
    }

    package init(
        _ archive: DiskArchive,
        clock: ManualClock = ManualClock(),
        isDelegate: Bool = true
    ) {
        self.archive = archive
        self.clock = clock
        if isDelegate { archive.attach(to: self) }
    }

    @discardableResult
    package func store(
        _ bytes: some Sequence<UInt8>,
        _ key: EntryKey,
        expires: WallInstant? = nil,
        idle: Int64? = nil,
        onlyIfAbsent: Bool = false
    ) throws(VellumError) -> WriteOutcome {
        let entry = Entry(bytes: Data(bytes), written: clock.now, expires: expires, idle: idle)
        return try write(key, onlyIfAbsent ? .storeIfAbsent(entry) : .store(entry))
    }

    /// Stores a value of a number of bytes.
    @discardableResult
    package func store(count: Int, _ key: EntryKey) throws(VellumError) -> WriteOutcome {
        try store(repeatElement(UInt8(ascii: "x"), count: count), key)
    }

    @discardableResult
    package func write(
        _ key: EntryKey,
        _ operation: ArchiveWrite.Operation
    ) throws(VellumError) -> WriteOutcome {
        try write([(key, operation)])[0]
    }

    /// Applies all changes in one transaction, if the entry under the key of the first is unchanged
    /// or invalid.
    func write(
        _ operations: [(EntryKey, ArchiveWrite.Operation)],
        ifUnchangedSince version: EntryVersion?,
        isOvertaken: Bool = false
    ) throws(VellumError) -> [WriteOutcome] {
        let condition = WriteCondition(
            unchangedSince: .version(version),
            at: clock.now,
            under: .never
        ) {
            isOvertaken ? .changed : .unchanged
        }
        return try commit(
            operations.enumerated().map { index, operation in
                let condition = index == 0 ? condition : WriteCondition(following: condition)
                return ArchiveWrite(
                    archive: archive.archive,
                    key: operation.0,
                    operation: operation.1,
                    stamp: stamp(),
                    condition: condition
                )
            }
        )
    }

    /// Stores a value in place of an entry that memory is said to know.
    package func store(
        count: Int,
        _ key: EntryKey,
        inPlaceOf known: KnownEntry
    ) throws(VellumError) -> WriteOutcome {
        let entry = Entry(
            bytes: Data(repeating: UInt8(ascii: "x"), count: count),
            written: clock.now
        )
        var write = ArchiveWrite(
            archive: archive.archive,
            key: key,
            operation: .store(entry),
            stamp: stamp()
        )
        write.known = known
        return try commit([write])[0]
    }

    /// Applies all changes in one transaction.
    package func write(
        _ operations: [(EntryKey, ArchiveWrite.Operation)]
    ) throws(VellumError) -> [WriteOutcome] {
        try commit(
            operations.map {
                ArchiveWrite(archive: archive.archive, key: $0.0, operation: $0.1, stamp: stamp())
            }
        )
    }

    private func commit(_ writes: [ArchiveWrite]) throws(VellumError) -> [WriteOutcome] {
        var outcomes: [WriteOutcome] = []
        state.withLock { $0.removed = [] }
        try archive.file.commit(writes, durability: .crashSafe) { outcomes = $0 }
        state.withLock { state in
            for (write, outcome) in zip(writes, outcomes) where outcome.entryID != 0 {
                state.uses[outcome.entryID] = write.stamp
            }
        }
        return outcomes
    }

    package func bytes(_ key: EntryKey) throws(VellumError) -> [UInt8]? {
        try archive.entry(forKey: key).map { Array($0.bytes) }
    }

    /// The keys, most recently used first.
    package func keys() throws(VellumError) -> [String] {
        try archive.keysByUse(limit: .max, validAt: clock.now, under: .never).map(\.key.normalized)
    }

    /// A stamp for an access that happens now.
    package func stamp() -> UseStamp { uses.withLock { $0.next(at: clock.now) } }

    // MARK: ArchiveOwner

    package let undecodable = UndecodableEntries()

    package func lastUse(ofKey key: EntryKey, entryID: Int64) -> UseStamp? {
        state.withLock { $0.uses[entryID] }
    }

    package func raiseStamp(to stamp: UseStamp) { uses.withLock { $0.raise(to: stamp) } }

    package func takeTouches(limit: Int) -> [Touch] { [] }

    package func finishTouches(written: Bool) {}

    package func pendingTouches() -> [Touch] {
        state.withLock { $0.uses.map { Touch(entryID: $0.key, stamp: $0.value) } }
    }

    package var pendingTouchCount: Int { 0 }

    package func archiveDidReport(_ event: StoreEvent) {}

    package func archiveDidRemove(_ entries: [RemovedEntry], _ cause: RemovalCause) {
        state.withLock { $0.removed += entries.map(\.key) }
    }

    package func archiveDidLoseWrites(_ error: VellumError) {}
}
