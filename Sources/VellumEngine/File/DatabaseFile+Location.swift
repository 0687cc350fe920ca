internal import Synchronization
internal import VellumCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// Checks that the open files are still those at their paths, and that this process opened them.

/// A cheap monotonic clock with a resolution of a few milliseconds.
enum CoarseClock {
    static var milliseconds: Int64 {
        var time = timespec()
        #if canImport(Darwin)
            clock_gettime(CLOCK_MONOTONIC_RAW_APPROX, &time)
        #else
            clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        #endif
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

extension DatabaseFile {
    /// How long a successful location check stays valid, in milliseconds.
    private static var checkInterval: Int64 { 20 }

    /// Checks that the file may be used. Every call starts with it.
    ///
    /// - Throws: ``VellumError/Code/forked``, ``VellumError/Code/suspended`` or ``VellumError/Code/vanished``.
    func checkUsable() throws(VellumError) {
        guard forkGuard.isThisProcess else { throw .forked }
        guard state != .suspended else { throw .suspended }
        let now = CoarseClock.milliseconds
        let last = lastLook.load(ordering: .relaxed)
        // A file that was set aside is abandoned immediately: its data may be outdated.
        guard now - last >= Self.checkInterval || changesFile.page.isRetired,
            lastLook.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
        else {
            if state == .vanished || changesFile.page.isRetired { throw .vanished }
            return
        }
        try checkLocation()
    }

    /// Checks that the database, its log and its changes file are still at their paths.
    ///
    /// - Throws: ``VellumError/Code/vanished``, or ``VellumError/Code/cannotOpen`` for the changes file.
    func checkLocation() throws(VellumError) {
        if state == .vanished { throw .vanished }
        if FileIdentity(path: path) != identity || changesFile.page.isRetired {
            abandon()
            throw .vanished
        }
        let isLogLost = seenLog.withLock { seen in
            // A process that suspends the file may remove the log.
            guard state != .suspended else { return false }
            let log = FileIdentity(path: path + "-wal")
            defer { seen = seen ?? log }
            return seen != nil && seen != log
        }
        if isLogLost {
            // The last process that closes removes the log, also this one: its writer is asked, because it is locked until the file is closed.
            // The next step reports that.
            if withWriter({ _ in true }) == nil { return }
            // The processes that have the log open copy it into the database when they close.
            abandon(keepingLog: false)
            throw .vanished
        }
        do {
            try changesFile.remapIfReplaced()
        } catch {
            throw VellumError(.cannotOpen, "The changes file beside the archive cannot be opened.", cause: error)
        }
    }

    /// Releases a file that has vanished, without touching a file that may have replaced it, and notifies its delegates.
    func abandon(keepingLog: Bool = true) {
        guard move(from: .open, to: .vanished) || move(from: .suspended, to: .vanished) else { return }
        Log.error("An archive file was deleted, replaced or set aside while it was open. It must be opened again.", SQLiteError.vanished)
        checkpointing.withLock { connection in
            if keepingLog { connection?.keepLog() }
            connection = nil
        }
        syncing.withLock { sync in
            if keepingLog { sync.keepLog() }
            sync = LogSync()
        }
        readers.close(keepingLog: keepingLog)
        let owners = closeWriter(as: .vanished) { writer in
            if keepingLog { writer.connection.keepLog() }
            return writer.archives.owners
        }
        FileRegistry.shared.remove(self, identity)
        for owner in owners ?? [] { owner.archiveDidLoseWrites(.vanished) }
    }
}
