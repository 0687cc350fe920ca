// A tier of your own, and the laws that it keeps.

import Foundation
import TiersTesting

/// Keeps entries in a dictionary, and the keys in the order of use.
final class DictionaryTier: Tier {
    private struct Slot {
        var entry: Entry
        var lastUse: UseStamp
    }

    private struct State {
        var capacity: Capacity
        var slots: [EntryKey: Slot] = [:]
        var bytes = 0
        var nextRow: Int64 = 1
        weak var owner: (any TierOwner)?

        /// What the owner knows of later uses counts, too.
        func lastUse(_ key: EntryKey) -> UseStamp {
            guard let slot = slots[key] else { return .never }
            return max(slot.lastUse, owner?.latestUse(ofKey: key, row: slot.entry.row) ?? .never)
        }

        var coldest: EntryKey? { slots.keys.min { lastUse($0) < lastUse($1) } }

        mutating func remove(_ key: EntryKey) -> Entry? {
            guard let slot = slots.removeValue(forKey: key) else { return nil }
            bytes -= slot.entry.bytes.count
            return slot.entry
        }

        mutating func evict() -> [EntryKey] {
            var evicted: [EntryKey] = []
            while capacity.isExceeded(byBytes: bytes, entries: slots.count), let key = coldest {
                _ = remove(key)
                evicted.append(key)
            }
            return evicted
        }

        mutating func store(_ entry: Entry, _ write: TierWrite, _ outcome: inout WriteOutcome) {
            let old = remove(write.key)
            outcome.wasPresent = old != nil
            // It skips this tier, and what it replaces must not come back.
            guard entry.bytes.count <= capacity.bytes else { return }
            var entry = entry
            entry.row = old?.row ?? nextRow
            if old == nil { nextRow += 1 }
            // What tells it from what was here before.
            entry.revision = (old?.revision ?? 0) &+ 1
            slots[write.key] = Slot(entry: entry, lastUse: write.stamp)
            bytes += entry.bytes.count
            outcome.row = entry.row
            outcome.evicted = evict()
        }

        mutating func apply(_ write: TierWrite) -> WriteOutcome {
            var outcome = WriteOutcome()
            let present = slots[write.key]?.entry
            if let condition = write.condition {
                let isValid = present?.validity.contains(
                    condition.now, write.key, lastUse: lastUse(write.key), under: condition.expiration)
                guard condition.isMet(by: present?.version, isValid: isValid ?? false) else {
                    outcome.wasDeclined = true
                    return outcome
                }
            }
            switch write.change {
            case .store(let entry): store(entry, write, &outcome)
            case .storeIfAbsent(let entry):
                if let present, present.validity.contains(entry.written, write.key, lastUse: lastUse(write.key)) {
                    (outcome.wasPresent, outcome.wasDeclined) = (true, true)
                } else {
                    store(entry, write, &outcome)
                }
            case .remove: outcome.wasPresent = remove(write.key) != nil
            case .removeUnchanged(let row, let revision):
                if present?.row == row, present?.revision == revision {
                    outcome.wasPresent = remove(write.key) != nil
                } else {
                    outcome.wasDeclined = true
                }
            case .removeAll:
                outcome.wasPresent = !slots.isEmpty
                (slots, bytes) = ([:], 0)
            }
            return outcome
        }
    }

    private let state: Locked<State>

    init(capacity: Capacity) { state = Locked(State(capacity: capacity)) }

    var capacity: Capacity { state.withLock { $0.capacity } }

    func entry(forKey key: EntryKey) -> Lookup<Entry> {
        state.withLock { $0.slots[key].map { .hit($0.entry) } ?? .miss(.absent) }
    }

    func lastUse(ofKey key: EntryKey) -> UseStamp? {
        state.withLock { $0.slots[key] == nil ? nil : $0.lastUse(key) }
    }

    func totals() -> TierTotals { state.withLock { TierTotals(entries: $0.slots.count, bytes: $0.bytes) } }

    func keysByUse(limit: Int, validAt now: WallInstant, under expiration: Expiration) -> [KeyUse] {
        state.withLock { state in
            let uses = state.slots.map { KeyUse(key: $0.key, lastUse: state.lastUse($0.key), bytes: $0.value.entry.bytes.count) }
            let valid = uses.filter { use in
                state.slots[use.key]?.entry.validity.contains(now, use.key, lastUse: use.lastUse, under: expiration) ?? false
            }
            return Array(valid.sorted { $0.lastUse > $1.lastUse }.prefix(limit))
        }
    }

    func commit(_ writes: [TierWrite], durability: Durability, committed: ([WriteOutcome]) -> Void) {
        // Inside the lock, so that memory hears of commits in their order.
        state.withLock { state in committed(writes.map { state.apply($0) }) }
    }

    func removeUnused(before stamp: UseStamp, limit: Int) -> [EntryKey] {
        state.withLock { state in
            var removed: [EntryKey] = []
            while removed.count < limit, let key = state.coldest, state.lastUse(key) < stamp {
                _ = state.remove(key)
                removed.append(key)
            }
            return removed
        }
    }

    func resize(to capacity: Capacity) -> [EntryKey] {
        state.withLock { state in
            state.capacity = capacity
            return state.evict()
        }
    }

    func attach(to owner: any TierOwner) { state.withLock { $0.owner = owner } }
    // The owner is asked when it matters, so it need not tell.
    func usesAreWaiting(isPressing: Bool) {}
    func record(uses: [Use]) {}
    func flush() {}
    func close() {}
}

for law in TierLaw.all {
    try law.check { capacity in DictionaryTier(capacity: capacity) }
    print("It keeps: \(law).")
}

// What stands on it bears its failures: with a seed, so that they come again.
let disk = ChaosTier(DictionaryTier(capacity: .unlimited), seed: 7, failing: 0.3)
let store = TieredStore(disk: disk, codec: JSONCodec<Int>(), memory: try Capacity(1.megaByte))
var kept: [Int: Int] = [:]
for number in 0..<100 {
    do {
        try store.record(number, forKey: EntryKey("\(number % 10)"))
        kept[number % 10] = number
    } catch {
        print("Not recorded: \(error)")
    }
}
disk.rest()
for (key, number) in kept where try store.value(forKey: EntryKey("\(key)")).value != number { fatalError("seed \(disk.seed)") }
