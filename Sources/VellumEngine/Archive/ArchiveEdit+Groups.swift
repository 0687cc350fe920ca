internal import VellumCore

// The groups of entries (decision 82). An archive without any pays a comparison for each write.

extension ArchiveEdit {
    /// Gives an entry that was written its groups.
    ///
    /// - Parameter old: The revision of the entry that it replaces.
    func regroup(
        _ entryID: Int64,
        _ grouping: Grouping,
        _ entry: Entry,
        _ key: EntryKey,
        from old: UInt32?
    ) throws(SQLiteError) {
        switch grouping {
        case .none where !state.contents.hasMembers: break
        case .none: _ = try removeMembers(entryID)
        case .kept:
            try keepMembers(entryID, from: old, checksum.sums(of: entry, key: key))
        case .groups(let groups):
            try put(groups, entryID, checksum.sums(of: entry, key: key))
        }
    }

    /// An entry that was changed stays in its groups.
    ///
    /// - Parameter old: The revision that it had: rows of another value stay invalid. `nil` for
    ///   all.
    func keepMembers(_ entryID: Int64, from old: UInt32?, _ sums: Checksum.Sums) throws(SQLiteError)
    {
        guard state.contents.hasMembers else { return }
        let renew = try statement(.renewMembers)
        renew.bind(entryID, at: 1)
        renew.bind(sums.storedChecksum, at: 2)
        renew.bind(old.map(Checksum.stored), at: 3)
        try renew.run()
    }

    /// The groups of an entry in which a write leaves it.
    func keptGroups(_ write: ArchiveWrite, of present: EntryHead?) throws(SQLiteError) -> [EntryKey]
    {
        guard case .kept = write.grouping, state.contents.hasMembers, let present else { return [] }
        return try tables.groups(of: present.id, revision: present.revision).map {
            EntryKey($0)
        }
    }

    /// Puts an entry into these groups, and out of all others.
    func put(
        _ groups: [EntryKey],
        _ entryID: Int64,
        _ sums: Checksum.Sums
    ) throws(SQLiteError) {
        if state.contents.hasMembers {
            // Most values that are set again are in the same groups.
            let present = try tables.groups(of: entryID)
            if present.count == groups.count, groups.allSatisfy({ present.contains($0.normalized) })
            {
                return try keepMembers(entryID, from: nil, sums)
            }
            _ = try removeMembers(entryID)
        }
        guard !groups.isEmpty else { return }
        try createMembers()
        state.contents.hasMembers = true
        state.hasUnknownGrowth = true
        for group in groups {
            let insert = try statement(.insertMember)
            insert.bind(entryID, at: 1)
            insert.bind(group.normalized, at: 2)
            insert.bind(sums.storedChecksum, at: 3)
            try insert.run()
            CrashPoint.reached(.memberInserted)
        }
    }

    /// - Returns: Whether the entry had groups.
    func removeMembers(_ entryID: Int64) throws(SQLiteError) -> Bool {
        try statement(.deleteMembers).run(entryID)
        return changesCount > 0
    }

    /// Removes the entries of a group, also expired ones. A load of a value of the group is
    /// overtaken.
    ///
    /// - Returns: How many there were.
    func removeAll(ofGroup group: EntryKey) throws(SQLiteError) -> Int {
        noteChange(of: group, .groupRemoved)
        guard state.contents.hasMembers else { return 0 }
        let members = try tables.members(of: group, after: state.totals.cleared)
            .filter { !isRemoved($0.id) }
        for member in members {
            try delete(member.id, size: Int64(member.size), key: member.key, .removed)
            CrashPoint.reached(.memberRemoved)
        }
        noteRemoval(
            of: members.map { RemovedEntry(key: $0.key, id: $0.id) },
            .explicit
        )
        return members.count
    }

    /// Creates the table of groups, unless the file has it. Programs that do not know it do not
    /// write the file from then on.
    private func createMembers() throws(SQLiteError) {
        guard !state.contents.fileHasMembers else { return }
        // Another archive of the transaction may have created it.
        if try connection.int(MemberTable.isThere) == 0 {
            try connection.execute(MemberTable.create)
            for (_, sql) in MemberTable.indexes { try connection.execute(sql) }
            try connection.execute(Features.addGroups)
            CrashPoint.reached(.membersCreated)
        }
        state.contents.fileHasMembers = true
    }
}
