import Benchmark
import Samples
import Vellum

/// `cache[key]` that the disk answers, compared with an archive and a hand-written table.
enum CacheDiskHitComparison {
    static func make(_ scale: Scale) -> Comparison {
        Comparison(
            work: .cacheDiskHit,
            subject: User.title,
            scale: scale,
            sides: [("MiniCache", nil), ("an archive", nil), ("leanest table", nil)]
        ) { workspace in
            let side = try CacheSide(workspace, .cacheDiskHit, scale, memory: 1.kiloByte)
            let path = try StoreFixture<User>(workspace: workspace, count: scale.rawValue).path(
                .lean,
                "cache"
            )
            let lean = try LeanReader<User>(path)
            let keys = CacheSide.keys(scale)
            var key = ""
            return Course(
                turns: [
                    Turn { blackHole(side.cache[key]) },
                    Turn { blackHole(try side.archive.access(archiveWithKey: key)) },
                    Turn { blackHole(try lean.value(key)) },
                ]
            ) { round in
                key = keys[round % keys.count]
            } end: {
                try side.close()
            }
        }
    }
}
