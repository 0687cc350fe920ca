internal import Foundation

/// Dates as people and programs read them. A date beyond the years 1 to 9999, which only a damaged
/// file has, has no text.
enum Dates {
    /// `2026-03-01 14:05` in a time zone.
    static func local(_ date: Date, zone: TimeZone) -> String? {
        parts(date, offset: zone).map { "\($0.day) \($0.clock.prefix(5))" }
    }

    /// `2026-03-01` in a time zone.
    static func day(_ date: Date, zone: TimeZone) -> String? {
        parts(date, offset: zone)?.day
    }

    /// `14:05:09` in a time zone.
    static func clock(_ date: Date, zone: TimeZone) -> String? {
        parts(date, offset: zone)?.clock
    }

    /// `2026-03-01T13:05:09.250Z` (RFC 3339).
    static func utc(_ date: Date) -> String? {
        guard isShown(date), let parts = parts(date, offset: nil) else { return nil }
        let seconds = date.timeIntervalSince1970
        let milliseconds = min(999, Int((seconds - seconds.rounded(.down)) * 1000))
        return "\(parts.day)T\(parts.clock).\(padded(milliseconds, 3))Z"
    }

    private static func isShown(_ date: Date) -> Bool {
        -62_135_596_800...253_402_214_400 ~= date.timeIntervalSince1970
    }

    private static func parts(
        _ date: Date,
        offset zone: TimeZone?
    ) -> (day: String, clock: String)? {
        guard isShown(date) else { return nil }
        let seconds =
            Int(date.timeIntervalSince1970.rounded(.down)) + (zone?.secondsFromGMT(for: date) ?? 0)
        let days = seconds >= 0 ? seconds / 86_400 : -((86_399 - seconds) / 86_400)
        let rest = seconds - days * 86_400
        let (year, month, day) = civil(days)
        return (
            "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))",
            "\(padded(rest / 3600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))"
        )
    }

    /// The date of a number of days after 1 January 1970, by the Gregorian calendar. A year begins
    /// in March here: the leap day is its last.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isAfterNewYear = month >= 10
        return (
            yearOfEra + era * 400 + (isAfterNewYear ? 1 : 0),
            isAfterNewYear ? month - 9 : month + 3, dayOfYear - (153 * month + 2) / 5 + 1
        )
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
