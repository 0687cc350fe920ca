import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// A use that is dated impossibly is damage: it switches no limit off and hides nothing (FS3).
@Suite(.ownThreads)
struct StampTests {
    private static let stamps: [Int64] = [
        .max, .max - 1, .max - (1 << 20), .min, -1, .max - (.max >> 3) + 1,
    ]
    private static let places = [
        "UPDATE entries SET stamp = ? WHERE id = (SELECT max(id) FROM entries)",
        "UPDATE entries SET stamp = ? WHERE id = (SELECT min(id) FROM entries)",
        "UPDATE entries SET stamp = ? WHERE id = (SELECT min(id) + 5 FROM entries)",
        "UPDATE recency SET stamp = ? WHERE stamp = (SELECT min(stamp) FROM recency)",
        "UPDATE recency SET stamp = ? WHERE stamp = (SELECT max(stamp) FROM recency)",
        "UPDATE touches SET stamp = ? WHERE id = (SELECT min(id) FROM touches)",
    ]

    private func setup() throws -> Setup {
        let setup = try Setup()
        let store = try setup.store(disk: DataSize(bytes: 300))
        for number in 0..<20 {
            try store.record(Data(number, count: 10), forKey: EntryKey("\(number)"))
        }
        store.trimMemory(to: .zero)
        for number in 0..<10 { _ = try store.value(forKey: EntryKey("\(number)")) }
        try setup.close()
        return setup
    }

    @Test(arguments: places, stamps)
    func theLimitHoldsOrDamageIsReported(place: String, stamp: Int64) throws {
        let setup = try setup()
        try RawDatabase(setup.url).execute(place.replacingOccurrences(of: "?", with: "\(stamp)"))
        var store = try setup.store(disk: DataSize(bytes: 300))
        // A use that no longer fits its entry hides one entry from the list, until the file is
        // verified.
        #expect(try store.keys().count >= 19)
        for number in 0..<LongRun.number(200, usually: 60) {
            let error = code {
                try store.record(Data(number, count: 10), forKey: EntryKey("new \(number)"))
            }
            guard error != nil else { continue }
            #expect(error == .damagedFile)
            // The next opening repairs it.
            try setup.close()
            store = try setup.store(disk: DataSize(bytes: 300))
        }
        #expect(try store.statistics().disk.bytes <= 300)
        #expect(try store.keys().count >= store.count() - 1)
        _ = try setup.open().verify()
        try setup.close()
        store = try setup.store(disk: DataSize(bytes: 300))
        #expect(try store.keys().count == store.count())
        #expect(try setup.open().verify().isIntact)
    }

    /// A clock that was wrong gives dates that are far in the future, and no damage.
    @Test(arguments: [4_000_000_000.0, 7_000_000_000, 100_000_000_000, .greatestFiniteMagnitude])
    func aClockThatWasWrongIsNoDamage(seconds: Double) throws {
        let setup = try Setup()
        let now = setup.clock.now
        setup.clock.now = WallInstant(Date(timeIntervalSince1970: seconds))
        let store = try setup.store(disk: DataSize(bytes: 100))
        for number in 0..<20 {
            try store.record(Data(number, count: 10), forKey: EntryKey("\(number)"))
        }
        setup.clock.now = now
        for number in 20..<40 {
            try store.record(Data(number, count: 10), forKey: EntryKey("\(number)"))
        }
        let keys = try store.keys().map(\.normalized)
        // Those before are in memory.
        #expect(Array(keys.prefix(10)) == (30..<40).reversed().map { "\($0)" })
        try setup.close()
        let again = try setup.store(disk: DataSize(bytes: 100))
        try again.record(Data(1, count: 10), forKey: "last")
        #expect(try again.keys().first == "last")
        #expect(try again.count() == 10)
        #expect(try setup.open().verify().isIntact)
    }
}
