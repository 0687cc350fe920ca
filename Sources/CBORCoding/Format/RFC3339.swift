package import Foundation

/// Conversion between dates and texts of RFC 3339, which use the Gregorian calendar for all years
/// from 0 to 9999.
///
/// Foundation's style does not: before 1582 it uses the Julian calendar.
package enum RFC3339 {
    private static let epoch = Int(Date.timeIntervalBetween1970AndReferenceDate)

    /// Whether the date is in the years 0 to 9999.
    static func canRepresent(_ date: Date) -> Bool {
        -63_145_526_400..<252_423_993_600 ~= date.timeIntervalSinceReferenceDate
    }

    /// Returns a text in UTC and whole seconds. The date must be in the years 0 to 9999.
    static func string(from date: Date) -> String {
        string(Int(date.timeIntervalSinceReferenceDate.rounded(.down)) + epoch)
    }

    /// Returns a text that is read as exactly this date, with milliseconds if these suffice; `nil`
    /// if there is none of at most twenty decimals in the years 0 to 9999.
    package static func exactString(from date: Date) -> String? {
        guard canRepresent(date) else { return nil }
        let seconds = date.timeIntervalSinceReferenceDate.rounded(.down)
        let fraction = date.timeIntervalSinceReferenceDate - seconds
        if fraction == 0 { return string(from: date) }
        return [3, 6, 9, 20].lazy.map { digits in
            let decimals = String(format: "%.\(digits)f", fraction).dropFirst()
            return string(Int(seconds) + epoch, decimals: String(decimals))
        }
        .first { self.date(from: $0) == date }
    }

    /// Returns a text in UTC.
    ///
    /// - Parameters:
    ///   - seconds: The seconds since 1970, in the years 0 to 9999.
    ///   - decimals: A point and digits, or nothing.
    package static func string(_ seconds: Int, decimals: String = "") -> String {
        let text = String(unsafeUninitializedCapacity: length) { bytes in
            write(seconds, to: bytes)
            return length
        }
        return text + decimals + "Z"
    }

    /// How many bytes a moment has without decimals and an offset.
    package static let length = 19

    /// Writes ``length`` bytes: the seconds since 1970, in the years 0 to 9999.
    package static func write(_ seconds: Int, to bytes: UnsafeMutableBufferPointer<UInt8>) {
        let second = (seconds % 86400 + 86400) % 86400
        let (year, month, day) = Self.date(ofDay: (seconds - second) / 86400)
        var end = 0
        func add(_ number: Int, _ digits: Int, after mark: Unicode.Scalar? = nil) {
            if let mark {
                bytes[end] = UInt8(ascii: mark)
                end += 1
            }
            end += digits
            var rest = number
            for place in stride(from: end - 1, to: end - 1 - digits, by: -1) {
                bytes[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
        }
        add(year, 4)
        add(month, 2, after: "-")
        add(day, 2, after: "-")
        add(second / 3600, 2, after: "T")
        add(second / 60 % 60, 2, after: ":")
        add(second % 60, 2, after: ":")
    }

    /// Parses a date with a time and an offset. Returns `nil` for another form, and for a date or
    /// time that does not exist.
    ///
    /// A leap second is accepted at the end of a month in UTC, and becomes the second after it.
    package static func date(from text: String) -> Date? {
        let bytes = Array(text.utf8)
        guard let day = day(bytes.prefix(10)),
            has("T00:00:00", bytes.dropFirst(10).prefix(9))
        else { return nil }
        let hour = number(bytes[11..<13])
        let minute = number(bytes[14..<16])
        let second = number(bytes[17..<19])
        var rest = bytes[19...]
        var digits = rest.prefix(0)
        if rest.first == UInt8(ascii: ".") {
            digits = rest.dropFirst().prefix { has("0", [$0]) }
            guard !digits.isEmpty else { return nil }
            rest = rest[digits.endIndex...]
        }
        guard hour < 24,
            minute < 60,
            second <= 60,
            let offset = offset(rest)
        else { return nil }
        let seconds = day * 86400 + hour * 3600 + minute * 60 + second - offset
        guard
            second < 60
                || seconds % 86400 == 0
                    && date(ofDay: seconds / 86400).day == 1
        else {
            return nil
        }
        // More digits than these do not change a `Double`.
        let decimals = String(decoding: digits.prefix(20), as: UTF8.self)
        let fraction = Double("0." + decimals + "0") ?? 0
        return Date(timeIntervalSinceReferenceDate: Double(seconds - epoch) + fraction)
    }

    /// Parses a date without a time and returns its beginning in UTC. Returns `nil` for another
    /// form, and for a day that does not exist.
    static func fullDate(from text: String) -> Date? {
        day(Array(text.utf8)[...]).map {
            Date(timeIntervalSince1970: Double($0 * 86400))
        }
    }

    /// Parses a date and returns the number of days since 1 January 1970.
    private static func day(_ text: ArraySlice<UInt8>) -> Int? {
        guard has("0000-00-00", text) else { return nil }
        let year = number(text.prefix(4))
        let month = number(text[5..<7])
        let dayOfMonth = number(text.suffix(2))
        guard 1...12 ~= month,
            1..<(day(year, month + 1, 1) - day(year, month, 1) + 1) ~= dayOfMonth
        else { return nil }
        return day(year, month, dayOfMonth)
    }

    /// Parses `Z`, `+hh:mm` or `-hh:mm` and returns seconds.
    private static func offset(_ text: ArraySlice<UInt8>) -> Int? {
        if has("Z", text) { return 0 }
        guard has("+00:00", text) || has("-00:00", text) else { return nil }
        let hours = number(text.dropFirst().prefix(2))
        let minutes = number(text.suffix(2))
        guard hours < 24, minutes < 60 else { return nil }
        return (hours * 60 + minutes) * (text.first == UInt8(ascii: "-") ? -60 : 60)
    }

    /// Whether a text has a form, in which a zero represents any digit. Letters may be in lower
    /// case.
    private static func has(_ form: StaticString, _ text: ArraySlice<UInt8>) -> Bool {
        let form = UnsafeBufferPointer(start: form.utf8Start, count: form.utf8CodeUnitCount)
        return text.elementsEqual(form) { byte, expected in
            expected == UInt8(ascii: "0")
                ? UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                : byte == expected || expected >= UInt8(ascii: "A") && byte == expected | 0x20
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int {
        digits.reduce(0) { $0 * 10 + Int($1 & 0xF) }
    }

    // MARK: Calendar

    /// Returns the number of days since 1 January 1970. Month 13 is January of the next year.
    private static func day(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // A year that begins in March ends with its leap day. The 400 years that are added keep the
        // divisions from negative numbers.
        let years = year + (month < 3 ? 399 : 400)
        let months = (month + 9) % 12
        return years * 365
            + years / 4 - years / 100
            + years / 400
            + (months * 153 + 2) / 5
            + day
            - 865_566
    }

    /// The date of a day after 1970, by Howard Hinnant, "chrono-Compatible Low-Level Date
    /// Algorithms", `civil_from_days`.
    private static func date(
        ofDay day: Int
    ) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let leapDays = dayOfEra / 1460 - dayOfEra / 36_524 + dayOfEra / 146_096
        let year = (dayOfEra - leapDays) / 365
        let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
        let part = (5 * dayOfYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        let isAfterNewYear = month <= 2 ? 1 : 0
        return (
            year + era * 400 + isAfterNewYear, month, dayOfYear - (153 * part + 2) / 5 + 1
        )
    }
}
