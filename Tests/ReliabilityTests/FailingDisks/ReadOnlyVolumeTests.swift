import Foundation
import MiniCache
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C11: permissions do not prevent root from writing, but a read-only volume does.
@Suite(.ownThreads)
struct ReadOnlyVolumeTests {
    private func open(_ volume: SmallVolume) throws -> Store<Data> {
        try DatabaseFile.open(at: volume.file("Archives.sqlite"))
            .store(
                named: "data",
                codec: IdentityCodec(),
                memory: Capacity(1.byte),
                disk: .unlimited
            )
    }

    @Test func aReadOnlyVolumeIsReportedAndLosesNothing() throws {
        guard let volume = try SmallVolume(megabytes: 4) else { return }
        do {
            let store = try open(volume)
            for number in 0..<50 {
                try store.record(Data(repeating: 1, count: 1000), forKey: EntryKey("\(number)"))
            }
            try DatabaseFile.open(at: volume.file("Archives.sqlite")).close()
        }
        #expect(volume.allowWriting(false, megabytes: 4))
        let before = try FileManager.default.contentsOfDirectory(atPath: volume.url.path)
        do {
            let store = try open(volume)
            #expect(try store.value(forKey: "7") == Data(repeating: 1, count: 1000))
            let error = #expect(throws: VellumError.self) {
                try store.record(Data(count: 10), forKey: "x")
            }
            #expect(error?.code == .readOnly)
        } catch let error as VellumError {
            #expect([.readOnly, .cannotOpen].contains(error.code), "\(String(reflecting: error))")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: volume.url.path) == before)
        #expect(volume.allowWriting(true, megabytes: 4))
        let store = try open(volume)
        #expect(try store.count() == 50)
        try store.record(Data(count: 10), forKey: "x")
        #expect(try store.value(forKey: "x") == Data(count: 10))
    }

    /// A cache that cannot be cleared is not read.
    @Test func noValueOfAnotherVersionIsReadFromAReadOnlyVolume() throws {
        guard let volume = try SmallVolume(megabytes: 4) else { return }
        func cache(_ version: String) -> MiniCache<String, Int> {
            MiniCacheManager(name: "Caches", directory: volume.url)
                .cache(cacheName: "Numbers", cacheVersion: .custom(version), maxAge: .days(1))
        }
        do {
            let manager = MiniCacheManager(name: "Caches", directory: volume.url)
            let old: MiniCache<String, Int> = manager.cache(
                cacheName: "Numbers",
                cacheVersion: .custom("1"),
                maxAge: .days(1)
            )
            try old.set(1, forKey: "a")
            try manager.close()
        }
        #expect(volume.allowWriting(false, megabytes: 4))
        let new = cache("2")
        #expect(new["a"] == nil)
        #expect(throws: MiniCacheError.self) { try new.value(forKey: "a") }
        #expect(throws: MiniCacheError.self) { try new.count() }
        #expect(throws: MiniCacheError.self) { try new.set(2, forKey: "a") }
        #expect(volume.allowWriting(true, megabytes: 4))
        #expect(try new.value(forKey: "a") == nil)
        try new.set(2, forKey: "a")
        #expect(cache("2")["a"] == 2)
    }

    @Test func aNewArchiveOnAReadOnlyVolumeIsAnError() throws {
        guard let volume = try SmallVolume(megabytes: 4) else { return }
        #expect(volume.allowWriting(false, megabytes: 4))
        let error = #expect(throws: VellumError.self) {
            try DatabaseFile.open(at: volume.file("Archives.sqlite"))
        }
        #expect(error?.code == .cannotOpen)
        #expect(volume.allowWriting(true, megabytes: 4))
        #expect(try open(volume).count() == 0)
    }
}
