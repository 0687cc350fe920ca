import Benchmark
import Samples
import Vellum

/// `cache[key] = value`, compared with an archive and hand-written SQLite. `beside_diskcache.py`
/// compares with python-diskcache.
enum CacheSetComparison {
    static func make(_ work: Work, _ scale: Scale) -> Comparison {
        Comparison(
            work: work,
            subject: User.title,
            scale: scale,
            sides: [("MiniCache", nil), ("an archive", nil), ("leanest table", nil)],
            rounds: 2000,
            seconds: 5
        ) { workspace in
            let side = try CacheSide(workspace, work, scale, memory: 16.megaByte)
            let lean = try LeanTable<User>(
                try StoreFixture<User>(workspace: workspace, count: scale.rawValue).path(
                    .lean,
                    "set"
                ),
                .crashSafe
            )
            let fresh = Scatter.fresh()
            var value = User.make(0)
            return Course(
                turns: [
                    Turn { side.cache[value.primaryKey] = value },
                    Turn { try side.archive.record(value) },
                    Turn { try lean.record(value) },
                ]
            ) { round in
                value =
                    work == .cacheSetOver
                    ? User.make(Scatter.place(round) % scale.rawValue, changedIn: round)
                    : User.make(fresh + round)
            } end: {
                try side.close()
                lean.close()
            }
        }
    }
}
