/// What loading has cost in this process since a store was opened.
public struct LoadStatistics: Hashable, Sendable {
    /// Calls of loaders.
    public var loads = 0
    /// Calls of loaders that failed.
    public var failures = 0
    /// Callers that waited for a load that another had started.
    public var joined = 0
    /// How long the loaders ran, added up.
    public var time = Duration.zero
    /// Expired values that were returned while they were loaded again.
    public var staleWhileRevalidating = 0
    /// Expired values that were returned because the loader failed, or took longer than the timeout
    /// of its caller.
    public var staleIfError = 0
    /// Expired values that were returned because the load took longer than the soft timeout of
    /// their caller.
    public var staleIfSlow = 0
    /// Values that were returned again which this process had loaded while the server of a shared
    /// cache was out of reach.
    public var inOutage = 0

    /// Creates counters that are all zero.
    public init() {}
}

extension LoadStatistics: CustomStringConvertible {
    /// The counters in one line to read.
    public var description: String {
        """
        \(loads) loads in \(time), \(failures) failed, \(joined) joined; stale: \
        \(staleWhileRevalidating) while revalidating, 
        """
            + "\(staleIfError) after errors, \(staleIfSlow) when slow; \(inOutage) in an outage"
    }
}

extension LoadStatistics {
    /// A loader ran for so long.
    mutating func count(_ duration: Duration, failed: Bool) {
        loads += 1
        if failed { failures += 1 }
        time += duration
    }

    /// A caller got a value from this source.
    mutating func count(_ source: LoadSource) {
        switch source {
        case .cached, .loaded: break
        case .staleWhileRevalidate: staleWhileRevalidating += 1
        case .staleIfError: staleIfError += 1
        case .staleIfSlow: staleIfSlow += 1
        case .loadedInOutage: inOutage += 1
        }
    }
}

/// Where a value that may have been loaded came from.
@frozen
public enum LoadSource: Hashable, Sendable {
    /// The value was cached, and is valid.
    case cached
    /// The value was cached and has expired; it is being reloaded: *stale-while-revalidate* (RFC
    /// 5861, section 3).
    case staleWhileRevalidate
    /// The loader returned it, or said that it is unchanged.
    case loaded
    /// The value was cached and has expired, and the loader failed or took longer than
    /// ``LoadOptions/timeout``: *stale-if-error* (RFC 5861, section 4).
    case staleIfError
    /// The value was cached and has expired, and the load took longer than
    /// ``LoadOptions/softTimeout``. It goes on.
    case staleIfSlow
    /// This process loaded the value a moment ago, while the server of a shared cache was out of
    /// reach: other machines may have another one.
    case loadedInOutage
}
