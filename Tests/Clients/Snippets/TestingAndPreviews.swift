// Tests of code that uses archives and caches: private files, a clock to set, and a loader that fails.

import Foundation
import MiniCache
import Synchronization
import Testing
import Vellum

struct Note: ArchiveCodable, Sendable {
    var primaryKey: String { title }
    var title: String
}

/// What is tested. It gets its archive from outside.
struct Notebook: Sendable {
    let notes: ArchiveStore<Note>

    init(_ factory: ArchivesFactory) throws {
        notes = try factory.store(diskLimit: .unlimited)
    }

    func add(_ title: String) throws {
        try notes.record(Note(title: title))
    }
}

@Test func aNoteIsThere() throws {
    let notebook = try Notebook(.inMemory())
    try notebook.add("Water the plants")
    #expect(try notebook.notes.count() == 1)
}

/// A clock that stands still until a test sets it.
final class TestClock: Sendable {
    private let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
    var wallClock: WallClock { WallClock { self.date.withLock { $0 } } }

    func advance(by seconds: TimeInterval) {
        date.withLock { $0.addTimeInterval(seconds) }
    }
}

@Test func aRateIsOldAfterTenMinutes() throws {
    let clock = TestClock()
    let manager = MiniCacheManager.inMemory(clock: clock.wallClock)
    let rates: MiniCache<String, Double> = manager.cache(
        cacheName: "rates", cacheVersion: .custom("1"),
        maxAge: .minutes(10))
    try rates.set(1.08, forKey: "USD")
    clock.advance(by: 599)
    #expect(try rates.value(forKey: "USD") == 1.08)
    clock.advance(by: 1)
    #expect(try rates.value(forKey: "USD") == nil)
}

struct Offline: Error {}

@Test func anOldRateIsShownWhenTheBankIsDown() async throws {
    let clock = TestClock()
    let manager = MiniCacheManager.inMemory(clock: clock.wallClock)
    let rates: MiniCache<String, Double> = manager.cache(
        cacheName: "rates", cacheVersion: .custom("1"),
        maxAge: .minutes(10))
    try rates.set(1.08, forKey: "USD")
    clock.advance(by: 3600)
    let day = Duration.seconds(86_400)
    let rate = try await rates.load("USD", staleIfError: day) {
        throw Offline()
    }
    #expect(rate.value == 1.08)
    #expect(rate.source == .staleIfError)
}
