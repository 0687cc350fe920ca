/// Reads moments by RFC 3339, strictly, and by the Gregorian calendar also before 1582, where
/// Foundation has the Julian one.
struct MomentText {
    private var rest: Substring.UTF8View

    private init(_ text: String) { rest = Substring(text).utf8 }

    /// The seconds since 1970 of `2026-03-01` or `2026-03-01T08:00:00.5Z`, and the part of a second
    /// after them; `nil` if the text is no moment of the years 1 to 9999.
    static func seconds(_ text: String) -> (whole: Int64, fraction: Double)? {
        var reader = MomentText(text)
        guard let day = reader.day() else { return nil }
        if reader.rest.isEmpty { return (day * 86_400, 0) }
        guard reader.skips("T"),
            let time = reader.time(),
            let fraction = reader.fraction(),
            let offset = reader.offset(),
            reader.rest.isEmpty
        else { return nil }
        return (day * 86_400 + time - offset, fraction)
    }

    /// The number of the day after 1970, by Howard Hinnant, "chrono-Compatible Low-Level Date
    /// Algorithms", `days_from_civil`.
    private mutating func day() -> Int64? {
        guard let year = number(4),
            year > 0,
            skips("-"),
            let month = number(2),
            1...12 ~= month,
            skips("-"), let day = number(2)
        else {
            return nil
        }
        let isLeap =
            year.isMultiple(of: 4)
            && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        guard day >= 1,
            day <= (month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31)
        else { return nil }
        let yearFromMarch = month > 2 ? year : year - 1
        let (era, yearOfEra) = yearFromMarch.quotientAndRemainder(dividingBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }

    private mutating func time() -> Int64? {
        guard let hour = number(2),
            hour < 24,
            skips(":"),
            let minute = number(2),
            minute < 60,
            skips(":"),
            let second = number(2), second < 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private mutating func fraction() -> Double? {
        guard skips(".") else { return 0 }
        let digits = rest.prefix { 0x30...0x39 ~= $0 }
        rest = rest[digits.endIndex...]
        return digits.isEmpty ? nil : Double("0.\(Substring(digits))")
    }

    /// The seconds by which the clock is ahead of that of Greenwich.
    private mutating func offset() -> Int64? {
        if skips("Z") { return 0 }
        let sign: Int64 = skips("+") ? 1 : -1
        guard sign == 1 || skips("-"),
            let hours = number(2),
            hours < 24
        else { return nil }
        _ = skips(":")
        guard let minutes = number(2), minutes < 60 else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }

    private mutating func number(_ digits: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<digits {
            guard let byte = rest.popFirst(), 0x30...0x39 ~= byte else { return nil }
            number = number * 10 + Int64(byte - 0x30)
        }
        return number
    }

    private mutating func skips(_ mark: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: mark) else { return false }
        rest.removeFirst()
        return true
    }
}
