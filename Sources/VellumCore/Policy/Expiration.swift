// Decision 41.

/// How long an entry stays valid: for a time after it was written, for a time after it was last
/// used, or both.
///
/// ```swift
/// try store.record(user, forKey: "ann", expiration: .after(.seconds(60)))
/// let session = Expiration.unused(
///     for: .seconds(1800), atMost: .seconds(86_400))
/// let computed = try Expiration(validatingSeconds: response.maxAge)
/// ```
///
/// An expiration given when an entry is recorded belongs to the entry and applies to every reader.
/// The expiration of an entry without one is that of each reader, so two readers with different
/// ages can share the entry.
///
/// Ages are measured by the wall clock, because they are persisted, in whole milliseconds. Less
/// than a millisecond rounds up to one.
///
/// A negative duration has expired at once, and infinity, or a duration too long for 64 bits, means
/// never. NaN, or a jitter that is not from 0 to 1, is ``VellumError/Code/invalidDuration``: the
/// initializers throw it; of an expiration that a factory made, what records with it or opens with
/// it throws it, and where nothing can throw, it has expired at once.
@frozen
public struct Expiration: Hashable, Sendable {
    /// The milliseconds from the writing to the end; `.max` means never.
    public let age: Int64
    /// The milliseconds from the last use to the end; `.max` means never.
    public let idle: Int64
    /// The largest part of the age by which an entry's age is shortened at random, from 0 to 1.
    public let jitter: Double

    /// Of an invalid jitter, `check()` throws the error.
    package init(age: Int64, idle: Int64 = .max, jitter: Double = 0) {
        let isValid = jitter >= 0 && jitter <= 1 && age != Self.invalid
        (self.age, self.idle, self.jitter) =
            isValid
            ? (age, idle, jitter)
            : (Self.invalid, .max, 0)
    }

    /// Creates an expiration from durations that were computed or read.
    ///
    /// - Parameters:
    ///   - age: How long an entry is valid after it was written; `nil` means no limit.
    ///   - idle: How long an entry is valid after it was last recorded or read; `nil` means no
    ///     limit.
    ///   - jitter: The largest part of the age by which an entry's age is shortened at random, from
    ///     0 to 1.
    /// - Throws: ``VellumError/Code/invalidDuration`` if the jitter is not a number from 0 to 1.
    public init(
        validating age: Duration?,
        unusedFor idle: Duration? = nil,
        jitter: Double = 0
    ) throws(VellumError) {
        self.init(
            age: age.map(Self.milliseconds) ?? .max,
            idle: idle.map(Self.milliseconds) ?? .max,
            jitter: jitter
        )
        try check()
    }

    /// Creates an expiration from a number of seconds that was computed or read; infinity means
    /// never.
    ///
    /// - Parameters:
    ///   - seconds: How long an entry is valid after it was written.
    ///   - jitter: The largest part of the age by which an entry's age is shortened at random, from
    ///     0 to 1.
    /// - Throws: ``VellumError/Code/invalidDuration`` if the number of seconds is NaN, or the
    ///   jitter is not a number from 0 to 1.
    public init(validatingSeconds seconds: Double, jitter: Double = 0) throws(VellumError) {
        self.init(age: Self.milliseconds(seconds), jitter: jitter)
        try check()
    }

    /// An expiration under which entries stay valid forever.
    public static let never = Expiration(age: .max)

    @inlinable
    package var isNever: Bool { age == .max && idle == .max }

    /// Returns the expiration of entries that are valid for a duration after they were written.
    ///
    /// - Parameter duration: Zero or less expires immediately.
    public static func after(_ duration: Duration) -> Expiration {
        Expiration(age: milliseconds(duration))
    }

    /// Returns the expiration of entries that are valid for a number of seconds after they were
    /// written.
    ///
    /// - Parameter seconds: Zero or less expires immediately, and infinity means never. NaN is an
    ///   error where the expiration is used.
    public static func after(seconds: Double) -> Expiration {
        Expiration(age: milliseconds(seconds))
    }

