import Benchmark
import Samples
import Vellum

/// A sum or an average that an index answers, compared with that of SQLite over plain numbers in a
/// table of its own with the same indexes.
enum AggregateComparison {
    static func make(_ work: Work, _ scale: Scale) -> Comparison {
        Comparison(
            work: work,
            subject: Resident.title,
            scale: scale,
            sides: [("Vellum", nil), ("SQL by hand", 1.5)],
            rounds: 300,
            seconds: 5
        ) { workspace in
            let fixture = StoreFixture<Resident>(workspace: workspace, count: scale.rawValue)
            let folder = try fixture.folder(.vellum)
            let factory = ArchivesFactory(directory: folder)
            let store = try factory.store(
                for: Resident.self,
                memoryLimit: 1.megaByte,
                diskLimit: .everything
            )
            let plain = folder.appendingPathComponent("plain.sqlite").path
            try fill(plain, with: try store.fetch())
            let sql =
                work == .querySum
                ? "SELECT SUM(points) FROM numbers" : "SELECT AVG(score) FROM numbers"
            let byHand = try RawDatabase(plain, RawDatabase.reading).prepare(sql)
            let ours = {
                work == .querySum
                    ? Double(try store.sum(of: \.points)) : try store.average(of: \.score) ?? 0
            }
            let theirs = {
                defer { byHand.reset() }
                return try byHand.step() ? byHand.double(0) : 0
            }
            let results = (try ours(), try theirs())
            precondition(abs(results.0 - results.1) <= abs(results.1) * 1e-9, "\(work): \(results)")
            return Course(
                turns: [Turn { blackHole(try ours()) }, Turn { blackHole(try theirs()) }],
                end: factory.close
            )
        }
    }

    private static func fill(_ path: String, with residents: [Resident]) throws {
        let database = try RawDatabase(path, RawDatabase.writing(.crashSafe))
        try database.execute(
            """
            CREATE TABLE numbers(id INTEGER PRIMARY KEY, city TEXT, points INTEGER, score REAL); \
            BEGIN
            """
        )
        let insert = try database.prepare(
            "INSERT INTO numbers(points, score, city) VALUES (?1, ?2, ?3)"
        )
        for resident in residents {
            insert.bind(Int64(resident.points), 1)
            insert.bind(real: resident.score, 2)
            insert.bind(text: resident.city, 3)
            try insert.run()
        }
        try database.execute(
            """
            COMMIT; CREATE INDEX by_points ON numbers(points); CREATE INDEX by_city ON \
            numbers(city, score)
            """
        )
    }
}
