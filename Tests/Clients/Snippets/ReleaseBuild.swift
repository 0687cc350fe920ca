// What the optimizer must compile: a load before anything else that throws.

import MiniCache
import Vellum

struct Visitor: ArchiveCodable, Equatable {
    var primaryKey: String { name }
    var name: String
}

struct Desk {
    let visitors: ArchiveStore<Visitor>
    let rates: MiniCache<String, Double>

    func values() async throws {
        let loaded = try await visitors.load("ann") { Visitor(name: "ann") }
        let again = try await visitors.load("ann") { Visitor(name: "ann") }
        print(loaded.value == again.value, try visitors.access(archiveWithKey: "ann") as Any)
        let rate = try await rates.load("USD") { 1.08 }
        print(
            rate.value,
            try rates.value(forKey: "USD") as Any,
            try await rates.load("USD") { 1.08 }.source
        )
    }

    func absentOnes() async throws {
        let none: @Sendable () async throws -> Visitor? = { nil }
        print(
            try await visitors.load("bob", orLoad: none).source,
            try await visitors.load("bob", orLoad: none).source
        )
        print(try await visitors.value(forKey: "bob", orLoad: none) as Any, try visitors.count())
        let noRate: @Sendable () async throws -> Double? = { nil }
        print(try await rates.load("GBP", orLoad: noRate).source, try rates.count())
    }

    func informedOnes() async throws {
        print(try await visitors.load("cleo") { _ in .value(Visitor(name: "cleo")) }.source)
        print(try await visitors.load("cleo") { _ in .unchanged() }.source, try visitors.count())
        print(try await rates.load("CHF") { _ in .value(0.94) }.source, try rates.count())
    }
}

let visitors = try ArchivesFactory.inMemory().store(for: Visitor.self)
let rates: MiniCache<String, Double> = MiniCacheManager.inMemory().cache(
    cacheName: "rates",
    cacheVersion: .custom("1"),
    maxAge: .hours(1)
)
let desk = Desk(visitors: visitors, rates: rates)
try await desk.values()
try await desk.absentOnes()
try await desk.informedOnes()
