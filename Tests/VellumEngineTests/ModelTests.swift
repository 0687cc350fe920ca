import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// P8: contents and totals match a dictionary, also after reopening.
@Suite(.ownThreads)
struct StoreModelTests {
    @Test(arguments: UInt64(1)...3, [Durability.relaxed, .crashSafe, .powerSafe])
    func randomOperationsMatchADictionary(_ seed: UInt64, _ durability: Durability) throws {
        let setup = try Setup()
        var random = SeededGenerator(seed: seed)
        let memory = DataSize(bytes: Int.random(in: 1...20_000, using: &random))
        func open() throws -> Store<Data> {
            try setup.store(memory: memory, durability: durability)
        }
        var store: Store<Data>? = try open()
        var model: [String: Data] = [:]
        let keys = ["", "/", "..", "é", "e\u{302}", "a\0b", "😀"] + (0..<60).map { "key \($0)" }
        for step in 0..<LongRun.number(600, usually: 250) {
            let key = random.element(of: keys)
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<40:
                let count =
                    Int.random(in: 0..<10, using: &random) == 0
                    ? Int.random(in: 0..<20_000, using: &random) : step % 200
                let value = Data(step, count: count)
                try store?.record(value, forKey: EntryKey(key))
                model[key] = value
            case 40..<70:
                #expect(
                    try store?.value(forKey: EntryKey(key)) == model[key],
                    "seed \(seed), step \(step)"
                )
            case 70..<80:
                #expect(
                    try store?.remove(EntryKey(key)) == (model.removeValue(forKey: key) != nil),
                    "seed \(seed), step \(step)"
                )
            case 80..<85:
                var transaction = StoreTransaction()
                for key in keys.shuffled(using: &random).prefix(5) {
                    guard let store else { break }
                    if Bool.random(using: &random) {
                        try transaction.record(
                            Data(step, count: 30),
                            forKey: EntryKey(key),
                            in: store
                        )
                        model[key] = Data(step, count: 30)
                    } else {
                        transaction.remove(EntryKey(key), in: store)
                        model[key] = nil
                    }
                }
                try transaction.commit()
            case 85..<88: try store?.flush()
            case 88..<90: store?.trimMemory(to: 1000)
            case 90..<91:
                try store?.removeAll()
                model = [:]
            case 91..<93:
                if Bool.random(using: &random) { try store?.close() }
                store = nil
                store = try open()
            default:
                #expect(try store?.count() == model.count, "seed \(seed), step \(step)")
                #expect(
                    try Set(store?.keys().map(\.normalized) ?? []) == Set(model.keys),
                    "seed \(seed), step \(step)"
                )
            }
            let bytes = model.values.reduce(0) { $0 + $1.count }
            #expect(
                try store?.statistics().disk == StorageUsage(entries: model.count, bytes: bytes),
                "seed \(seed), step \(step)"
            )
        }
        for key in keys { #expect(try store?.value(forKey: EntryKey(key)) == model[key]) }
        try store?.flush()
        try setup.open().waitForMaintenance()
        store = nil
        // The archive's stored totals match its table, and every touch belongs to an entry.
        let database = try RawDatabase(setup.url)
        #expect(try database.int("SELECT count(*) FROM entries") == model.count)
        #expect(
            try database.int(
                """
                SELECT entries + (SELECT count(*) FROM entries WHERE id >= (1 << 40) + next) FROM \
                archives
                """
            ) == model.count
        )
        #expect(
            try database.int(
                """
                SELECT (SELECT total(length(bytes)) FROM entries WHERE id < (1 << 40) + next) - \
                bytes FROM archives
                """
            ) == 0
        )
        #expect(
            try database.int(
                "SELECT count(*) FROM touches WHERE id NOT IN (SELECT id FROM entries)"
            ) == 0
        )
        #expect(
            try database.int("SELECT count(*) FROM recency")
                == database.int("SELECT recency FROM archives WHERE id = 1")
        )
        #expect(
            try database.int(
                """
                SELECT count(*) FROM touches u WHERE NOT EXISTS (SELECT 1 FROM recency m WHERE \
                m.stamp = u.stamp AND m.id = u.id)
                """
            )
                == 0
        )
        #expect(
            try database.int(
                """
                SELECT count(*) FROM entries WHERE id <= (SELECT (1 << 40) + low_water FROM \
                archives) AND id NOT IN (SELECT id FROM touches)
                """
            ) == 0
        )
    }
}
