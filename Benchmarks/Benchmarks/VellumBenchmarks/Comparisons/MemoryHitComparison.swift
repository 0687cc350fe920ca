import Benchmark
import Foundation
import Samples
import Vellum

#if HAS_LRUCACHE
    import LRUCache
#endif

/// A read that memory answers, compared with a hand-written dictionary under the same lock.
enum MemoryHitComparison<Value: Subject> {
    private static var batch: Int { 1000 }

    static func make(_ scale: Scale, seconds: Double = 3) -> Comparison {
        Comparison(
            work: .memoryHit,
            subject: Value.title,
            scale: scale,
            sides: [("Vellum", nil), ("locked Dictionary", 1.2), ("NSCache", nil)]
                + (Library.lruCache.isThere ? [("LRUCache", nil)] : []),
            unallocating: ["Vellum"],
            notRun: Library.lruCache.isThere ? [:] : ["LRUCache": Library.lruCache.reasonNotRun],
            batch: batch,
            rounds: 10_000,
            seconds: seconds
        ) { workspace in
            let factory = ArchivesFactory(
                directory: try StoreFixture<Value>(workspace: workspace, count: scale.rawValue)
                    .folder(.vellum)
            )
            let store = try factory.store(
                for: Value.self,
                memoryLimit: .everything,
                diskLimit: .everything
            )
            let dictionary = LockedBox<[String: Value]>([:])
            let cache = NSCache<NSString, Box>()
            for index in 0..<scale.rawValue {
                let key = Value.key(index)
                guard let value = try store.access(archiveWithKey: key) else {
                    throw CocoaError(.fileNoSuchFile)
                }
                dictionary.withLock { $0[key] = value }
                cache.setObject(Box(value), forKey: NSString(string: key))
            }
            // The touches of the filling are written before the measurement.
            try store.flush()

            let keys = (0..<65_536).map { Value.key(Scatter.place($0) % scale.rawValue) }
            var start = 0
            let hit = { (key: String) in blackHole(try store.access(archiveWithKey: key)) }
            let lookUp = { (key: String) in blackHole(dictionary.withLock { $0[key] }) }
            let object = { (key: String) in
                blackHole(cache.object(forKey: NSString(string: key))?.value)
            }
            var turns = [
                Turn {
                    for key in keys[start..<start + batch] {
                        blackHole(try store.access(archiveWithKey: key))
                    }
                } tail: {
                    try timed(keys[start..<start + 50], hit)
                },
                Turn {
                    for key in keys[start..<start + batch] {
                        blackHole(dictionary.withLock { $0[key] })
                    }
                } tail: {
                    timed(keys[start..<start + 50], lookUp)
                },
                Turn {
                    for key in keys[start..<start + batch] {
                        blackHole(cache.object(forKey: NSString(string: key))?.value)
                    }
                } tail: {
                    timed(keys[start..<start + 50], object)
                },
            ]
            #if HAS_LRUCACHE
                let recent = LRUCache<String, Value>()
                for index in 0..<scale.rawValue {
                    recent.setValue(
                        dictionary.withLock { $0[Value.key(index)] },
                        forKey: Value.key(index)
                    )
                }
                turns.append(
                    Turn {
                        for key in keys[start..<start + batch] {
                            blackHole(recent.value(forKey: key))
                        }
                    } tail: {
                        timed(keys[start..<start + 50]) { blackHole(recent.value(forKey: $0)) }
                    }
                )
            #endif
            return Course(turns: turns) { _ in
                start = (start + batch) % (keys.count - batch)
            } end: {
                try factory.close()
            }
        }
    }

    /// The time of each operation, including the reading of the clock.
    private static func timed(
        _ keys: ArraySlice<String>,
        _ body: (String) throws -> Void
    ) rethrows -> [Double] {
        try keys.map { key in Double(try Stopwatch.time { try body(key) }.nanoseconds) }
    }

    private final class Box {
        let value: Value

        init(_ value: Value) { self.value = value }
    }
}
