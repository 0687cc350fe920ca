import Foundation
import TestThreads
import Testing
import Vellum

/// Queries and sliding expirations: no path returns an expired object.
@Suite(.ownThreads)
struct SlidingAgeQueryTests {
    let temporary = TemporaryArchives()

    /// All ways to list the cities.
    func ways(_ store: ArchiveStore<City>) async throws -> [[String]] {
        var streamed: [String] = []
        for try await city in store.stream() { streamed.append(city.name) }
        return [
            streamed.sorted(),
            try store.fetch(where: #Predicate<City> { $0.country == "XX" }).map(\.name).sorted(),
            try store.fetch().map(\.name).sorted(),
            try store.accessAll().map(\.name).sorted(),
            try store.keys().sorted(),
        ]
    }

    func city(_ name: String) -> City { City(name: name, country: "XX", people: 1) }

    @Test func everyPathReturnsUsedObjectsAndNoExpiredOnes() async throws {
        let store = try temporary.factory.store(for: City.self)
        for name in ["used", "unused"] {
            try store.record(city(name), expiration: .unused(for: .seconds(60)))
        }
        try store.record(city("plain"))
        temporary.clock.advance(bySeconds: 40)
        #expect(try store.access(archiveWithKey: "used") != nil)
        temporary.clock.advance(bySeconds: 40)

        for way in try await ways(store) { #expect(way == ["plain", "used"]) }
        #expect(try store.count(where: #Predicate<City> { $0.country == "XX" }) == 2)
        #expect(try store.access(archiveWithKey: "unused") == nil)
    }

    @Test func theExpirationOfAHandleAppliesToObjectsThatItRecords() async throws {
        let store = try temporary.factory.store(for: City.self, expiration: .after(.seconds(60)))
        try store.record(city("a"))
        try store.record(contentsOf: [city("b")])
        try store.record(city("longer"), expiration: .after(.seconds(600)))
        try store.record(city("forever"), expiration: .never)
        temporary.clock.advance(bySeconds: 60)

        for way in try await ways(store) { #expect(way == ["forever", "longer"]) }
        temporary.clock.advance(bySeconds: 1_000_000_000)
        for way in try await ways(store) { #expect(way == ["forever"]) }
    }
}
