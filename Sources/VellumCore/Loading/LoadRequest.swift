/// How long past its age a caller accepts a stale value (RFC 5861), in milliseconds.
package struct Staleness: Hashable, Sendable {
    /// While the value is loaded again in the background.
    package var whileRevalidate: Int64 = 0
    /// If the loader fails.
    package var ifError: Int64 = 0

    /// The longer of the two.
    package var window: Int64 { max(whileRevalidate, ifError) }

    /// A negative duration counts as zero.
    package init(whileRevalidate: Duration, ifError: Duration) {
        self.whileRevalidate = Expiration.milliseconds(whileRevalidate)
        self.ifError = Expiration.milliseconds(ifError)
    }
}

/// A request to return a value, or to load it if it is missing.
package struct LoadRequest<Value: Sendable>: Sendable {
    package var key: EntryKey
    /// How long the caller accepts entries that have no age of their own.
    package var expiration: Expiration
    package var staleness: Staleness
    /// How long the loaded value is valid for every caller.
    package var ownExpiration: Expiration?
    /// The groups of the loaded value.
    package var groups: [EntryKey] = []
    /// For how many milliseconds `nil` and a failure are remembered; 0: not remembered.
    package var negativeMaxAge: Int64
    package var errorMaxAge: Int64
    /// After how many milliseconds the caller takes a stale value, or stops waiting; `nil` for
    /// never.
    package var softTimeout: Int64?
    package var timeout: Int64?
    /// After how many milliseconds the load ends; `nil` for never.
    package var loadTimeout: Int64?
    /// After which part of its age a value is loaded again; `nil` if it is only when it has
    /// expired.
    package var refreshAhead: Double?
    /// Whether the loader goes on without waiters.
    package var isKept: Bool
    /// The value that stands for `nil` in this store, if such answers are recorded.
    package var tombstone: Tombstone<Value>?
    /// Whether the caller accepts `nil`. If not, the loader must return a value.
    package var acceptsNil = false
    package var loader: Loader<Value>

    /// - Throws: ``VellumError/Code/invalidDuration`` if the age of the loaded value is NaN, or
    ///   ``refreshAhead`` is no part of an age.
    package init(
        key: EntryKey,
        under expiration: Expiration,
        staleness: Staleness,
        options: LoadOptions,
        loader: Loader<Value>
    ) throws(VellumError) {
        self.key = key
        self.expiration = expiration
        self.staleness = staleness
        ownExpiration = options.expiration
        try ownExpiration?.check()
        negativeMaxAge = options.negativeMaxAge.map(Expiration.milliseconds) ?? 0
        errorMaxAge = options.errorMaxAge.map(Expiration.milliseconds) ?? 0
        softTimeout = options.softTimeout.flatMap(Self.limit)
        timeout = options.timeout.flatMap(Self.limit)
        loadTimeout = options.loadTimeout.flatMap(Self.limit)
        try options.checkPart(of: loader.takesPrevious ? nil : options.expiration ?? expiration)
        refreshAhead = options.refreshAhead
        isKept = options.onLastWaiterCancelled == .finish
        self.loader = loader
    }

    /// Returns a limit in milliseconds; `nil` for one of more than a hundred years, which no clock
    /// counts.
    private static func limit(_ duration: Duration) -> Int64? {
        let milliseconds = Expiration.milliseconds(duration)
        return milliseconds < 100 * 366 * 86_400_000 ? milliseconds : nil
    }

    /// Returns the answer that a valid value is to this caller, as ``Look/found``; `nil` if it
    /// counts as missing.
    package func answer(of value: Value?) -> Value?? {
        guard let value else { return acceptsNil ? .some(nil) : nil }
        switch tombstone?.meaning(value, key) ?? .value {
        case .value, .newer: return .some(value)
        case .nothing: return acceptsNil ? .some(nil) : nil
        case .unreadable: return nil
        }
    }
}

/// The code of a caller that asks the source.
@frozen
@usableFromInline package enum Loader<Value>: Sendable {
    /// Returns a value, or `nil` if there is none.
    case plain(@Sendable () async throws -> Value?)
    /// Receives the value that is there, however old, and says how long its result holds.
    case informed(@Sendable (_ previous: Value?) async throws -> LoadResult<Value>)

    /// Whether it receives the value that is there.
    package var takesPrevious: Bool {
        if case .informed = self { true } else { false }
    }

    func run(_ previous: Value?) async throws -> LoadResult<Value> {
        switch self {
        case .plain(let load):
            try await load().map { .value($0) } ?? .none()
        case .informed(let load): try await load(previous)
        }
    }

    /// Returns what the loader returns to a caller for whom nothing is cached.
    package func valueWithoutCache() async throws -> Value? {
        switch try await run(nil) {
        case .value(let value, _): return value
        case .unchanged: throw VellumError.nothingUnchanged
        case .none: return nil
        }
    }
}

/// How a store records that there is no value, and which values a caller can read.
package struct Tombstone<Value: Sendable>: Sendable {
    /// What a value means to one caller.
    package enum Meaning: Sendable {
        case value
        /// A value of a newer version of its type, which no loader may replace.
        case newer
        /// There is no value.
        case nothing
        /// A value that this caller cannot read. It counts as missing.
        case unreadable
    }

    package let value: Value
    package let meaning: @Sendable (Value, EntryKey) -> Meaning

    /// - Parameters:
    ///   - value: What is recorded when a loader returns `nil`, for as long as
    ///     ``LoadOptions/negativeMaxAge`` says.
    ///   - meaning: Returns what a value that was found means.
    package init(_ value: Value, meaning: @escaping @Sendable (Value, EntryKey) -> Meaning) {
        self.value = value
        self.meaning = meaning
    }
}
