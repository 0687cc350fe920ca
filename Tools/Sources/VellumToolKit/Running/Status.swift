/// What the tool tells the shell. Documented in `--help` and in the README: a number never changes
/// its meaning.
enum Status: Int32, Sendable {
    case success = 0
    /// Nothing was found: no such archive, key or file of this user, or no entry that matches.
    case nothing = 1
    /// The command line or the query is wrong.
    case usage = 2
    /// The file cannot be used: it is not there, may not be read, or is not one that this version
    /// knows.
    case unusable = 3
    /// The file or an entry is damaged.
    case damaged = 4
    /// Another program keeps the file locked.
    case busy = 5
    /// The user cancelled.
    case cancelled = 6
    /// Reading or writing failed otherwise: the output exists, or the disk is full.
    case failed = 7
}
