import Shallows
import TestThreads
import Testing

/// Removal, through every composition.
@Suite(.ownThreads)
struct RemovalTests {
    let front = Scripted("front", ["a": 1, "b": 2])
    let back = Scripted("back", ["a": 1, "b": 2])

    @Test
    func aRemovedValueIsGoneFromEveryLayer() async throws {
        let storage = front.removable.combined(with: back)
        try await storage.remove(forKey: "a")
        #expect(front.contents == ["b": 2] && back.contents == ["b": 2])
        #expect(try await storage.retrieveIfPresent(forKey: "a") == nil)
        try await storage.removeAll()
        #expect(front.contents.isEmpty && back.contents.isEmpty)
    }

    @Test
    func removingWhatIsNotThereIsNoError() async throws {
        try await front.removable.combined(with: back).remove(forKey: "nothing")
        try await MemoryStorage<String, Int>().remove(forKey: "nothing")
        try MemoryStorage<String, Int>().asRemovableStorage().makeSyncStorage().remove(
            forKey: "nothing"
        )
    }

    @Test
    func oneLayerMayBeClearedAlone() async throws {
        let storage = front.removable.combined(with: back).mapKeys { (key: Character) in
            String(key)
        }
        .mapValues(transformIn: { $0 + 1 }, transformOut: { $0 - 1 })
        try await storage.layers[0].removeAll()
        #expect(front.contents.isEmpty && back.contents == ["a": 1, "b": 2])
        #expect(try await storage.retrieve(forKey: "a") == 2)
        #expect(front.contents == ["a": 1])
        try await storage.layers[1].remove(forKey: "b")
        #expect(back.contents == ["a": 1])
    }

    @Test
    func theBackIsClearedFirst() {
        // What is still in the front hides what is no longer in the back. The other way round, a
        // retrieval brought it back.
        back.answering(.remove, .delayed)
        let storage = front.removable.combined(with: back)
        let removing = storage.removing("a")
        #expect(front.asked.isEmpty && removing.isEmpty)
        let during = storage.answers(forKey: "a")
        back.release()
        #expect(removing.count == 1 && during.value == 1)
        #expect(front.contents == ["b": 2] && back.contents == ["b": 2])
    }

    @Test(arguments: [(false, true, ["front"]), (true, false, ["back"]), (true, true, [])])
    func aRemovalThatReachesOneLayerSaysWhich(
        _ frontFails: Bool,
        _ backFails: Bool,
        _ succeeded: [String]
    ) {
        if frontFails { front.always(.remove, .failing(Outage())) }
        if backFails { back.always(.remove, .failing(Outage())) }
        let error = front.removable.combined(with: back).removing("a").error
        #expect(front.asked == ["remove a"] && back.asked == ["remove a"], "every layer is asked")
        if succeeded.isEmpty {
            #expect(error as? Outage == Outage())
        } else {
            #expect(
                (error as? ShallowsError)?.code == .partiallyRemoved
                    && (error as? ShallowsError)?.succeededLayers == succeeded
            )
        }
    }

    @Test
    func pullingRemovesFromTheFrontAndPushingFromBoth() async throws {
        try await front.removable.backed(by: back).remove(forKey: "a")
        #expect(front.contents == ["b": 2] && back.contents == ["a": 1, "b": 2])
        try await front.removable.pushing(to: back).remove(forKey: "b")
        #expect(front.contents.isEmpty && back.contents == ["a": 1])
    }

    @Test
    func aSetDuringRemovingAllOrAfterItIsNotLost() async {
        let storage = front.removable.combined(with: back)
        back.answering(.removeAll, .delayed)
        let removing = storage.removingAll()
        back.release()
        _ = await removing.first()
        #expect(storage.setting(9, forKey: "a").count == 1)
        #expect(storage.answers(forKey: "a").value == 9 && back.contents == ["a": 9])
    }

    @Test
    func aStorageOfOneKeyRemovesThatKey() async throws {
        let single = front.removable.singleKey("a")
        try await single.remove(forKey: ())
        #expect(front.contents == ["b": 2])
    }

    @Test
    func whatCannotRemoveSaysSoInside() async {
        // Of a kind that can, made of one that cannot: only `usingUnsupportedTransformation` comes
        // here.
        let storage = front.removable.usingUnsupportedTransformation { _ in
            Scripted("other").erased()
        }
        await #expect(throws: UnsupportedTransformationStorageError.storageCannotRemove) {
            try await storage.remove(forKey: "a")
        }
    }

    @Test(arguments: [false, true])
    func removingAllComesAfterTheWritesThatAreUnderWay(_ isPair: Bool) async {
        back.answering(.set, .delayed)
        let storage =
            isPair
            ? zip(front.removable, back.removable).mapValues(
                transformIn: { $0.0 },
                transformOut: { ($0, $0) }
            )
            : front.removable.combined(with: back)
        let setting = storage.setting(1, forKey: "a")
        let removing = storage.removingAll()
        #expect(setting.isEmpty && removing.isEmpty && !back.asked.contains("removeAll"))
        back.release()
        _ = await removing.first()
        #expect(setting.count == 1 && front.contents.isEmpty && back.contents.isEmpty)
    }

    @Test
    func removingAllInATaskFailsWhileAWriteWaitsForAUserSuppliedStorage() async {
        back.answering(.set, .held)
        let storage = zip(front.removable, back.removable)
        let setting = storage.setting((1, 1), forKey: "a")
        let error = #expect(throws: ShallowsError.self) {
            try storage.makeSyncStorage().removeAll()
        }
        #expect(error?.code == .wouldBlock && setting.isEmpty)
        back.release()
        #expect(throws: Never.self) { try storage.makeSyncStorage().removeAll() }
    }
}
