internal import Foundation

/// Conversion between dates and RFC 3339 texts.
enum RFC3339 {
    static func string(from date: Date) -> String { date.formatted(.iso8601) }

    /// Parses a date with whole or fractional seconds, in any time zone.
    static func date(from text: String) -> Date? {
        for style in [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)] {
            do { return try style.parse(text) } catch { continue }
        }
        return nil
    }
}
