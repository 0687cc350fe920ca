import Benchmark
import Foundation
import Samples
import Shallows

/// A hit in memory with each form of call: bare, through layers and through transforms.
///
/// All storages of Shallows share one dictionary, so that only the path to it is compared.
enum ShallowsHitComparison {
    private static let forms = ["completion", "sync", "async"]

    static func make(_ scale: Scale) -> Comparison {
        let ours = ["memory", "erased", "two layers", "three layers", "mapped"]
        // The sync form is the same for a storage and its erased form.
        let names = forms.flatMap { form in
            ours.filter { form != "sync" || $0 != "erased" }.map { "\($0), \(form)" }
        }
        return Comparison(
            work: .shallowsHit,
            subject: User.title,
            scale: scale,
            sides: names.map { ($0, nil) } + [
                ("locked Dictionary", nil), ("NSCache", nil), ("NSCacheStorage, completion", nil),
            ],
            increments: ours.map { name in
                let sync = name == "erased" ? "memory" : name
                return Outcome.Increment(
                    title: "sync",
                    ours: ["\(name), completion", "\(sync), sync"],
                    nanoseconds: 50
                )
            },
            ratios: forms.flatMap { form in
                [
                    Outcome.Ratio("two layers, \(form)", "memory, \(form)", limit: 2),
                    Outcome.Ratio("three layers, \(form)", "memory, \(form)"),
                    Outcome.Ratio("mapped, \(form)", "memory, \(form)"),
                ]
            },
            unallocating: names.filter { !$0.hasSuffix("async") },
            batch: Keys<String>.batch,
            rounds: 10_000,
            seconds: 6
        ) { _ in
            let users = (0..<scale.rawValue).map { User.make($0) }
            let memory = MemoryStorage(
                storage: Dictionary(uniqueKeysWithValues: users.map { ($0.id, $0) })
            )
            let erased = memory.asStorage()
            let two = memory.combined(with: MemoryStorage())
            let three = two.combined(with: MemoryStorage())
            let mapped = memory.mapKeys(to: Filename.self) { $0.rawValue }
                .mapValues(
                    to: Renamed.self,
                    transformIn: { Renamed(user: $0) },
                    transformOut: { $0.user }
                )
            let (memorySync, twoSync) = (memory.makeSyncStorage(), two.makeSyncStorage())
            let (threeSync, mappedSync) = (three.makeSyncStorage(), mapped.makeSyncStorage())
            let dictionary = LockedBox(memory.storage)
            let cache = NSCache<NSString, Box>()
            for user in users { cache.setObject(Box(user), forKey: NSString(string: user.id)) }
            let cached: Storage<String, Box> = NSCacheStorage(storage: cache).toNonObjCKeys()

            let ids = (0..<65_536).map { User.key(Scatter.place($0) % scale.rawValue) }
            let keys = Keys(ids), filenames = Keys(ids.map { Filename(rawValue: $0) })
            for id in ids.prefix(scale.rawValue) {
                let found = try [
                    memorySync.retrieve(forKey: id), twoSync.retrieve(forKey: id),
                    threeSync.retrieve(forKey: id),
                ]
                let user = try mappedSync.retrieve(forKey: Filename(rawValue: id)).user
                guard (found + [user]).allSatisfy({ $0.id == id }) else {
                    throw CocoaError(.coderInvalidValue)
                }
            }
            return Course(turns: [
                keys.turn { for key in $0 { memory.retrieve(forKey: key) { blackHole($0) } } },
                keys.turn { for key in $0 { erased.retrieve(forKey: key) { blackHole($0) } } },
                keys.turn { for key in $0 { two.retrieve(forKey: key) { blackHole($0) } } },
                keys.turn { for key in $0 { three.retrieve(forKey: key) { blackHole($0) } } },
                filenames.turn { for key in $0 { mapped.retrieve(forKey: key) { blackHole($0) } } },

                keys.turn { for key in $0 { blackHole(try memorySync.retrieve(forKey: key)) } },
                keys.turn { for key in $0 { blackHole(try twoSync.retrieve(forKey: key)) } },
                keys.turn { for key in $0 { blackHole(try threeSync.retrieve(forKey: key)) } },
                filenames.turn {
                    for key in $0 { blackHole(try mappedSync.retrieve(forKey: key)) }
                },

                keys.turn(inTask: {
                    for key in $0 { blackHole(try await memory.retrieve(forKey: key)) }
                }),
                keys.turn(inTask: {
                    for key in $0 { blackHole(try await erased.retrieve(forKey: key)) }
                }),
                keys.turn(inTask: {
                    for key in $0 { blackHole(try await two.retrieve(forKey: key)) }
                }),
                keys.turn(inTask: {
                    for key in $0 { blackHole(try await three.retrieve(forKey: key)) }
                }),
                filenames.turn(inTask: {
                    for key in $0 { blackHole(try await mapped.retrieve(forKey: key)) }
                }),

                keys.turn { for key in $0 { blackHole(dictionary.withLock { $0[key] }) } },
                keys.turn {
                    for key in $0 { blackHole(cache.object(forKey: NSString(string: key))?.user) }
                },
                keys.turn { for key in $0 { cached.retrieve(forKey: key) { blackHole($0) } } },
            ])
        }
    }

    /// The result of the transform of a user.
    private struct Renamed {
        let user: User
    }

    private final class Box: Sendable {
        let user: User

        init(_ user: User) { self.user = user }
    }
}
