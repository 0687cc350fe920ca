#if Metrics
    import MetricsTestKit
    import MiniCache
    import TestThreads
    import Testing
    import VellumCore
    import VellumMetrics
    import VellumTestSupport

    /// FN10: the rows of the table of parameters that a reporter has.
    @Suite(.ownThreads)
    struct MetricsInputTests {
        static let table: [InputCase] = [
            // Whatever the interval is: a reporter reports at once, and again when it is cancelled.
            InputCase("MetricsReporter.init every", of: HostileInput.durations) { interval in
                let metrics = TestMetrics()
                let reporter = MetricsReporter(every: interval, factory: metrics)
                let cache: MiniCache<String, Int> = MiniCacheManager.inMemory().cache(
                    cacheName: "c",
                    cacheVersion: .custom("1"),
                    maxAge: .hours(1)
                )
                reporter.add(cache)
                let run = Task { await reporter.run() }
                _ = cache["a"]
                run.cancel()
                await run.value
                guard metrics.counterTotal(label: "cache.misses") == 1 else {
                    throw VellumError(.failedQuery, "\(interval)")
                }
            }
        ]

        @Test(arguments: table)
        func everyParameterTakesEveryValue(_ row: InputCase) async {
            #expect(await row.problems() == [])
        }
    }
#endif
