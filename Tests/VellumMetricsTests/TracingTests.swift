#if Metrics
    import Foundation
    import InMemoryTracing
    import MetricsTestKit
    import MiniCache
    import ServiceContextModule
    import TestThreads
    import Testing
    import Tracing
    import VellumCore
    import VellumMetrics
    import VellumRemote
    import VellumTestSupport

    #if Valkey
        import FleetSupport
        import MiniCacheValkey
    #endif

    private struct SourceDown: Error, CustomStringConvertible {
        var description: String { "secret" }
    }

    /// The observer is one of the whole process, so one test runs at a time, and looks at what has
    /// its names.
    @Suite(.ownThreads, .serialized)
    final class TracingTests {
        private let tracer = InMemoryTracer()
        private let metrics = TestMetrics()
        private let clock = ManualClock()
        private let cache: MiniCache<String, Int>

        init() {
            VellumTracing.enable(tracer: tracer, factory: metrics)
            cache = MiniCacheManager.inMemory(clock: clock.wallClock).cache(
                cacheName: "traced",
                cacheVersion: .custom("1"),
                maxAge: .hours(1)
            )
        }

        deinit { ObservedCall.install(nil) }

        private var spans: [FinishedInMemorySpan] {
            tracer.finishedSpans.filter { $0.operationName == "load traced" }
        }

        @Test func aLoadIsAChildOfItsCallerAndTheParentOfWhatItsLoaderCalls() async throws {
            try await tracer.withSpan("request") { [cache, tracer] _ in
                _ = try await cache.value(forKey: "secret") { tracer.withSpan("bank") { _ in 1 } }
            }
            let all = Dictionary(tracer.finishedSpans.map { ($0.operationName, $0) }) { first, _ in
                first
            }
            let (request, load, bank) = (
                try #require(all["request"]), try #require(all["load traced"]),
                try #require(all["bank"])
            )
            #expect(
                load.parentSpanID == request.spanID && bank.parentSpanID == load.spanID
                    && load.traceID == request.traceID
            )
            let own = [("cache.name", "traced"), ("cache.result", "loaded")]
            #expect(load.kind == .internal && load.status == nil && load.errors.isEmpty)
            #expect(
                load.attributes.get("cache.name") == "traced"
                    && load.attributes.get("cache.result") == "loaded"
            )
            #expect(
                metrics.timers(label: "cache.load.duration", dimensions: own).map(\.values.count)
                    == [1]
            )
        }

        @Test func aLoadInTheBackgroundIsAChildOfTheCallerThatStartedIt() async throws {
            try cache.set(1, forKey: "a", maxAge: .seconds(1))
            clock.advance(by: .seconds(2))
            let (ends, end) = AsyncStream.makeStream(of: Void.self)
            let requestID = try await tracer.withSpan("request") { span in
                _ = try await cache.value(forKey: "a", staleWhileRevalidate: .seconds(3600)) {
                    end.finish()
                    return 2
                }
                return span.spanID
            }
            for await _ in ends {}
            await until("the span of the load has ended") { !spans.isEmpty }
            #expect(spans.map(\.parentSpanID) == [requestID])
        }

        @Test func whoJoinsAndWhoHitsMakesNoSpan() async throws {
            _ = try await cache.value(forKey: "a") { 1 }
            for _ in 0..<3 { _ = try await cache.value(forKey: "a") { 1 } }
            #expect(spans.count == 1)
        }

        @Test(
            arguments: [
                (SourceDown(), "SourceDown"), (CancellationError(), "CancellationError"),
                (VellumError(.unreachable, "secret"), "unreachable"),
            ] as [(any Error, String)]
        )
        func aFailureIsItsCodeOrTypeAndNeverItsText(error: any Error, type: String) async throws {
            await #expect(throws: (any Error).self) {
                try await cache.value(forKey: "secret") { throw error }
            }
            let span = try #require(spans.first)
            #expect(
                span.attributes.get("error.type") == .string(type)
                    && span.attributes.get("cache.result") == "failed"
            )
            #expect(
                span.status?.code == .error && span.status?.message == nil && span.errors.isEmpty
            )
            #expect(
                !"\(span.attributes)\(span.operationName)\(metrics.timers.map(\.dimensions))"
                    .contains("secret")
            )
        }

        @Test func aCommandIsAClientSpanByTheConventions() async throws {
            let call = ObservedCall.command(
                "EVAL",
                script: "fill",
                host: "cache.internal",
                port: 6379,
                database: 3
            )
            let result = await ObservedCall.run(call) {
                Result<Int, RemoteFailure>.failure(.unreachable("secret"))
            }
            #expect(throws: RemoteFailure.self) { try result.get() }
            let span = try #require(tracer.finishedSpans.first { $0.operationName == "EVAL fill" })
            let expected = [
                "db.system.name": "redis", "db.operation.name": "EVAL",
                "db.stored_procedure.name": "fill", "db.namespace": "3",
                "server.address": "cache.internal", "server.port": "6379",
                "error.type": "unreachable",
            ]
            _ = await ObservedCall.run(
                .command("SCAN", script: nil, host: "cache.internal", port: 6379, database: 3)
            ) {
                Result<Int, RemoteFailure>.success(1)
            }
            for (name, value) in expected where name != "server.port" {
                #expect(span.attributes.get(name) == .string(value))
            }
            #expect(
                span.attributes.get("server.port") == .int64(6379)
                    || span.attributes.get("server.port") == .int32(6379)
            )
            #expect(span.kind == .client && span.attributes.count == expected.count)
            let timers = metrics.timers(label: "db.client.operation.duration").map {
                Dictionary($0.dimensions) { first, _ in first }
            }
            .filter { $0["server.address"] == "cache.internal" }
            // Some backends end the process where the names differ.
            #expect(timers.count == 2 && timers.allSatisfy { Set($0.keys) == Set(expected.keys) })
        }

        #if Valkey
            @Test func aSharedCacheShowsWhatItSendsToItsServerAsSpansOfTheCaller() async throws {
                let redis = try RedisServer()
                var configuration = ValkeyConfiguration(host: "127.0.0.1", port: redis.port)
                // Nothing depends on how busy the machine is.
                (configuration.connectTimeout, configuration.readTimeout) = (
                    .seconds(600), .seconds(600)
                )
                (configuration.writeTimeout, configuration.lease) = (.seconds(600), .seconds(600))
                let server = ValkeyServer(configuration)
                let cache: SharedCache<String, Int> = try SharedCacheManager(
                    name: "shop",
                    server: server
                ).cache(
                    cacheName: "traced",
                    cacheVersion: .custom("1"),
                    maxAge: .hours(1)
                )
                let reporter = MetricsReporter(factory: metrics)
                reporter.add(cache)
                let requestID = try await tracer.withSpan("request") { span in
                    let loaded = try await cache.value(forKey: "secret") { 1 }
                    let read = try await cache.value(forKey: "secret", freshness: .confirmed)
                    #expect(loaded == 1 && read == 1)
                    return span.spanID
                }
                reporter.report()
                let spans = tracer.finishedSpans.filter { $0.parentSpanID == requestID }
                #expect(
                    spans.map(\.operationName) == [
                        "EVAL entryOrLease", "load shop:traced:1", "EVAL put", "GETRANGE",
                    ]
                )
                #expect(spans.map(\.kind) == [.client, .internal, .client, .client])
                #expect(
                    spans.allSatisfy { $0.status == nil && !"\($0.attributes)".contains("secret") }
                )
                let own = [("cache.kind", "shared"), ("cache.name", "shop:traced:1")]
                #expect(metrics.counterTotal(label: "cache.server.reads", dimensions: own) == 1)
                #expect(
                    metrics.counterTotal(
                        label: "cache.loads",
                        dimensions: own + [("cache.result", "loaded")]
                    ) == 1
                )
                #expect(
                    metrics.meters(label: "cache.server.pending_removals", dimensions: own).first?
                        .lastValue == 0
                )
                server.close()
            }
        #endif

        @Test func withoutAnObserverACallHasNoDescription() async throws {
            ObservedCall.install(nil)
            func call() -> ObservedCall {
                Issue.record("Nobody asks for it.")
                return .load(of: "a")
            }
            #expect(
                try await ObservedCall.run(call()) { Result<Int, any Error>.success(1) }.get() == 1
            )
        }
    }
#endif
