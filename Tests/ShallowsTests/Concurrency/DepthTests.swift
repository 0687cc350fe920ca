import Shallows
import TestThreads
import Testing

/// Deep stacks and long lines do not end the stack of a thread.
@Suite(.ownThreads)
struct DepthTests {
    @Test(arguments: [false, true])
    func twoHundredLayersMayBeComposed(_ isLate: Bool) async throws {
        let layers = (0..<200).map {
            isLate
                ? Scripted("\($0)").always(.retrieve, .late).always(.set, .late) : Scripted("\($0)")
        }
        let storage = layers.dropFirst().reduce(layers[0].asStorage()) { $0.combined(with: $1) }
        #expect(storage.layers.count == 200)
        layers[199].contents = ["a": 1]
        #expect(try await storage.retrieve(forKey: "a") == 1)
        #expect(layers.allSatisfy { $0.contents == ["a": 1] })
        try await storage.set(2, forKey: "a")
        #expect(layers.allSatisfy { $0.contents == ["a": 2] })
        #expect(try await onThread { try storage.makeSyncStorage().retrieve(forKey: "a") } == 2)
    }

    @Test
    func twoHundredLayersMayBeNestedTheOtherWay() async throws {
        let layers = (0..<200).map {
            Scripted("\($0)").always(.retrieve, .late).always(.set, .late)
        }
        let storage = layers.dropLast().reversed().reduce(layers[199].asStorage()) {
            $1.combined(with: $0)
        }
        layers[199].contents = ["a": 1]
        #expect(try await storage.retrieve(forKey: "a") == 1)
        try await storage.set(2, forKey: "a")
        #expect(layers.allSatisfy { $0.contents == ["a": 2] })
    }

    @Test
    func aStorageMayBeTransformedAThousandTimes() async throws {
        let own = Scripted("own").always(.retrieve, .late).always(.set, .late)
        var storage = own.asStorage()
        for number in 0..<1_000 {
            switch number % 5 {
            case 0: storage = storage.mapKeys { $0 }
            case 1: storage = storage.mapValues(transformIn: { $0 + 1 }, transformOut: { $0 - 1 })
            case 2: storage = storage.synchronizedCalls()
            case 3: storage = storage.strict().renaming(to: "x")
            default:
                storage = storage.reporting { _ in
                }
            }
        }
        try await storage.set(1_000, forKey: "a")
        #expect(own.contents == ["a": 800])
        #expect(try await storage.retrieve(forKey: "a") == 1_000)
    }

    @Test
    func aLayerInTheMiddleOfTwoHundredThatFailsIsNamed() async throws {
        let layers = (0..<200).map { Scripted("\($0)") }
        layers[100].always(.set, .failing(Outage()))
        let storage = layers.dropFirst().reduce(layers[0].asStorage()) { $0.combined(with: $1) }
        let error = await #expect(throws: ShallowsError.self) {
            try await storage.set(1, forKey: "a")
        }
        #expect(error?.succeededLayers == (0..<100).map { "\($0)" } && error?.layer == "100")
    }

    @Test
    func aHundredThousandCallsMayWaitInALine() async {
        let own = Scripted("own").answering(.set, .held)
        let storage = own.synchronizedCalls()
        let done = Counter()
        let count = LongRun.number(100_000, usually: 10_000)
        for number in 0..<count { storage.set(number, forKey: "a") { _ in done.add() } }
        #expect(own.asked.count == 1)
        own.release()
        await until("every call is answered") { done.value == count }
        #expect(own.contents == ["a": count - 1], "in the order in which they were made")
    }

    @Test
    func aHundredThousandMayWaitForOneLoad() async {
        let back = Scripted("back", ["a": 1]).answering(.retrieve, .held)
        let storage = MemoryStorage<String, Int>().combined(with: back)
        let done = Counter()
        let count = LongRun.number(100_000, usually: 10_000)
        for _ in 0..<count { storage.retrieve(forKey: "a") { _ in done.add() } }
        #expect(back.asked.count == 1)
        back.release()
        #expect(done.value == count)
    }

    @Test
    func twentyThousandSetsMayWaitForAFill() async {
        let front = Scripted("front").answering(.set, .held)
        let storage = front.combined(with: MemoryStorage<String, Int>(storage: ["a": 1]))
        let done = Counter()
        storage.retrieve(forKey: "a") { _ in done.add() }
        let count = LongRun.number(20_000, usually: 6000)
        for number in 0..<count { storage.set(number, forKey: "a") { _ in done.add() } }
        front.release()
        await until("every call is answered") { done.value == count + 1 }
    }
}
