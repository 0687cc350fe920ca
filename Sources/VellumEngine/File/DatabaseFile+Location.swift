internal import Synchronization
internal import VellumCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// Whether the files that are open are still those at their path, and in the process that opened them.

/// A clock that costs next to nothing and stands still for a few milliseconds now and then.
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
    /// For how long the files are believed to be where they were seen.
    private static var trust: Int64 { 20 }

    /// What every call that comes to the file asks first.
    ///
    /// - Throws: ``VellumError/Code/forked``, ``VellumError/Code/suspended`` or ``VellumError/Code/vanished``.
    func checkUsable() throws(VellumError) {
        guard forkGuard.isThisProcess else { throw .forked }
        guard state != .suspended else { throw .suspended }
        let now = CoarseClock.milliseconds
        let last = lastLook.load(ordering: .relaxed)
        // A file that is set aside is left at once: what is read there may be old already.
        guard now - last >= Self.trust || changes.page.isRetired,
            lastLook.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
        else {
            if state == .vanished || changes.page.isRetired { throw .vanished }
            return
        }
        try checkLocation()
    }

    /// Looks whether the files are still there.
    func checkLocation() throws(VellumError) {
        if state == .vanished { throw .vanished }
        if FileIdentity(path: path) != identity || changes.page.isRetired {
            abandon()
            throw .vanished
        }
        let isLogLost = seenLog.withLock { seen in
            // A process that releases the file may remove the log.
            guard state != .suspended else { return false }
            let log = FileIdentity(path: path + "-wal")
            defer { seen = seen ?? log }
            return seen != nil && seen != log
        }
        if isLogLost {
            // Whoever closes last removes it: the next step tells that the file is closed.
            if isClosed { return }
            // What it held is in the hands of those who have it open: they copy it into the database when they let go.
            abandon(keepingLog: false)
            throw .vanished
        }
        do {
            try changes.lookAgain()
        } catch {
            throw VellumError(.cannotOpen, "The file of changes beside the archive cannot be opened.", cause: error)
        }
    }

    /// Lets go of a file that is no longer there, without touching what may lie in its place.
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
            return writer.owners
        }
        FileRegistry.shared.remove(self, identity)
        for owner in owners ?? [] { owner.archiveDidLoseWrites(.vanished) }
    }
}
