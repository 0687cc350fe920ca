// The example of the page of VellumTesting.

import Foundation
import Testing
import Vellum
import VellumTesting

struct Visit: ArchiveCodable, Sendable {
    var primaryKey: String { page }
    var page: String
}

@Test func aVisitIsForgotten() async throws {
    let (clock, faults) = (TestClock(), Faults())
    let archives = ArchivesFactory.inMemory(faults: faults, clock: clock)
    let visits: ArchiveStore<Visit> = try archives.store(
        expiration: .after(.seconds(60))
    )

    try visits.record(Visit(page: "home"))
    await visits.observersSettled()
    await clock.advance(by: .seconds(60))
    #expect(try visits.count() == 0)

    faults.fillDisk()
    #expect(throws: VellumError.self) {
        try visits.record(Visit(page: "home"))
    }
}