    /// Returns the expiration of entries that are valid for a duration after they were last
    /// recorded or read: a sliding age.
    ///
    /// Listing, counting and queries do not extend it. An access counts immediately in this
    /// process, and within a second in the file; a process that is killed may lose that second.
    ///
    /// - Parameters:
    ///   - duration: How long an unused entry is valid.
    ///   - end: How long after it was written an entry expires, however often it is used; `nil`
    ///     means no limit.
    public static func unused(for duration: Duration, atMost end: Duration? = nil) -> Expiration {
        Expiration(age: end.map(milliseconds) ?? .max, idle: milliseconds(duration))
    }

    /// Returns the expiration with each entry's age shortened by a random part of at most
    /// `fraction` of it, so that entries that were recorded together do not all expire together.
    ///
    /// An entry's part is always the same, for every reader and process.
    ///
    /// - Parameter fraction: From 0 to 1. Anything else is an error where the expiration is used.
    public func jittered(by fraction: Double) -> Expiration {
        Expiration(age: age, idle: idle, jitter: fraction)
    }

    /// The age of an invalid expiration. It has expired at once for those who do not check it.
    @usableFromInline static let invalid = Int64.min

    /// Throws ``VellumError/Code/invalidDuration`` for an age of NaN, or a jitter that is not from
    /// 0 to 1.
    @inlinable
    package func check() throws(VellumError) {
        guard age == .min else { return }
        throw .noExpiration
    }

    /// Returns a duration in milliseconds, rounded up; 0 for a negative one (decision 70).
    package static func milliseconds(_ duration: Duration) -> Int64 {
        guard duration > .zero else { return 0 }
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return .max }
        let (sum, carried) = whole.addingReportingOverflow(
            (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        )
        return carried ? .max : sum
    }

    /// The same of a number of seconds.
    private static func milliseconds(_ seconds: Double) -> Int64 {
        seconds.isNaN
            ? invalid
            : Int64(exactly: (max(0, seconds) * 1000).rounded(.up)) ?? .max
    }

    /// Returns the age limit, in milliseconds, of the entry that was written under the key at that
    /// time.
    @inlinable
    package func age(of key: EntryKey, written: WallInstant) -> Int64 {
        if jitter == 0 || age == .max { return age }
        return jitteredAge(of: key, written)
    }

    /// Returns the time span in which the entry that was written under the key at that time is
    /// valid.
    ///
    /// - Parameter key: Evaluated only if ages are jittered.
    @inlinable
    package func validity(of key: @autoclosure () -> EntryKey, written: WallInstant) -> Validity {
        guard !isNever else { return .forever }
        let age = jitter == 0 || age == .max ? age : jitteredAge(of: key(), written)
        return Validity(
            written: written,
            expires: written.advanced(byMilliseconds: age),
            idle: idle == .max ? nil : idle
        )
    }

    /// Computed from the key and the time alone, by FNV-1a, so that memory, the disk and every
    /// process get the same age.
    @usableFromInline
    func jitteredAge(of key: EntryKey, _ written: WallInstant) -> Int64 {
        var fnv = FNV1a(seed: UInt64(bitPattern: written.rawValue))
        key.withBytes { fnv.combine($0) }
        // The upper bits of a product are well mixed; one more multiplication mixes the change of
        // the last byte.
        let share = Double((fnv.hash &* 0x9E37_79B9_7F4A_7C15) >> 11) / Double(UInt64.max >> 11)
        return age - Int64(Double(age) * jitter * share)
    }
}

extension VellumError {
    @usableFromInline static var noExpiration: VellumError {
        VellumError(
            .invalidDuration,
            """
            An age is NaN, or a jitter is not a number from 0 to 1. Give a number of seconds, or \
            infinity for no limit; a jitter is the part of the age by which entries may expire \
            earlier.
            """
        )
    }
}
