import Shallows
import TestThreads
import Testing
import VellumTestSupport

/// The laws, of every storage there is.
@Suite(.ownThreads)
struct StorageLawsTests {
    @Test(arguments: Subject.all, UInt64(0)..<4)
    func whatWasSetIsRetrievedAndWhatWasRemovedIsNot(
        _ subject: Subject,
        _ seed: UInt64
    ) async throws {
        for manner in Manner.of(subject) {
            try await StorageLaws.agreesWithADictionary(
                try subject.make(),
                manner,
                seed: seed,
                "\(manner)"
            )
        }
    }

    @Test(arguments: Subject.all)
    func theWaysToCallAreOfOneStorage(_ subject: Subject) async throws {
        let made = try subject.make()
        for (index, setting) in Manner.of(subject).enumerated() {
            try await setting.set(made.storage, "\(index)", "a")
            for reading in Manner.of(subject) {
                #expect(try await reading.retrieve(made.storage, "a") == "\(index)")
            }
        }
    }

    @Test(arguments: Subject.all)
    func mappingByTheIdentityChangesNothing(_ subject: Subject) async throws {
        for manner in Manner.of(subject) {
            let plain = try subject.make().storage
            let mapped = try subject.make().storage.mapKeys { $0 }.mapValues(
                transformIn: { $0 },
                transformOut: { $0 }
            )
            try await StorageLaws.agree([plain, mapped], manner, seed: 1, "\(manner)")
            #expect(mapped.storageName == plain.storageName)
        }
    }

    @Test(arguments: Subject.all)
    func mappingTwiceIsMappingOnceByTheComposition(_ subject: Subject) async throws {
        for manner in Manner.of(subject) {
            let (twiceBelow, onceBelow) = (try subject.make().storage, try subject.make().storage)
            let twice = twiceBelow.mapValues(
                transformIn: { "\((Int($0) ?? 0) / 2)" },
                transformOut: { "\((Int($0) ?? 0) * 2)" }
            )
            .mapValues(
                transformIn: { "\((Int($0) ?? 0) - 7)" },
                transformOut: { "\((Int($0) ?? 0) + 7)" }
            )
            .mapKeys { (key: String) in "x" + key }.mapKeys { "y" + $0 }
            let once = onceBelow.mapValues(
                transformIn: { "\((Int($0) ?? 0) / 2 - 7)" },
                transformOut: { "\(((Int($0) ?? 0) + 7) * 2)" }
            )
            .mapKeys { "xy" + $0 }
            try await StorageLaws.agree([twice, once], manner, seed: 2, "\(manner)")
            for key in StorageLaws.keys {
                let (left, right) = (
                    try await manner.retrieve(twiceBelow, "xy" + key),
                    try await manner.retrieve(onceBelow, "xy" + key)
                )
                #expect(left == right)
            }
        }
    }

    @Test(arguments: Subject.all)
    func readOnlyReadsTheSameAndWriteOnlyWritesTheSame(_ subject: Subject) async throws {
        let made = try subject.make()
        for (index, manner) in Manner.of(subject).enumerated() {
            let readOnly = made.storage.asReadOnlyStorage()
            try await manner.set(made.storage.asWriteOnlyStorage(), "\(index)", "a")
            #expect(try await manner.retrieve(readOnly, "a") == "\(index)")
            #expect(try await manner.retrieve(readOnly, "none") == nil)
        }
    }

    @Test(arguments: Subject.all)
    func removalRemovesEverywhere(_ subject: Subject) async throws {
        for manner in Manner.of(subject) {
            guard let front = try subject.make().removable, let back = try subject.make().removable
            else { return }
            let storage = front.combined(with: back)
            for key in StorageLaws.keys { try await manner.set(storage, "1", key) }
            try await manner.remove(storage, "a")
            for part in [front, back, storage] {
                #expect(try await manner.retrieve(part, "a") == nil)
            }
            for part in [front, back, storage] {
                #expect(try await manner.retrieve(part, "b") == "1")
            }
            try await manner.removeAll(storage)
            for part in [front, back, storage] {
                #expect(try await manner.retrieve(part, "b") == nil)
            }
        }
    }

    @Test(arguments: Subject.all)
    func inFrontOfAnotherItIsACache(_ subject: Subject) async throws {
        for manner in Manner.of(subject) {
            let (front, back) = (
                try subject.make().storage, MemoryStorage<String, String>(storage: ["a": "1"])
            )
            let storage = front.combined(with: back)
            #expect(try await manner.retrieve(storage, "a") == "1")
            back.storage = [:]
            #expect(try await manner.retrieve(storage, "a") == "1", "the front has it now")
            #expect(try await manner.retrieve(storage, "b") == nil)
        }
    }

    @Test(arguments: Subject.all)
    func noUpdateIsLost(_ subject: Subject) async throws {
        let storage = try subject.make().storage
        try await storage.set("0", forKey: "a")
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 {
                group.addTask {
                    try await storage.update(forKey: "a") { $0 = "\((Int($0) ?? 0) + 1)" }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await storage.retrieve(forKey: "a") == "50")
    }

    @Test(arguments: Subject.all)
    func everyCompletionIsCalledOnce(_ subject: Subject) async throws {
        let made = try subject.make()
        var (retrievals, changes) = ([Answers<String>](), [Answers<Void>]())
        for number in 0..<200 {
            changes.append(made.storage.setting("\(number)", forKey: "a"))
            retrievals.append(made.storage.answers(forKey: "a"))
            if let removable = made.removable {
                changes += [removable.removing("b"), removable.removingAll()]
            }
        }
        for answers in retrievals { _ = await answers.first() }
        for answers in changes { _ = await answers.first() }
        // All have been called. One more call goes round after them, so that a second would have
        // come.
        try await made.storage.set("999", forKey: "b")
        #expect(retrievals.allSatisfy { $0.count == 1 } && changes.allSatisfy { $0.count == 1 })
    }
}
