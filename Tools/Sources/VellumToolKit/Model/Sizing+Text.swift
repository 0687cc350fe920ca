internal import Foundation
internal import VellumFiles

extension Sizing {
    /// The smallest limit with 95 % of the hits.
    private var enough: Int? { limit(keeping: 0.95)?.bytes }

    /// What the curve says, in a sentence.
    func sentence(limit: DataSize?) -> String {
        guard let enough else { return "Nothing that was read had been there before." }
        let size = Numbers.size(enough)
        guard let limit else { return "A limit of \(size) would keep 95 % of the hits." }
        return enough <= limit.bytes
            ? "The limit keeps 95 % of the hits. So would \(size)."
            : "To keep 95 % of the hits that no limit would lose, about \(size) is needed."
    }

    /// - Parameter written: When it was written.
    func json(written: Date?) -> JSON {
        func points(_ points: [Point]) -> JSON {
            .array(
                points.map {
                    ["limitBytes": .integer($0.limit.bytes), "hitRatio": .number($0.hitRatio)]
                }
            )
        }
        return [
            "memory": points(memory),
            "disk": points(disk),
            "curve": points(curve),
            "limitFor95PercentBytes": .optional(enough, JSON.integer),
            "written": .date(written),
        ]
    }
}
