/// A line of a table, and its number format.
enum Line {
    static func print(_ cells: [String], _ widths: [Int]) {
        var line = "  "
        for (index, (cell, width)) in zip(cells, widths).enumerated() {
            let room = String(repeating: " ", count: max(0, width - cell.count))
            // Words are aligned to the left, numbers to the right.
            let isWords =
                index == 0 || width == 0 || (index == 1 && widths.count > 2)
                || (index == 2 && widths.count > 6)
            line += (isWords ? cell + room : room + cell) + "  "
        }
        while line.last == " " { line.removeLast() }
        Swift.print(line)
    }

    static func time(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1000: "\(number(nanoseconds)) ns"
        case ..<1_000_000: "\(number(nanoseconds / 1000)) µs"
        default: "\(number(nanoseconds / 1_000_000)) ms"
        }
    }

    /// Three significant digits: more would be noise.
    static func number(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        let places = abs(value) < 10 ? 2 : abs(value) < 100 ? 1 : 0
        let scale = [1.0, 10, 100][places]
        let rounded = (value * scale).rounded() / scale
        guard places > 0 else { return "\(Int(rounded))" }
        let parts = "\(rounded)".split(separator: ".")
        return parts[0] + "." + (parts.count > 1 ? parts[1] : "0").padding(places)
    }
}

extension StringProtocol {
    fileprivate func padding(_ count: Int) -> String {
        self + String(repeating: "0", count: Swift.max(0, count - self.count))
    }
}
