/// How long an entry stays valid: for so long after it was written, for so long after it was last used, or both.
///
/// ```swift
/// try store.record(user, forKey: "ann", expiration: .after(.seconds(60)))
/// let session = try Expiration.unused(for: .seconds(1800), atMost: .seconds(86_400))
/// ```
///
/// Given when an entry is recorded it is the entry's own, and every reader goes by it. An entry that has none of its own is
/// judged by what its reader says when it reads, so that two readers with different ages share it and each takes it for as
/// long as it likes.
///
/// Ages are counted by the wall clock, because they are persisted, in whole milliseconds.
@frozen
public struct Expiration: Hashable, Sendable {
    /// Milliseconds from the writing; `.max` is for ever.
    public let age: Int64
    /// Milliseconds from the last use; `.max` is for ever.
    public let idle: Int64
    /// By what part of itself the age of an entry may be shortened at random, 0 to 1.
    public let jitter: Double

    package init(age: Int64, idle: Int64 = .max, jitter: Double = 0) {
        self.age = age
        self.idle = idle
        self.jitter = jitter
    }

    /// For ever.
    public static let never = Expiration(age: .max)

    @inlinable
    package var isNever: Bool { age == .max && idle == .max }

    /// For so long after it was written. Less than a millisecond rounds up to one; zero expires at once.
    ///
    /// - Throws: ``StoreError/Code/invalidDuration`` if the duration is negative.
    public static func after(_ duration: Duration) throws(StoreError) -> Expiration {
        Expiration(age: try milliseconds(duration))
    }

    /// For so many seconds after it was written; infinity is for ever.
    ///
    /// - Throws: ``StoreError/Code/invalidDuration`` if the number of seconds is negative or not a number.
    public static func after(seconds: Double) throws(StoreError) -> Expiration {
        guard seconds >= 0 else {
            throw StoreError(.invalidDuration, "An age must be a number of seconds of zero or more; infinity is for ever.")
        }
        return Expiration(age: Int64(exactly: (seconds * 1000).rounded(.up)) ?? .max)
    }

    /// For so long after it was last recorded or read: a sliding age. Listing, counting and queries are no uses.
    ///
    /// A use counts at once in this process, and within a second in the file; a process that is killed may lose that second.
    ///
    /// - Parameter end: How long after it was written it expires at the latest, however often it is used.
    /// - Throws: ``StoreError/Code/invalidDuration`` if a duration is negative.
    public static func unused(for duration: Duration, atMost end: Duration? = nil) throws(StoreError) -> Expiration {
        let age = if let end { try milliseconds(end) } else { Int64.max }
        return Expiration(age: age, idle: try milliseconds(duration))
    }

    /// The same, with each entry's age shortened by a random part of at most `fraction` of it, so that entries recorded
    /// together do not all expire together. An entry's share is always the same, whoever asks.
    ///
    /// - Throws: ``StoreError/Code/invalidDuration`` if the fraction is not a number from 0 to 1.
    public func jittered(by fraction: Double) throws(StoreError) -> Expiration {
        guard fraction >= 0, fraction <= 1 else {
            throw StoreError(.invalidDuration, "A jitter must be a part of the age, from 0 to 1.")
        }
        return Expiration(age: age, idle: idle, jitter: fraction)
    }

    /// A duration in milliseconds, rounded up.
    @usableFromInline
    package static func milliseconds(_ duration: Duration) throws(StoreError) -> Int64 {
        guard duration >= .zero else {
            throw StoreError(.invalidDuration, "A duration must be zero or more: an entry cannot expire before it is written.")
        }
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return .max }
        let (sum, carried) = whole.addingReportingOverflow((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        return carried ? .max : sum
    }

    /// The age of the entry that was written under the key at that moment.
    @inlinable
    package func age(of key: EntryKey, written: WallInstant) -> Int64 {
        if jitter == 0 || age == .max { return age }
        return jitteredAge(of: key, written)
    }

    /// When the entry that was written under the key at that moment is valid.
    ///
    /// - Parameter key: Asked for only where it matters, which is where ages are jittered.
    @inlinable
    public func validity(of key: @autoclosure () -> EntryKey, written: WallInstant) -> Validity {
        guard !isNever else { return .forever }
        let age = jitter == 0 || age == .max ? age : jitteredAge(of: key(), written)
        return Validity(written: written, expires: written.advanced(byMilliseconds: age), idle: idle == .max ? nil : idle)
    }

    /// Drawn from key and moment alone, by FNV-1a, so that memory, disk and every process come to the same.
    @usableFromInline
    func jitteredAge(of key: EntryKey, _ written: WallInstant) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(bitPattern: written.rawValue)
        key.withBytes { bytes in
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        }
        // Its upper bits are the well mixed ones of a product; a last one mixes what the last byte changed.
        let share = Double((hash &* 0x9E37_79B9_7F4A_7C15) >> 11) / Double(UInt64.max >> 11)
        return age - Int64(Double(age) * jitter * share)
    }
}
