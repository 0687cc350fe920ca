import Benchmark
import Samples
import Vellum

/// `cache[key]` that memory answers, compared with an archive.
enum CacheHitComparison {
    static let batch = 1000

    static func make(_ scale: Scale) -> Comparison {
        Comparison(
            work: .cacheHit,
            subject: User.title,
            scale: scale,
            sides: [("MiniCache", nil), ("an archive", 1.1), ("locked Dictionary", nil)],
            batch: batch,
            rounds: 10_000,
            seconds: 3
        ) { workspace in
            let side = try CacheSide(workspace, .cacheHit, scale, memory: .everything)
            let dictionary = LockedBox<[String: User]>([:])
            for index in 0..<scale.rawValue {
                let user = User.make(index)
                dictionary.withLock { $0[user.primaryKey] = user }
            }
            let keys = CacheSide.keys(scale)
            var start = 0
            return Course(
                turns: [
                    Turn { for key in keys[start..<start + batch] { blackHole(side.cache[key]) } },
                    Turn {
                        for key in keys[start..<start + batch] {
                            blackHole(try side.archive.access(archiveWithKey: key))
                        }
                    },
                    Turn {
                        for key in keys[start..<start + batch] {
                            blackHole(dictionary.withLock { $0[key] })
                        }
                    },
                ]
            ) { _ in
                start = (start + batch) % (keys.count - batch)
            } end: {
                try side.close()
            }
        }
    }
}

/// `value(forKey:orLoad:)` on a hit, compared with `cache[key]`.
enum CacheLoadComparison {
    private static let batch = 1000

    static func make(_ scale: Scale) -> Comparison {
        Comparison(
            work: .cacheLoad,
            subject: User.title,
            scale: scale,
            sides: [("MiniCache, orLoad", nil), ("MiniCache, subscript", 2)],
            batch: batch,
            rounds: 10_000,
            seconds: 3
        ) { workspace in
            let side = try CacheSide(workspace, .cacheLoad, scale, memory: .everything)
            let cache = side.cache
            let keys = CacheSide.keys(scale)
            var start = 0
            return Course(
                turns: [
                    Turn {
                        let batch = keys[start..<start + batch]
                        // On this thread, because nothing waits, so that allocations are counted.
                        guard #available(macOS 26, *) else { return }
                        let task = Task.immediate {
                            for key in batch {
                                blackHole(
                                    try await cache.value(forKey: key) { throw CancellationError() }
                                )
                            }
                        }
                        blackHole(task)
                    },
                    Turn { for key in keys[start..<start + batch] { blackHole(cache[key]) } },
                ]
            ) { _ in
                start = (start + batch) % (keys.count - batch)
            } end: {
                try side.close()
            }
        }
    }
}
