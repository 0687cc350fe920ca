import Benchmark
import Samples
import Vellum

/// A user that is read, changed and recorded. Memory has all users, but for one side.
enum UpdateComparison {
    static func make(_ scale: Scale) -> Comparison {
        Comparison(
            work: .update,
            subject: User.title,
            scale: scale,
            sides: [
                ("Vellum", nil), ("Vellum, not in memory", nil),
                ("access and record, not atomic", nil), ("record", 1.4),
                ("GRDB write", 0.3),
            ],
            rounds: 2000,
            seconds: 5
        ) { workspace in
            let fixture = StoreFixture<User>(workspace: workspace, count: scale.rawValue)
            func open(
                _ purpose: String,
                memory: DataSize = 16.megaByte
            ) throws -> (ArchivesFactory, ArchiveStore<User>) {
                let factory = ArchivesFactory(directory: try fixture.folder(.vellum, purpose))
                let store = try factory.store(
                    for: User.self,
                    memoryLimit: memory,
                    diskLimit: .everything
                )
                for index in 0..<scale.rawValue {
                    _ = try store.access(archiveWithKey: User.key(index))
                }
                return (factory, store)
            }
            let (updating, apart, recording) = (
                try open(""), try open("apart"), try open("recording")
            )
            let onDisk = try open("disk", memory: 1.kiloByte)
            let peer = try Peer<User>(try fixture.path(.grdb), .crashSafe)
            var (user, key) = (User.make(0), "")
            return Course(turns: [
                Turn {
                    try updating.1.update(archiveWithKey: key) { $0 = $0.map { $0.aged(as: user) } }
                },
                Turn {
                    try onDisk.1.update(archiveWithKey: key) { $0 = $0.map { $0.aged(as: user) } }
                },
                Turn {
                    guard let old = try apart.1.access(archiveWithKey: key) else { return }
                    try apart.1.record(old.aged(as: user))
                },
                Turn { try recording.1.record(user) },
                Turn {
                    try peer.pool.write { database in
                        guard let old = try User.fetchOne(database, key: key) else { return }
                        try old.aged(as: user).upsert(database)
                    }
                },
            ]) { round in
                user = User.make(Scatter.place(round) % scale.rawValue, changedIn: round)
                key = user.primaryKey
            } end: {
                for (factory, _) in [updating, onDisk, apart, recording] { try factory.close() }
                try peer.close()
            }
        }
    }
}

/// Fifty users that are on disk.
enum ManyKeysComparison {
    static func make(_ scale: Scale) -> Comparison {
        Comparison(
            work: .manyKeys,
            subject: User.title,
            scale: scale,
            sides: [("Vellum", nil), ("a call for each", 0.5), ("GRDB", nil)],
            batch: 50,
            rounds: 500
        ) { workspace in
            let fixture = StoreFixture<User>(workspace: workspace, count: scale.rawValue)
            let factories = try ["", "each"].map {
                ArchivesFactory(directory: try fixture.folder(.vellum, $0))
            }
            let stores = try factories.map {
                try $0.store(for: User.self, memoryLimit: 1.kiloByte, diskLimit: .everything)
            }
            let peer = try Peer<User>(try fixture.path(.grdb), .crashSafe)
            var keys: [String] = []
            return Course(turns: [
                Turn { blackHole(try stores[0].access(allKeys: keys)) },
                Turn { for key in keys { blackHole(try stores[1].access(archiveWithKey: key)) } },
                Turn { blackHole(try peer.pool.read { try User.fetchAll($0, keys: keys) }) },
            ]) { round in
                keys = (0..<50).map { User.key((round * 50 + $0) * 7_919 % scale.rawValue) }
            } end: {
                for factory in factories { try factory.close() }
                try peer.close()
            }
        }
    }
}

extension User {
    fileprivate func aged(as other: User) -> User {
        User(id: id, name: name, email: email, age: other.age, score: score, isActive: isActive)
    }
}
