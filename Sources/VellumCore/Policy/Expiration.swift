/// How long an entry stays valid: for a time after it was written, for a time after it was last used, or both.
///
/// ```swift
/// try store.record(user, forKey: "ann", expiration: .after(.seconds(60)))
/// let session = Expiration.unused(
///     for: .seconds(1800), atMost: .seconds(86_400))
/// let computed = try Expiration(validatingSeconds: response.maxAge)
/// ```
///
/// An expiration given when an entry is recorded belongs to the entry and applies to every reader. The expiration of an entry without one
/// is that of each reader, so two readers with different ages can share the entry.
///
/// Ages are measured by the wall clock, because they are persisted, in whole milliseconds. Less than a millisecond rounds up to one.
///
/// The factories are for durations in source code: a negative duration or NaN is a programmer error and ends the process, like an index out
/// of range. The initializers validate durations that were computed or read, and throw.
@frozen
public struct Expiration: Hashable, Sendable {
    /// The milliseconds from the writing to the end; `.max` means never.
    public let age: Int64
    /// The milliseconds from the last use to the end; `.max` means never.
    public let idle: Int64
    /// The largest part of the age by which an entry's age is shortened at random, from 0 to 1.
    public let jitter: Double

    package init(age: Int64, idle: Int64 = .max, jitter: Double = 0) {
        self.age = age
        self.idle = idle
        self.jitter = jitter
    }

    /// Creates an expiration from durations that were computed or read.
    ///
    /// - Parameters:
    ///   - age: How long an entry is valid after it was written; `nil` means no limit.
    ///   - idle: How long an entry is valid after it was last recorded or read; `nil` means no limit.
    ///   - jitter: The largest part of the age by which an entry's age is shortened at random, from 0 to 1.
    /// - Throws: ``VellumError/Code/invalidDuration`` if a duration is negative, or the jitter is not a number from 0 to 1.
    public init(validating age: Duration?, unusedFor idle: Duration? = nil, jitter: Double = 0) throws(VellumError) {
        try Self.validate(jitter: jitter)
        self.age = if let age { try Self.milliseconds(age) } else { .max }
        self.idle = if let idle { try Self.milliseconds(idle) } else { .max }
        self.jitter = jitter
    }

    /// Creates an expiration from a number of seconds that was computed or read; infinity means never.
    ///
    /// - Parameters:
    ///   - seconds: How long an entry is valid after it was written.
    ///   - jitter: The largest part of the age by which an entry's age is shortened at random, from 0 to 1.
    /// - Throws: ``VellumError/Code/invalidDuration`` if the number of seconds is negative or NaN, or the jitter is not a number from 0 to 1.
    public init(validatingSeconds seconds: Double, jitter: Double = 0) throws(VellumError) {
        try Self.validate(jitter: jitter)
        guard seconds >= 0 else {
            throw VellumError(.invalidDuration, "An age of \(seconds) seconds is not valid. Give zero or more, or infinity for no limit.")
        }
        self.init(age: Int64(exactly: (seconds * 1000).rounded(.up)) ?? .max, jitter: jitter)
    }

    /// An expiration under which entries stay valid forever.
    public static let never = Expiration(age: .max)

    @inlinable
    package var isNever: Bool { age == .max && idle == .max }

    /// Returns the expiration of entries that are valid for a duration after they were written.
    ///
    /// - Parameter duration: Zero expires immediately. A negative duration ends the process: use ``init(validating:unusedFor:jitter:)`` for a
    ///   computed one.
    public static func after(_ duration: Duration) -> Expiration {
        trusted { () throws(VellumError) in try Expiration(validating: duration) }
    }

    /// Returns the expiration of entries that are valid for a number of seconds after they were written.
    ///
    /// - Parameter seconds: Zero expires immediately, and infinity means never. A negative number or NaN ends the process: use
    ///   ``init(validatingSeconds:jitter:)`` for a computed one.
    public static func after(seconds: Double) -> Expiration {
        trusted { () throws(VellumError) in try Expiration(validatingSeconds: seconds) }
    }

