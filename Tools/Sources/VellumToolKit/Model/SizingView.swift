internal import Foundation

/// What the hit ratio of an archive would be with other limits, as the program measured it that
/// used the archive last.
struct SizingView: Sendable, Equatable {
    struct Point: Sendable, Equatable {
        var limit: Int
        /// From 0 to 1.
        var hitRatio: Double

        var json: JSON { ["limitBytes": .integer(limit), "hitRatio": .number(hitRatio)] }
    }

    /// With 1/8 to 8 times the limit of memory.
    var memory: [Point] = []
    /// With 1/8 to 8 times the limit of the disk.
    var disk: [Point] = []
    /// By the limit, in small steps.
    var curve: [Point] = []
    /// When it was written.
    var written: Date?
    /// The smallest limit with 95 % of the hits.
    var enough: Int?

    /// What the curve says, in a sentence.
    func sentence(limit: Int?) -> String {
        guard let enough, let most = curve.last?.hitRatio, most > 0 else {
            return "Nothing that was read had been there before."
        }
        let size = Numbers.size(enough)
        guard let limit else { return "A limit of \(size) would keep 95 % of the hits." }
        return enough <= limit
            ? "The limit keeps 95 % of the hits. So would \(size)."
            : "To keep 95 % of the hits that no limit would lose, about \(size) is needed."
    }

    var json: JSON {
        [
            "memory": .array(
                memory.map(\.json)
            ), "disk": .array(disk.map(\.json)),
            "curve": .array(curve.map(\.json)),
            "limitFor95PercentBytes": .optional(enough, JSON.integer), "written": .date(written),
        ]
    }
}
