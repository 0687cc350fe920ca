import Benchmark
import Samples
import Shallows

/// The cost of ordering among layers: a set to a composition of two memory storages, compared with
/// a set to each of them.
enum ShallowsSetComparison {
    static func make(_ scale: Scale) -> Comparison {
        let composed = ["completion", "sync", "async"].map { "two layers, \($0)" }
        return Comparison(
            work: .shallowsSet,
            subject: User.title,
            scale: scale,
            sides: (composed + ["two erased sets", "two bare sets"]).map { ($0, nil) },
            increments: [
                Outcome.Increment(title: "composing", ours: ["two erased sets", composed[0]])
            ],
            ratios: [
                Outcome.Ratio(composed[0], "two bare sets"),
                Outcome.Ratio(composed[1], "two bare sets"),
                Outcome.Ratio(composed[2], "two bare sets"),
            ],
            batch: Keys<User>.batch,
            rounds: 10_000,
            seconds: 4
        ) { _ in
            let users = (0..<scale.rawValue).map { User.make($0) }
            let filled = Dictionary(uniqueKeysWithValues: users.map { ($0.id, $0) })
            let (front, back) = (MemoryStorage(storage: filled), MemoryStorage(storage: filled))
            let (frontErased, backErased) = (front.asStorage(), back.asStorage())
            let two = front.combined(with: back)
            let sync = two.makeSyncStorage()
            let values = Keys((0..<65_536).map { users[Scatter.place($0) % scale.rawValue] })
            return Course(turns: [
                values.turn { for user in $0 { two.set(user, forKey: user.id) { blackHole($0) } } },
                values.turn { for user in $0 { try sync.set(user, forKey: user.id) } },
                values.turn(inTask: { for user in $0 { try await two.set(user, forKey: user.id) } }
                ),
                values.turn {
                    for user in $0 {
                        frontErased.set(user, forKey: user.id) { blackHole($0) }
                        backErased.set(user, forKey: user.id) { blackHole($0) }
                    }
                },
                values.turn {
                    for user in $0 {
                        front.set(user, forKey: user.id) { blackHole($0) }
                        back.set(user, forKey: user.id) { blackHole($0) }
                    }
                },
            ])
        }
    }
}
