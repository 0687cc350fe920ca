import Foundation
import Synchronization
import Testing
import Vellum

@testable import Server

/// A client sees what it does over HTTP, and nothing that was acknowledged is lost when the server
/// ends.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct ServerTests {
    @Test func itemsArePutGotListedAndDeleted() async throws {
        let server = try ServerProcess()
        let client = try Connection(port: server.port)
        #expect(try client.answer(to: "GET", "/items").body == "[]")
        #expect(try client.answer(to: "GET", "/items/a").status == 404)
        #expect(try client.answer(to: "PUT", "/items/a", body: #"{"text":"first"}"#).status == 200)
        #expect(try client.answer(to: "PUT", "/items/b", body: #"{"text":"second"}"#).status == 200)
        #expect(try client.answer(to: "PUT", "/items/b", body: "no JSON").status == 400)
        #expect(try client.answer(to: "GET", "/items/a").body.contains(#""text":"first""#))
        let list = try client.answer(to: "GET", "/items").body
        #expect(list.contains("first") && list.contains("second"))
        #expect(try client.answer(to: "DELETE", "/items/a").status == 204)
        #expect(try client.answer(to: "DELETE", "/items/a").status == 404)
        #expect(try client.answer(to: "GET", "/health").status == 200)
        #expect(try client.answer(to: "GET", "/statistics").body.contains(#""items":1"#))
        server.terminate()
        #expect(await server.end() == 0)
    }

    @Test func metricsAreTextOfPrometheus() async throws {
        let server = try ServerProcess(bankDelay: 10)
        let client = try Connection(port: server.port)
        for _ in 0..<2 {
            #expect(
                try client.answer(to: "PUT", "/items/a", body: #"{"text":"first"}"#).status == 200
            )
            #expect(try client.answer(to: "GET", "/items/a").status == 200)
            #expect(try client.answer(to: "GET", "/rates/CHF").status == 200)
            #expect(try client.answer(to: "GET", "/metrics").status == 200)
        }
        let text = try client.answer(to: "GET", "/metrics").body
        for line in [
            "# TYPE cache_hits_total counter",
            #"""
            cache_hits_total{cache_kind="archive",cache_name="Server.Item",cache_tier="memory"} \#
            2.0
            """#,
            #"cache_puts_total{cache_kind="archive",cache_name="Server.Item"} 2.0"#,
            "# TYPE cache_entries gauge",
            #"cache_entries{cache_kind="archive",cache_name="Server.Item",cache_tier="disk"} 1.0"#,
            #"cache_loads_total{cache_kind="cache",cache_name="rates",cache_result="loaded"} 1.0"#,
            "# TYPE cache_load_duration_seconds histogram",
            #"""
            cache_load_duration_seconds_bucket{cache_name="rates",cache_result="loaded",le="+Inf"} \#
            1
            """#,
            #"cache_load_duration_seconds_count{cache_name="rates",cache_result="loaded"} 1"#,
        ] {
            #expect(
                text.split(separator: "\n").contains { $0 == line },
                "\(line) is not in \(text)"
            )
        }
        server.terminate()
        #expect(await server.end() == 0)
    }

    @Test func labelsAreEscapedAndCountersThatAreMadeAgainGoOn() {
        let metrics = PrometheusMetrics()
        for _ in 0..<2 {
            metrics.makeCounter(label: "a.b", dimensions: [("c.d", "\"\\\n\"\u{301}\r\n")])
                .increment(by: 2)
        }
        #expect(
            metrics.text
                == "# TYPE a_b_total counter\na_b_total{c_d=\"\\\"\\\\\\n\\\"\u{301}\r\\n\"} 4.0\n"
        )
    }

    @Test func theBankIsAskedOnceHoweverManyClientsWait() async throws {
        let server = try ServerProcess()
        let clients = try (0..<10).map { _ in try Connection(port: server.port) }
        for client in clients { try client.send("GET", "/rates/CHF") }
        for client in clients {
            let answer = try client.answer()
            #expect(answer.status == 200)
            #expect(answer.body.contains(#""request":1"#))
        }
        #expect(try clients[0].answer(to: "GET", "/rates/EUR").body.contains(#""request":2"#))
        server.terminate()
        #expect(await server.end() == 0)
    }

    @Test func theProcessEndsAtSIGTERMThoughTenClientsFollowTheEvents() async throws {
        let server = try ServerProcess()
        let followers = try (0..<10).map { _ in try Connection(port: server.port) }
        for follower in followers {
            try follower.send("GET", "/events")
            #expect(try follower.text(until: "\n\n").contains("data: []"))
        }
        // Three clients put items one after the other, until the server takes no more.
        let acknowledged = Mutex<[String]>([])
        let port = server.port
        let writers = DispatchGroup()
        for writer in 0..<3 {
            DispatchQueue.global().async(group: writers) {
                do {
                    let connection = try Connection(port: port)
                    for number in 0... {
                        let id = "\(writer)-\(number)"
                        let answer = try connection.answer(
                            to: "PUT",
                            "/items/\(id)",
                            body: #"{"text":"\#(id)"}"#
                        )
                        if answer.status == 200 { acknowledged.withLock { $0.append(id) } }
                    }
                } catch {
                    // The server has ended.
                }
            }
        }
        for follower in followers {
            for _ in 0..<3 { #expect(try follower.text(until: "\n\n").contains("data: [{")) }
        }

        let clock = ContinuousClock()
        let start = clock.now
        server.terminate()
        let status = await server.end()
        let took = clock.now - start
        #expect(status == 0)
        // Each stream ends as a whole answer does, by a chunk of no bytes. One that is ended by
        // force, when the time of a shutdown is over, is cut.
        for follower in followers { #expect(try follower.rest().hasSuffix("\r\n0\r\n\r\n")) }
        await withCheckedContinuation { writers.notify(queue: .global(), execute: $0.resume) }

        let keys = acknowledged.withLock { $0 }
        let items = try ArchivesFactory(directory: server.folder).store(for: Item.self)
        #expect(!keys.isEmpty)
        for key in keys { #expect(try items.access(archiveWithKey: key)?.text == key) }
        try items.close()
        print("\(keys.count) items were acknowledged; the process ended \(took) after SIGTERM.")
    }

    @Test func whoDisconnectsObservesNoMore() async throws {
        let server = try ServerProcess()
        do {
            let follower = try Connection(port: server.port)
            try follower.send("GET", "/events")
            #expect(try follower.text(until: "\n\n").contains("data: []"))
            #expect(try server.waitUntil { $0.contains(#""streams":1"#) })
        }
        #expect(try server.waitUntil { $0.contains(#""streams":0"#) })
        server.terminate()
        #expect(await server.end() == 0)
    }

    @Test func whoDoesNotReadKeepsTheServerForTheTimeOfAShutdownAndNoLonger() async throws {
        let server = try ServerProcess()
        let client = try Connection(port: server.port)
        let text = String(repeating: "t", count: 1_000_000)
        for number in 0..<20 {
            #expect(
                try client.answer(to: "PUT", "/items/\(number)", body: #"{"text":"\#(text)"}"#)
                    .status == 200
            )
        }
        // The first event is larger than the buffers of both sides. Its beginning is read, and
        // nothing more.
        let follower = try Connection(port: server.port)
        try follower.send("GET", "/events")
        #expect(try follower.text(until: "data: [").contains("text/event-stream"))
        // Others are served meanwhile.
        #expect(try client.answer(to: "GET", "/items/0").status == 200)

        let clock = ContinuousClock()
        let start = clock.now
        server.terminate()
        #expect(await server.end() == 0)
        let took = clock.now - start
        // The time of a shutdown is five seconds. That it ends says that it waits no longer.
        #expect(took > .seconds(4), "\(took)")
        let items = try ArchivesFactory(directory: server.folder).store(for: Item.self)
        #expect(try items.count() == 20)
        try items.close()
        print("The process ended \(took) after SIGTERM.")
    }

    @Test func aLoadThatRunsAtSIGTERMIsAnswered() async throws {
        let server = try ServerProcess(bankDelay: 500)
        let client = try Connection(port: server.port)
        try client.send("GET", "/rates/CHF")
        #expect(try server.waitUntil { $0.contains(#""rateRequests":1"#) })
        server.terminate()
        let answer = try client.answer()
        #expect(answer.status == 200)
        #expect(answer.body.contains(#""request":1"#))
        #expect(await server.end() == 0)
    }

    @Test func aLoadThatDoesNotEndKeepsTheServerNoLongerThanItsTimeLimit() async throws {
        // The bank answers in an hour.
        let server = try ServerProcess(bankDelay: 3_600_000)
        let client = try Connection(port: server.port)
        try client.send("GET", "/rates/CHF")
        #expect(try server.waitUntil { $0.contains(#""rateRequests":1"#) })
        server.terminate()
        // Its time limit is over before the time of a shutdown is, in which it would be cut.
        #expect(try client.answer().status == 504)
        #expect(await server.end() == 0)
    }
}
