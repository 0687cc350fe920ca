/// Numbers as people read them.
enum Numbers {
    /// A size in the largest unit that fits: `1.2 MB`. Units are binary, as everywhere in Vellum.
    static func size(_ bytes: Int) -> String {
        guard bytes != .max else { return "unlimited" }
        guard bytes.magnitude >= 1024 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
        let units = ["kB", "MB", "GB", "TB", "PB", "EB"]
        var size = Double(bytes) / 1024
        var unit = 0
        // What would be rounded to 1024.0 belongs to the next unit.
        while abs(size) >= 1023.95, unit < units.count - 1 {
            size /= 1024
            unit += 1
        }
        return "\(tenths(size)) \(units[unit])"
    }

    /// A number with a comma after each three digits: `28,298`.
    static func count(_ number: Int) -> String {
        var result = ""
        let digits = String(number.magnitude)
        for (position, digit) in digits.enumerated() {
            if position > 0, (digits.count - position).isMultiple(of: 3) {
                result.append(",")
            }
            result.append(digit)
        }
        return number < 0 ? "-" + result : result
    }

    /// A number of things: `1 entry`, `2 entries`.
    static func count(_ number: Int, _ one: String, _ many: String) -> String {
        "\(count(number)) \(number == 1 ? one : many)"
    }

    /// A sum that ends at the greatest number: a damaged file may say anything.
    static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? (left < 0 ? .min : .max) : sum
    }

    /// Of a whole, in percent. What is not all is never shown as 100.
    static func percent(_ part: Int, of whole: Int) -> Int {
        guard whole > 0, part > 0 else { return 0 }
        let percent = Double(part) / Double(whole) * 100
        guard percent < 999 else { return 999 }
        let rounded = Int(percent.rounded())
        return rounded >= 100 && part < whole ? 99 : rounded
    }

    /// The same as a text: what is there is never 0 %.
    static func share(_ part: Int, of whole: Int) -> String {
        let percent = percent(part, of: whole)
        return percent == 0 && part > 0 && whole > 0 ? "< 1 %" : "\(percent) %"
    }

    /// Seconds: `0.4 s`, `12 s`, `3 min`.
    static func seconds(_ seconds: Double) -> String {
        if !(seconds < 1e15) { return "for ever" }
        let units: [(size: Double, name: String)] = [
            (86_400, "days"), (3600, "h"),
            (60, "min"),
        ]
        for unit in units where seconds >= 2 * unit.size {
            return "\(Int((seconds / unit.size).rounded())) \(unit.name)"
        }
        return seconds < 10 ? "\(tenths(seconds)) s" : "\(Int(seconds.rounded())) s"
    }

    private static func tenths(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
    }
}
