import Benchmark
import Samples
import Vellum

/// `cache[key]` that the disk answers, beside an archive and a table by hand.
enum CacheDiskHitComparison {
    static func make(_ scale: Scale) -> Comparison {
        Comparison(
            work: .cacheDiskHit, subject: User.title, scale: scale,
            sides: [("MiniCache", nil), ("an archive", nil), ("leanest table", nil)]
        ) { desk in
            let side = try CacheSide(desk, .cacheDiskHit, scale, memory: 1.kiloByte)
            let path = try State<User>(desk: desk, count: scale.rawValue).path(.lean, "cache")
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
