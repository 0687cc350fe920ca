/// How long an entry stays valid.
public struct Expiration: Hashable, Sendable {
    /// Milliseconds from the writing; `nil` is for ever.
    private let milliseconds: Int64?

    private init(milliseconds: Int64?) { self.milliseconds = milliseconds }

    /// For ever.
    public static let never = Expiration(milliseconds: nil)

    /// For so long after it was written. Less than a millisecond rounds up to one; zero expires at once.
    ///
    /// - Throws: ``StoreError/Code/invalidDuration`` if the duration is negative.
    public static func after(_ duration: Duration) throws(StoreError) -> Expiration {
        guard duration >= .zero else {
            throw StoreError(.invalidDuration, "An entry cannot expire before it is written. Give a duration of zero or more.")
        }
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return .never }
        let (sum, carried) = whole.addingReportingOverflow((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        return carried ? .never : Expiration(milliseconds: sum)
    }

    /// For so many seconds after it was written; infinity is for ever.
    ///
    /// - Throws: ``StoreError/Code/invalidDuration`` if the number of seconds is negative or not a number.
    public static func after(seconds: Double) throws(StoreError) -> Expiration {
        guard seconds >= 0 else {
            throw StoreError(.invalidDuration, "An age must be a number of seconds of zero or more; infinity is for ever.")
        }
        let milliseconds = (seconds * 1000).rounded(.up)
        guard let whole = Int64(exactly: milliseconds) else { return .never }
        return Expiration(milliseconds: whole)
    }

    /// When an entry written at `written` stops being valid.
    public func end(from written: WallInstant) -> WallInstant? {
        guard let milliseconds else { return nil }
        let end = written.advanced(byMilliseconds: milliseconds)
        return end.rawValue == .max ? nil : end
    }
}
