import CBORCoding
import Foundation
import Testing

/// What takes n steps takes four times as long for four times as much, and not sixteen times.
@Suite("Linear time", .timeLimit(.minutes(10)), .serialized)
struct LinearTimeTests {
    /// How much longer four times as much takes, at best.
    private func growth(_ count: Int, _ run: (Int) throws -> () throws -> Void) throws -> Double {
        let (small, large) = (try run(count), try run(count * 4))
        let clock = ContinuousClock()
        var (least, leastLarge) = (Duration.seconds(1000), Duration.seconds(1000))
        for _ in 0..<5 {
            least = min(least, try clock.measure(small))
            leastLarge = min(leastLarge, try clock.measure(large))
        }
        return leastLarge / least
    }

    @Test func decodingWithAttemptsThatFail() throws {
        let growth = try growth(500) { (count) throws in
            let data = try encoded(Array(repeating: "text", count: count))
            return { () throws in #expect(try decoded(Tree.self, data) != .null) }
        }
        #expect(growth < 9)
    }

    /// The path of an error is as long as its place is deep, and so may be what it takes; not more.
    @Test func decodingMapsInMapsWithAttemptsThatFail() throws {
        let growth = try growth(20) { (depth) throws in
            let data = Data(Array(repeating: [0xA1, 0x60], count: depth).joined() + [0xA0])
            return { () throws in #expect(try decoded(Tree.self, data) != .null) }
        }
        #expect(growth < 24)
    }

    @Test func decodingAnArrayOfArraysWithoutLengths() throws {
        let growth = try growth(500) { (count) throws in
            let data = Data([0x9F]) + Array(repeating: Data([0x9F, 1, 2, 0xFF]), count: count).joined() + [0xFF]
            return { () throws in #expect(try decoded([[Int]].self, data).count == count) }
        }
        #expect(growth < 9)
    }

    @Test func decodingADictionary() throws {
        let growth = try growth(1000) { (count) throws in
            let data = try encoded(Dictionary(uniqueKeysWithValues: (0..<count).map { ("key \($0)", $0) }))
            return { () throws in #expect(try decoded([String: Int].self, data).count == count) }
        }
        #expect(growth < 9)
    }

    @Test func decodingTwoMapsInTurns() throws {
        let growth = try growth(300) { (count) throws in
            let map = Dictionary(uniqueKeysWithValues: (0..<count).map { ("key \($0)", $0) })
            let data = try encoded([map, map]) { $0.isDeterministic = true }
            let keys = map.keys.map { TextKey(stringValue: $0) }.sorted {
                ($0.stringValue.count, $0.stringValue) < ($1.stringValue.count, $1.stringValue)
            }
            return { () throws in
                _ = try decoded(Turns.self, data) { $0.userInfo[Turns.keys] = keys }
            }
        }
        #expect(growth < 9)
    }

    /// Reads a key of one map, and then one of the other.
    private struct Turns: Decodable {
        static let keys = CodingUserInfoKey(rawValue: "keys")!

        init(from decoder: any Decoder) throws {
            var array = try decoder.unkeyedContainer()
            let (first, second) = (try array.nestedContainer(keyedBy: TextKey.self), try array.nestedContainer(keyedBy: TextKey.self))
            for key in decoder.userInfo[Self.keys] as? [TextKey] ?? [] {
                guard try first.decode(Int.self, forKey: key) == second.decode(Int.self, forKey: key) else { throw Failure() }
            }
        }
    }

    @Test func encodingContainersForManyKeys() throws {
        let growth = try growth(1000) { (count) throws in
            return { () throws in
                let value = Encoding {
                    var map = $0.container(keyedBy: TextKey.self)
                    for number in 0..<count {
                        var array = map.nestedUnkeyedContainer(forKey: TextKey(stringValue: "key \(number)"))
                        try array.encode(number)
                    }
                }
                #expect(try !encoded(value).isEmpty)
            }
        }
        #expect(growth < 9)
    }

    @Test func encodingToManyContainersInTurns() throws {
        let growth = try growth(500) { (count) throws in
            return { () throws in
                let value = Encoding {
                    var array = $0.unkeyedContainer()
                    var arrays = (0..<count).map { _ in array.nestedUnkeyedContainer() }
                    for number in 0..<3 {
                        for place in arrays.indices { try arrays[place].encode(number) }
                    }
                }
                #expect(try !encoded(value).isEmpty)
            }
        }
        #expect(growth < 9)
    }
}
