/// Counts in the groups that a picture shows.
enum Buckets {
    /// Sizes by powers of two, from the least to the greatest that is there, with the empty ones
    /// between.
    static func sizes(_ counts: [Int: Int]) -> [Picture.Item] {
        var clamped: [Int: Int] = [:]
        for (exponent, count) in counts where count > 0 {
            clamped[min(max(exponent, -1), 62), default: 0] = Numbers.sum(
                clamped[min(max(exponent, -1), 62)] ?? 0,
                count
            )
        }
        guard var least = clamped.keys.min(),
            var greatest = clamped.keys.max()
        else { return [] }
        // A few empty ones beside them show where in the scale they are.
        while greatest - least < 4 {
            if greatest < 62 { greatest += 1 }
            if least > 0, greatest - least < 4 { least -= 1 }
        }
        return (least...greatest).map { exponent in
            let count = clamped[exponent] ?? 0
            return Picture.Item(
                label: shortSize(size(of: exponent)),
                value: count,
                text: Numbers.count(count)
            )
        }
    }

    /// The least size of a power; that of -1 is empty.
    static func size(of exponent: Int) -> Int {
        exponent < 0 ? 0 : 1 << min(exponent, 62)
    }

    /// `64 B`, `1 kB`, `16 MB`: of powers of two.
    private static func shortSize(_ bytes: Int) -> String {
        bytes < 1024 ? "\(bytes) B" : Numbers.size(bytes).replacing(".0", with: "")
    }

    private static let ageNames: [(days: Int, name: String)] = [
        (1, "today"),
        (2, "1 day"),
        (7, "2–6 days"),
        (30, "1–4 weeks"),
        (90, "1–3 months"),
        (365, "3–12 months"), (730, "1–2 years"),
        (.max, "2+ years"),
    ]

    /// Ages by days, up to the greatest that is there.
    static func ages(_ counts: [Int: Int]) -> [Picture.Item] {
        var sums = ageNames.map { _ in 0 }
        for (days, count) in counts {
            guard let index = ageNames.firstIndex(where: { days < $0.days || $0.days == .max })
            else { continue }
            sums[index] = Numbers.sum(sums[index], count)
        }
        guard let last = sums.lastIndex(where: { $0 > 0 }) else { return [] }
        return (0...last).map {
            Picture.Item(
                label: ageNames[$0].name,
                value: sums[$0],
                text: Numbers.count(sums[$0])
            )
        }
    }

    /// Versions of a type, the newest first.
    static func versions(_ counts: [Int: Int]) -> [Picture.Item] {
        counts.filter { $0.value > 0 }.sorted {
            $0.key > $1.key
        }.map { version, count in
            Picture.Item(
                label: version == 0 ? "no version" : "version \(version)",
                value: count,
                text: Numbers.count(count)
            )
        }
    }
}
