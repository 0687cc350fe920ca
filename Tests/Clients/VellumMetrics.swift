// The examples of the page of VellumMetrics and of the guide "In production".

import MiniCache
import Vellum
import VellumMetrics

struct User: ArchiveCodable, Sendable {
    var primaryKey: String { name }
    var name: String
}

let users: ArchiveStore<User> = try ArchivesFactory.shared.store()
let rates: MiniCache<String, Double> = MiniCacheManager(name: "Rates")
    .cache(
        cacheName: "rates",
        cacheVersion: .custom("1"),
        maxAge: .hours(1)
    )

func start() async {
    VellumTracing.enable()
    let reporter = MetricsReporter(every: .seconds(10))
    reporter.add(users)
    reporter.add(rates)
    await reporter.run()
}
