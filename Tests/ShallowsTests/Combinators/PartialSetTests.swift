import Shallows
import TestThreads
import Testing

/// A set that reaches one layer and not the next says which (S2, P47).
@Suite(.ownThreads)
struct PartialSetTests {
    let first = Scripted("first")
    let second = Scripted("second")
    let third = Scripted("third")
    let reports = Reports()

    /// Three layers in both nestings.
    private func nestings() -> [RemovableStorage<String, Int>] {
        let (a, b, c) = (first.removable, second.removable, third.removable)
        return [a.combined(with: b).combined(with: c), a.combined(with: b.combined(with: c))].map {
            $0.reporting(reports.take)
        }
    }

    @Test(arguments: [(0, []), (1, ["first"]), (2, ["first", "second"])], [0, 1])
    func theErrorNamesExactlyTheLayersThatHaveTheValue(
        _ failure: (index: Int, succeeded: [String]),
        _ nesting: Int
    ) {
        [first, second, third][failure.index].always(.set, .failing(Outage()))
        let setting = nestings()[nesting].setting(1, forKey: "a")
        let reached = [first, second, third].filter { $0.contents == ["a": 1] }.map(\.storageName)
        #expect(reached == failure.succeeded)
        if failure.succeeded.isEmpty {
            #expect(setting.error as? Outage == Outage())
        } else {
            let error = setting.error as? ShallowsError
            #expect(
                error?.code == .partiallySet && error?.succeededLayers == failure.succeeded
                    && error?.cause as? Outage == Outage()
            )
            #expect(error?.layer == ["first", "second", "third"][failure.index])
        }
        #expect(reports.events.isEmpty)
    }

    @Test
    func aFrontThatFailsStopsTheSet() async {
        first.always(.set, .failing(Outage()))
        await #expect(throws: Outage()) {
            try await first.combined(with: second).set(1, forKey: "a")
        }
        #expect(second.asked.isEmpty)
    }

    /// One that was asked and is only not waited for may do it all the same.
    @Test
    func aBackThatWouldBlockLeavesTheFrontSet() {
        let back = second.removable.validate { (_: Int) async in true }
        let storage = first.removable.combined(with: back).makeSyncStorage()
        let error = #expect(throws: ShallowsError.self) { try storage.set(2, forKey: "a") }
        #expect(error?.code == .partiallySet && error?.succeededLayers == ["first"])
        #expect((error?.cause as? ShallowsError)?.code == .wouldBlock)
        #expect(first.contents == ["a": 2] && second.contents.isEmpty)
    }
}

/// Which layers an error names, whatever they are made of.
@Suite(.ownThreads)
struct ReachTests {
    let first = Scripted("first")
    let second = Scripted("second")
    let failing = Scripted("failing").always(.set, .failing(Outage()))

    private func reached<Access: WritableAccess>(
        _ storage: AnyStorage<Access, String, Int>
    ) -> [String]? {
        (storage.setting(1, forKey: "a").error as? ShallowsError)?.succeededLayers
    }

    @Test
    func aStorageThatPushesNamesWhomItPushesTo() {
        let pushing = first.pushing(to: second)
        #expect(reached(pushing.combined(with: failing)) == ["first", "second"])
        #expect(
            reached(
                pushing.mapKeys { $0 }.renaming(to: "other").pushing(
                    to: failing.asWriteOnlyStorage()
                )
            ) == ["first", "second"]
        )
        #expect(
            reached(first.asWriteOnlyStorage().pushing(to: second).pushing(to: failing)) == [
                "first", "second",
            ]
        )
    }

    @Test
    func aStorageThatPullsDoesNotNameWhomItPullsFrom() {
        #expect(reached(first.backed(by: second).combined(with: failing)) == ["first"])
        #expect(second.contents.isEmpty)
    }

    @Test
    func aPairNamesItsSides() {
        let pair = zip(first.removable, second.removable).mapValues(
            transformIn: { $0.0 },
            transformOut: { ($0, $0) }
        )
        #expect(reached(pair.combined(with: failing)) == ["first", "second"])
        let halved = zip(first.removable, failing.removable).mapValues(
            transformIn: { $0.0 },
            transformOut: { ($0, $0) }
        )
        #expect(reached(second.removable.combined(with: halved)) == ["second", "first"])
    }

    @Test
    func aRenamedLayerIsNamedByItsNewName() {
        #expect(reached(first.renaming(to: "memory").combined(with: failing)) == ["memory"])
    }

    @Test
    func twoLayersOfOneNameAreCountedTwice() {
        let (one, other) = (Scripted("twin"), Scripted("twin"))
        #expect(
            reached(one.removable.combined(with: other).combined(with: failing)) == [
                "twin", "twin",
            ]
        )
    }
}
