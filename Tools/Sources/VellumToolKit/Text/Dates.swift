internal import Foundation
internal import VellumFiles

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
        return "\(parts.day)T\(parts.clock).\(String(1000 + milliseconds).dropFirst())Z"
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
        let text = CBORValue.tagged(1, .integer(Int128(seconds))).plainText
        let clock = text.dropFirst(11)
        return (String(text.prefix(10)), String(clock.prefix(8)))
    }
}
