import Foundation
import MiniCache
import TestThreads
import Testing

/// What a client's own types and isolation ask of MiniCache, in each mode.
@Suite(.ownThreads)
struct MiniCacheTypeTests {
    let temporary = TemporaryCaches()

    final class Note: Codable {
        var text: String

        init(_ text: String) { self.text = text }
    }

    struct Profile: Codable, Equatable {
        var name: String
        var birthday: Date
        var picture: Data
    }

    /// As a view model of the document's time has it: a cache as a property, used in methods.
    class Model {
        private let cache: MiniCache<String, Profile>

        init(_ manager: MiniCacheManager) {
            cache = manager.cache(
                cacheName: "Profiles",
                cacheVersion: .appVersion,
                maxAge: .days(7)
            )
        }

        func remember(_ profile: Profile) { cache[profile.name] = profile }

        func profile(_ name: String) -> Profile? { cache[name] }
    }

    @Test func aCacheIsAPropertyOfAnObject() {
        let model = Model(temporary.cacheManager)
        let ann = Profile(
            name: "ann",
            birthday: Date(timeIntervalSinceReferenceDate: 1.5),
            picture: Data([1, 2])
        )
        model.remember(ann)
        #expect(model.profile("ann") == ann)
        #expect(model.profile("bob") == nil)
    }

    @Test func anObjectThatIsNotSendableIsAValue() {
        let cache: MiniCache<String, Note> = temporary.cacheManager.cache(
            cacheName: "Notes",
            cacheVersion: .appVersion,
            maxAge: .days(7)
        )
        let note = Note("first")
        cache["note"] = note
        note.text = "changed"
        #expect(cache["note"]?.text == "first")
    }

    /// P43
    @Test func aStoredNilIsToldFromAMissingValue() {
        let cache: MiniCache<String, Int?> = temporary.cacheManager.cache(
            cacheName: "Nils",
            cacheVersion: .appVersion,
            maxAge: .days(7)
        )
        cache["nil"] = .some(nil)
        #expect(cache["nil"] == .some(nil))
        #expect(cache["missing"] == .none)
    }

    @Test func theVerbsThatThrowSayWhatHappened() throws {
        let cache: MiniCache<Set<Int>, Int> = temporary.cacheManager.cache(
            cacheName: "Sets",
            cacheVersion: .appVersion,
            maxAge: .days(7)
        )
        cache[[1]] = 1
        #expect(cache[[1]] == nil)
        do {
            try cache.set(1, forKey: [1])
            Issue.record("A set is no key.")
        } catch {
            #expect(error.code == .invalidKey)
        }
    }

    @Test func aCacheWorksFromAnAsyncFunctionAndAnyTask() async {
        let cache: MiniCache<String, Int> = temporary.cacheManager.cache(
            cacheName: "Tasks",
            cacheVersion: .appVersion,
            maxAge: .days(7)
        )
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    cache["\(number)"] = number
                    #expect(cache["\(number)"] == number)
                }
            }
        }
        cache["here"] = 1
        #expect(cache["here"] == 1)
    }

    @Test func limitsAreSaidInBytes() throws {
        let cache: MiniCache<Int, Data> = temporary.cacheManager.cache(
            cacheName: "Bounded",
            cacheVersion: .appVersion,
            expiration: .after(.seconds(604_800)).jittered(by: 0.1),
            memoryLimit: 10.kiloByte,
            diskLimit: 1.megaByte
        )
        #expect(cache.limits == StorageLimits(memory: 10.kiloByte, disk: 1.megaByte))
        try cache.set(Data(count: 100), forKey: 1, maxAge: .hours(2))
        #expect(cache[1]?.count == 100)
        #expect(try cache.keys() == [1])
    }
}
