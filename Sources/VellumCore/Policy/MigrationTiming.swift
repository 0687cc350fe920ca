/// When objects of older versions of a type are replaced by current ones in the file. Each is
/// migrated in memory whenever it is read before that.
public enum MigrationTiming: Hashable, Sendable {
    /// In the background, from when the archive is opened.
    case immediately
    /// In the background, so long after the archive was opened, to a second, by the clock of the
    /// factory. A process that starts again waits anew.
    case after(Duration)
    /// Never in the background: an object stays as it is until it is recorded again, so that
    /// programs of an older version can read it.
    case onRead

    /// How many milliseconds the pass over all objects waits; `nil` if there is none.
    package var delay: Int64? {
        switch self {
        case .immediately: 0
        case .after(let duration): Expiration.milliseconds(duration)
        case .onRead: nil
        }
    }
}
