import TestThreads
import Testing
import VellumCore
import VellumEngine

@Suite(.ownThreads)
struct EventHubTests {
    @Test func everyObserverReceivesAllEventsSentWhileItListens() async {
        let hub = EventHub<Int>()
        hub.send(0)
        #expect(!hub.isObserved)
        let first = hub.events()
        hub.send(1)
        let second = hub.events()
        hub.send(2)
        hub.finish()
        #expect(await collect(first) == [1, 2])
        #expect(await collect(second) == [2])
        #expect(await collect(hub.events()) == [])
    }

    @Test func aSlowObserverMissesTheOldestEvents() async {
        let hub = EventHub<Int>()
        let events = hub.events(keeping: 3)
        for number in 0..<10 { hub.send(number) }
        hub.finish()
        #expect(await collect(events) == [7, 8, 9])
    }

    @Test func anObserverThatStopsListeningIsRemoved() async {
        let hub = EventHub<Int>()
        do {
            var iterator = hub.events().makeAsyncIterator()
            hub.send(1)
            #expect(await iterator.next() == 1)
        }
        #expect(!hub.isObserved)
    }

    private func collect(_ events: AsyncStream<Int>) async -> [Int] {
        var all: [Int] = []
        for await event in events { all.append(event) }
        return all
    }
}
