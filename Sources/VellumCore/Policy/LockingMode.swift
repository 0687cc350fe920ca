/// Whether a process keeps its file locked while no other process uses it.
public enum LockingMode: Sendable {
    /// Every process may open the file at any time, whatever the others do. No lock is held between calls.
    case shared
    /// While this process is the only one that has the file open, it keeps it locked, and writes take up to an eighth less time.
    ///
    /// ```swift
    /// let archives = ArchivesFactory(directory: folder)
    /// archives.lockingMode = .exclusive
    /// ```
    ///
    /// Another process that opens the file asks for the lock, and gets it within milliseconds: from then on the file is shared, until it is
    /// opened anew. It need not be opened with the same mode. If this process is stopped at that moment, by a debugger or by the system, the
    /// other waits for two seconds, and then ``VellumError/Code/busy`` is thrown. When a process ends, however it ends, its lock ends with it.
    ///
    /// A file that other processes have open is shared, and so are files in the folder of an app group and on a network file system. A suspended
    /// file is not locked, and is shared when it is resumed.
    case exclusive
}
