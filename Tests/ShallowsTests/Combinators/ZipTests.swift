import Shallows
import TestThreads
import Testing
import VellumTestSupport

/// Two storages as one: both sides, or exactly what happened (S7, P47).
@Suite(.ownThreads)
struct ZipTests {
    let left = Scripted("left")
    let right = Scripted("right")
    let reports = Reports()
    var pairs: RemovableStorage<String, (Int, Int)> {
        zip(left.removable, right.removable).reporting(reports.take)
    }

    @Test
    func aPairIsSetToBothAndRetrievedFromBoth() async throws {
        try await pairs.set((1, 2), forKey: "a")
        #expect(left.contents == ["a": 1] && right.contents == ["a": 2])
        #expect(try await pairs.retrieve(forKey: "a") == (1, 2))
    }

    @Test
    func aPairOfWhichOneSideIsMissingIsAMiss() async throws {
        left.contents = ["a": 1]
        #expect(try await pairs.retrieveIfPresent(forKey: "a") == nil)
        let error = await #expect(throws: ZippedResultError.self) {
            try await pairs.retrieve(forKey: "a")
        }
        #expect(error?.left == nil && error?.right is Nothing && error?.isMiss == true)
    }

    @Test
    func aSideThatFailsIsAFailureThoughTheOtherIsMissing() async {
        right.answering(
            .retrieve,
            .failing(ShallowsError(.inputOutput, "The disk failed.", layer: "right"))
        )
        let error = await #expect(throws: ShallowsError.self) {
            try await pairs.retrieveIfPresent(forKey: "a")
        }
        let sides = error?.cause as? ZippedResultError
        #expect(
            sides?.left is Nothing && (sides?.right as? ShallowsError)?.code == .inputOutput
                && sides?.isMiss == false
        )
    }

    @Test
    func bothSidesAreAskedAtOnce() {
        left.answering(.retrieve, .held)
        right.answering(.retrieve, .held)
        (left.contents, right.contents) = (["a": 1], ["a": 2])
        let reading = pairs.answers(forKey: "a")
        #expect(left.held.count == 1 && right.held.count == 1)
        right.release()
        left.release()
        #expect(reading.value?.0 == 1 && reading.value?.1 == 2)
    }

    @Test(arguments: [true, false])
    func theErrorSaysWhichSideFailed(_ leftFails: Bool) {
        (leftFails ? left : right).always(.set, .failing(Outage()))
        let setting = pairs.setting((1, 2), forKey: "a")
        let error = setting.error as? ZippedResultError
        #expect((leftFails ? error?.left : error?.right) as? Outage == Outage())
        #expect((leftFails ? error?.right : error?.left) == nil)
        #expect(
            left.contents == (leftFails ? [:] : ["a": 1])
                && right.contents == (leftFails ? ["a": 2] : [:])
        )
    }

    @Test(arguments: [true, false])
    func inACompositionTheSideThatHasItIsNamed(_ leftFails: Bool) {
        (leftFails ? left : right).always(.set, .failing(Outage()))
        let front = MemoryStorage<String, [Int]>()
        let lists = pairs.mapValues(
            transformIn: { [$0.0, $0.1] },
            transformOut: { ($0[0], $0[1]) }
        )
        let error =
            front.asRemovableStorage().combined(with: lists).setting([1, 2], forKey: "a").error
            as? ShallowsError
        #expect(error?.succeededLayers == [front.storageName, leftFails ? "right" : "left"])
    }

    @Test
    func aRemovalThatReachesOneSideSaysSo() {
        right.always(.remove, .failing(Outage()))
        (left.contents, right.contents) = (["a": 1], ["a": 2])
        let composed = zip(left.removable, right.removable).mapValues(
            transformIn: { $0.0 },
            transformOut: { ($0, $0) }
        )
        .combined(with: MemoryStorage<String, Int>())
        let error = composed.removing("a").error as? ShallowsError
        let succeeded = error?.succeededLayers ?? []
        #expect(
            error?.code == .partiallyRemoved && succeeded.contains("left")
                && !succeeded.contains("right")
        )
    }

    // MARK: Pairs are never made of two

    @Test
    func aPairThatASetOvertookIsAskedForAgain() async {
        let pairs = pairs
        (left.contents, right.contents) = (["a": 1], ["a": 1])
        right.answering(.retrieve, .delayed)
        let reading = pairs.answers(forKey: "a")
        let setting = pairs.setting((2, 2), forKey: "a")
        #expect(setting.count == 1)
        right.release()
        let pair = try? await reading.first().get()
        #expect(pair?.0 == 2 && pair?.1 == 2)
    }

    @Test
    func aPairThatIsBeingSetIsReadAfterwards() async {
        let pairs = pairs
        (left.contents, right.contents) = (["a": 1], ["a": 1])
        right.answering(.set, .delayed)
        let setting = pairs.setting((2, 2), forKey: "a")
        let reading = pairs.answers(forKey: "a")
        #expect(reading.isEmpty && left.contents == ["a": 2])
        right.release()
        let pair = try? await reading.first().get()
        #expect(setting.count == 1 && pair?.0 == 2 && pair?.1 == 2)
    }

    @Test
    func setsOfOneKeyFollowOneAnother() async {
        let pairs = pairs
        left.always(.set, .delayed)
        let settings = (1...3).map { pairs.setting(($0, $0), forKey: "a") }
        for (index, setting) in settings.enumerated() {
            await until("the next pair is being set") { left.held == ["set a \(index + 1)"] }
            #expect(left.asked.count == index + 1)
            left.release()
            _ = await setting.first()
        }
        #expect(left.contents == ["a": 3] && right.contents == ["a": 3])
    }
}