    /// Returns the expiration of entries that are valid for a duration after they were last recorded or read: a sliding age.
    ///
    /// Listing, counting and queries do not extend it. An access counts immediately in this process, and within a second in the file; a
    /// process that is killed may lose that second.
    ///
    /// - Parameters:
    ///   - duration: How long an unused entry is valid.
    ///   - end: How long after it was written an entry expires, however often it is used; `nil` means no limit.
    ///
    /// A negative duration ends the process: use ``init(validating:unusedFor:jitter:)`` for a computed one.
    public static func unused(for duration: Duration, atMost end: Duration? = nil) -> Expiration {
        trusted { () throws(VellumError) in try Expiration(validating: end, unusedFor: duration) }
    }

    /// Returns the expiration with each entry's age shortened by a random part of at most `fraction` of it, so that entries that were
    /// recorded together do not all expire together.
    ///
    /// An entry's part is always the same, for every reader and process.
    ///
    /// - Parameter fraction: From 0 to 1. Anything else ends the process: use ``init(validating:unusedFor:jitter:)`` for a computed one.
    public func jittered(by fraction: Double) -> Expiration {
        Self.trusted { () throws(VellumError) in
            try Self.validate(jitter: fraction)
            return Expiration(age: age, idle: idle, jitter: fraction)
        }
    }

    private static func validate(jitter: Double) throws(VellumError) {
        guard jitter >= 0, jitter <= 1 else {
            throw VellumError(
                .invalidDuration,
                "A jitter of \(jitter) is not valid: it is the part of the age by which entries may expire earlier. Give 0 to 1.")
        }
    }

    /// Ends the process with the error's message, also in optimized builds.
    private static func trusted(_ make: () throws(VellumError) -> Expiration) -> Expiration {
        do throws(VellumError) {
            return try make()
        } catch {
            fatalError(error.message)
        }
    }

    /// Returns a duration in milliseconds, rounded up.
    @usableFromInline
    package static func milliseconds(_ duration: Duration, as name: StaticString = "age") throws(VellumError) -> Int64 {
        guard duration >= .zero else {
            throw VellumError(.invalidDuration, "The duration \(name) is \(duration). Give zero or more.")
        }
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return .max }
        let (sum, carried) = whole.addingReportingOverflow((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        return carried ? .max : sum
    }

    /// Returns the age limit, in milliseconds, of the entry that was written under the key at that time.
    @inlinable
    package func age(of key: EntryKey, written: WallInstant) -> Int64 {
        if jitter == 0 || age == .max { return age }
        return jitteredAge(of: key, written)
    }

    /// Returns the time span in which the entry that was written under the key at that time is valid.
    ///
    /// - Parameter key: Evaluated only if ages are jittered.
    @inlinable
    package func validity(of key: @autoclosure () -> EntryKey, written: WallInstant) -> Validity {
        guard !isNever else { return .forever }
        let age = jitter == 0 || age == .max ? age : jitteredAge(of: key(), written)
        return Validity(written: written, expires: written.advanced(byMilliseconds: age), idle: idle == .max ? nil : idle)
    }

    /// Computed from the key and the time alone, by FNV-1a, so that memory, the disk and every process get the same age.
    @usableFromInline
    func jitteredAge(of key: EntryKey, _ written: WallInstant) -> Int64 {
        var fnv = FNV1a(seed: UInt64(bitPattern: written.rawValue))
        key.withBytes { fnv.combine($0) }
        // The upper bits of a product are well mixed; one more multiplication mixes the change of the last byte.
        let share = Double((fnv.hash &* 0x9E37_79B9_7F4A_7C15) >> 11) / Double(UInt64.max >> 11)
        return age - Int64(Double(age) * jitter * share)
    }
}
