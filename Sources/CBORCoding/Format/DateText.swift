internal import Foundation

/// Dates as texts of RFC 3339.
enum DateText {
    static func of(_ date: Date) -> String { date.formatted(.iso8601) }

    /// With whole seconds or parts of them, in any time zone.
    static func date(of text: String) -> Date? {
        for style in [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)] {
            do { return try style.parse(text) } catch { continue }
        }
        return nil
    }
}
