internal import VellumCore

extension MemoryCache {
    /// Removes these entries from memory, unless other entries have replaced them. O(entries).
    ///
    /// - Parameter keepingUses: Whether their uses are still to be written: an entry that has
    ///   another key now.
    func remove(_ entries: [RemovedEntry], keepingUses: Bool = false) -> DeferredEffects {
        var effects = DeferredEffects()
        for entry in entries {
            remove(entry.key, entryID: entry.id, keepingUse: keepingUses, &effects)
        }
        return effects
    }

    /// Marks entries as no longer on disk, unless later entries have replaced them, and returns the
    /// keys of those that are not in memory. Those of a group leave memory, too.
    func markMemoryOnly(_ entries: [RemovedEntry], _ effects: inout DeferredEffects) -> [EntryKey] {
        entries.filter { entry in
            guard entry.hadGroups else { return !markMemoryOnly(entry.key, entryID: entry.id) }
            remove(entry.key, entryID: entry.id, keepingUse: false, isEvicted: true, &effects)
            return true
        }.map(\.key)
    }
}
